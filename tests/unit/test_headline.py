"""The lines above the table: what must be known of a run before its figures are read."""

import dataclasses
from typing import Any

import pytest

from locust_agents import headline
from locust_agents.scenarios import loader, with_plugins
from locust_agents.scenarios.model import Scenario
from locust_agents.summary import Summary, summarise

QUIET: Summary = summarise([])


def scenario(**keys: str) -> Scenario:
    text = "".join(f"{name}: {value}\n" for name, value in keys.items() if name != "profile")
    profile = keys.get("profile", "opencode")
    return with_plugins.parse(
        f"name: mine\nturns: 3\n{text}swarm: {{a: {{behaviour: giant_prompt, profile: {profile}}}}}\n", "here"
    )


@pytest.mark.parametrize(
    ("keys", "figures", "wanted"),
    [
        ({}, {}, "full scale   0 s   prompt cache empty   replies live   client lag worst –"),
        ({"scale": "0.05"}, {}, "SCALE 1/20   0 s"),
        ({"context": "32k"}, {}, "full scale   context 32.0k   0 s"),
        ({"thinking": "on"}, {"thinking": 0.34}, "replies live   thinking on, 34 % of the output"),
        ({"thinking": "off"}, {"thinking": 0.0}, "thinking off, 0 % of the output"),
        ({}, {"thinking": 0.25}, "thinking 25 % of the output"),
        ({"profile": "codex"}, {}, "codex speaks responses; sent as chat completions with its sizes"),
    ],
)
def test_lines(keys: dict[str, str], figures: dict[str, Any], wanted: str) -> None:
    said = headline.lines(scenario(**keys), dataclasses.replace(QUIET, **figures))
    assert wanted in "   ".join(said)
    assert all(len(line) <= 80 for line in said)


def test_a_run_without_reasoning_does_not_speak_of_it() -> None:
    quiet = dataclasses.replace(QUIET, thinking=0.0)
    assert "thinking" not in " ".join(headline.lines(scenario(), quiet))


def test_a_profile_that_is_gone_tells_nothing() -> None:
    made = scenario()
    entry = made.swarm["a"].model_copy(update={"profile": "of-a-plugin"})
    gone = made.model_copy(update={"swarm": {"a": entry}})
    assert headline.lines(gone, QUIET) == headline.lines(made, QUIET)
    assert loader.dump(gone)
