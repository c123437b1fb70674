"""Files before the history, one of them edited by each answer."""

from itertools import pairwise

from locust_agents.plugins.behaviours.aider_edit import aider_edit
from locust_agents.plugins.testing import play


def test_aider_edit() -> None:
    turns = play(aider_edit, files=3, file_tokens=1500, edits=5).turns
    shown = [{document.name: document.version for document in turn.documents} for turn in turns]
    assert [len(one) for one in shown] == [4] * 5
    for before, after in pairwise(shown):
        changed = [name for name in after if after[name] != before[name]]
        assert len(changed) == 2
        assert "repository map" in changed
