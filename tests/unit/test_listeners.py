"""Each shipped listener: a test named after each."""

import dataclasses
from typing import Any

import pytest

from locust_agents import records
from locust_agents.plugins import registry
from locust_agents.plugins.listeners.slow_turns import SlowTurns
from locust_agents.records import TurnRecord


def record(**fields: Any) -> TurnRecord:
    """A turn that was sent at 0.1 s; times as given."""
    made = records.from_line(
        '{"outcome": "ok", "agent": "a/0.0", "turn": 3, "kind": "later", "sent_s": 0.1, "end_s": 30}'
    )
    return dataclasses.replace(made, **fields)


def test_each_shipped_listener_has_a_test_named_after_it() -> None:
    assert {f"test_{name}" for name in registry.listeners()} <= globals().keys()


# remark, the record, what is printed
WAITS: list[tuple[str, TurnRecord, str]] = [
    ("soon enough", record(first_token_s=10.1), ""),
    ("late", record(first_token_s=12.6), "slow    a/0.0 turn 3 (later): 12.5 s to its first token\n"),
    (
        "with its size",
        record(first_token_s=12.6, prompt_tokens=64_000),
        "slow    a/0.0 turn 3 (later): 12.5 s to its first token, 64,000 tokens\n",
    ),
    ("in vain", record(), "slow    a/0.0 turn 3 (later): > 29.9 s to its first token\n"),
    ("in vain, but not for long", record(end_s=5.0), ""),
    ("never sent", record(sent_s=None), ""),
]


@pytest.mark.parametrize(("turn", "printed"), [pytest.param(*row[1:], id=row[0]) for row in WAITS])
def test_slow_turns(turn: TurnRecord, printed: str, capsys: pytest.CaptureFixture[str]) -> None:
    SlowTurns(over_s=10.0).on_turn(turn)
    assert capsys.readouterr().err == printed
