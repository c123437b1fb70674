"""Who leaves in each phase, and sends the same again."""

from locust_agents.patience import Leave
from locust_agents.plugins.behaviours.impatient import impatient
from locust_agents.plugins.testing import play


def test_impatient() -> None:
    turns = play(impatient, prompts=2, tokens=700, after_chunks=5, after_silence_s=3).turns
    leaves = [Leave(in_prefill=True), Leave(after_chunks=5), Leave(after_silence_s=3), Leave()]
    assert [turn.patience for turn in turns] == leaves * 2
    assert [turn.is_again for turn in turns] == [False, True, True, True] * 2
    assert turns[0].says[0].tokens == 700
