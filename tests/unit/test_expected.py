"""What the server could have found in its cache."""

import pytest

from locust_agents import expected
from locust_agents.expected import Prefixes


def test_a_prefix_is_ready_when_its_first_prefill_has_ended() -> None:
    prefixes = Prefixes()
    assert not prefixes.was_ready("opencode", 1e9)
    prefixes.prefilled("opencode", 20.0)
    prefixes.prefilled("opencode", 10.0)
    prefixes.prefilled("opencode", 30.0)
    assert [prefixes.was_ready("opencode", at_s) for at_s in (9.9, 10.0, 10.1)] == [False, True, True]
    assert not prefixes.was_ready("another", 1e9)


@pytest.mark.parametrize(
    ("preamble_tokens", "was_ready", "wanted", "remark"),
    [
        (1500, True, 1500, "the shared start"),
        (1500, False, 0, "a twin is still computing it, or nobody has begun"),
        (None, False, 0, "nothing to be found, whatever its size"),
        (None, True, None, "there is something, of unknown size"),
    ],
)
def test_a_first_turn(preamble_tokens: int | None, was_ready: bool, wanted: int | None, remark: str) -> None:
    assert expected.shared_start(preamble_tokens, was_ready) == wanted, remark


@pytest.mark.parametrize(
    ("prompt", "completion", "kept", "wanted", "remark"),
    [
        (100, 20, True, 120, "live: prompt and answer"),
        (100, 20, False, 100, "scripted, or not ended properly: the prompt"),
        (100, None, True, 100, "the answer's size is not known"),
        (None, None, True, None, "nothing is known"),
        (None, 20, True, None, "an answer without its prompt says nothing"),
    ],
)
def test_a_later_turn(prompt: int | None, completion: int | None, kept: bool, wanted: int | None, remark: str) -> None:
    assert expected.continued(prompt, completion, kept) == wanted, remark
