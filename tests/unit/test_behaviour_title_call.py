"""A title is asked for on the side, and the main request waits a little."""

from locust_agents.plugins import registry
from locust_agents.plugins.api import Side
from locust_agents.plugins.behaviours.title_call import title_call
from locust_agents.plugins.testing import play


def test_title_call() -> None:
    played = play(title_call, profile=registry.profile("opencode"))
    title, main = played.turns
    assert isinstance(played.steps[0], Side)
    assert (title.agent.role, title.agent.parent) == ("title", main.agent.session)
    assert title.agent.preamble_tokens == 503
    assert 1.2 <= played.pauses_s[0] <= 1.8


def test_a_product_without_a_title_call_is_given_one() -> None:
    played = play(title_call, profile=registry.profile("mini-swe-agent"))
    assert [turn.agent.role for turn in played.turns] == ["title", None]
