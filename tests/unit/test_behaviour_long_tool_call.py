"""Answers of thousands of tokens, and little said in between."""

from locust_agents.plugins.behaviours.long_tool_call import long_tool_call
from locust_agents.plugins.testing import play


def test_long_tool_call() -> None:
    *written, last = play(long_tool_call, files=5).turns
    assert len(written) == 5
    assert all(2000 <= (turn.answer_tokens or 0) <= 8000 for turn in written)
    assert len({turn.answer_tokens for turn in written}) > 1
    assert last.answer_tokens is None
