"""What is said to have changed between two runs, before any figure."""

from typing import Any

import pytest

from locust_agents.compare import differences
from locust_agents.compare.differences import Difference

SCENARIO: dict[str, Any] = {
    "name": "four",
    "server": {"launch": {"model": "tiny", "ranks": 2}, "options": {"prefill-step-size": 512}},
    "swarm": {"fixers": {"agents": 4, "with": {}}},
    "limits": {"ttft.max": "60s"},
}
SUMMARY: dict[str, Any] = {"machine": {"chip": "M3", "memory": 1, "versions": {"mlx": "0.32.4"}}}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The scenario with another value at a dotted path."""
    head, _, tail = path.partition(".")
    if not tail:
        return {**SCENARIO, head: value}
    return {**SCENARIO, head: _changed(SCENARIO.get(head, {}), tail.split("."), value)}


def _changed(values: dict[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    head, *tail = path
    return {**values, head: _changed(values.get(head, {}), tail, value) if tail else value}


@pytest.mark.parametrize(
    ("other", "wanted", "remark"),
    [
        (SCENARIO, [], "the same"),
        (
            changed("server.options", {"prefill-step-size": 4096}),
            [Difference("options", "server.options.prefill-step-size", "512", "4096")],
            "an option",
        ),
        (changed("seed", 2), [Difference("scenario", "seed", "–", "2")], "a key that A does not have"),
        (
            changed("limits", {"ttft.max": "60s", "failures": True}),
            [Difference("scenario", "limits.failures", "–", "true")],
            "as YAML writes it",
        ),
        (
            changed("server.launch.model", "~/qwen3"),
            [Difference("model", "server.launch.model", "tiny", "~/qwen3")],
            "the model",
        ),
        (
            changed("name", "x" * 60),
            [Difference("scenario", "name", "four", "x" * 40 + "…")],
            "long values are cut",
        ),
    ],
)
def test_scenarios(other: dict[str, Any], wanted: list[Difference], remark: str) -> None:
    assert list(differences.find((SCENARIO, other), (SUMMARY, SUMMARY))) == wanted, remark


def test_the_model_comes_first_and_then_options_machine_and_versions() -> None:
    other = changed("server.launch.model", "big") | {"seed": 2}
    summary = {"machine": {"chip": "M4", "memory": 1}, "versions": {"mlx": "0.33"}}
    found = differences.find((SCENARIO, other), (SUMMARY, summary))
    assert [one.about for one in found] == ["model", "machine", "versions", "scenario"]
    assert [str(one) for one in found[1:3]] == ["machine.chip M3 → M4", "versions.mlx 0.32.4 → 0.33"]


def test_what_one_run_did_not_write_down_is_no_change() -> None:
    assert differences.find((SCENARIO, SCENARIO), ({}, SUMMARY)) == ()
    assert differences.unknown(({}, SUMMARY)) == ("machine", "versions")


@pytest.mark.parametrize(
    ("found", "unseen", "wanted", "remark"),
    [
        ([], [], ["changed  nothing: the same scenario, options, model, machine and versions"], "said too"),
        (
            [],
            ["machine"],
            ["changed  nothing in scenario, options and model · (machine not recorded)"],
            "no more than is known",
        ),
        (
            [Difference("scenario", "seed", "1", "2"), Difference("scenario", "k" * 60, "1", "2")],
            [],
            ["changed  seed 1 → 2", f"         {'k' * 60} 1 → 2"],
            "in 80 columns",
        ),
    ],
)
def test_lines(found: list[Difference], unseen: list[str], wanted: list[str], remark: str) -> None:
    lines = differences.lines(found, unseen)
    assert lines == wanted, remark
    assert max(map(len, lines)) <= 80
