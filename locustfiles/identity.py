"""Asks the identity prompt alone, before the load, and says which checks of the answers the run can make."""

from locust_agents.locustfiles import asking
from locust_agents.locustfiles.asking import Peer
from locust_agents.right import answer_check, canary, identity
from locust_agents.right.answer_check import Checks
from locust_agents.scenarios.model import Scenario
from locust_agents.telling import Note, Say

# How often an agent is asked where a scenario wants the identity check alone and names no number.
_EVERY = 20
_CANNOT = "cannot be asked for a code word; identity is checked instead"
# A server that does not repeat itself alone has nothing that the crowd's answers could be held against.
_TIMES = 2


def checks(scenario: Scenario, peer: Peer, nonce: str, note: Note, say: Say) -> Checks | None:
    """What the run checks; None where the scenario asks for nothing. Call it after the calibration, before the load.

    The identity prompt is sent twice, alone: for `identity:`, and for `canary:` to know a tiny model when it is met.
    A tiny model gets the identity check in the place of code words.
    """
    if scenario.canary is None and not scenario.identity:
        return None
    launch = scenario.server.launch
    every = _EVERY if scenario.canary is None else scenario.canary.every
    first, alone = _asked_alone(peer, nonce, note)
    is_tiny = canary.cannot_be_asked(None if launch is None else launch.model, first)
    if scenario.canary is not None and is_tiny:
        say(f"{_name(scenario)} {_CANNOT}")
    wants_identity = scenario.identity or is_tiny
    if wants_identity and alone is None:
        what = "answered nothing to" if first is None else "did not answer the same way twice, alone, to"
        say(f"the server {what} the identity prompt: that is not checked")
    made = Checks(every, scenario.canary is not None and not is_tiny, alone if wants_identity else None)
    return made if made.words or made.alone is not None else None


def _name(scenario: Scenario) -> str:
    launch = scenario.server.launch
    return "the tiny model" if launch is None else launch.model


def _asked_alone(peer: Peer, nonce: str, note: Note) -> tuple[str | None, str | None]:
    """What was said first, and what was said each time; None where nothing was, or not the same."""
    said = [_ask(peer, nonce, note) for _ in range(_TIMES)]
    return said[0], said[0] if len(set(said)) == 1 else None


def _ask(peer: Peer, nonce: str, note: Note) -> str | None:
    heard = asking.ask(peer, identity.branch(peer.model, nonce).request)
    said = None if heard.answer.finish_reason is None else answer_check.said(heard.answer)
    note("identity", {"outcome": heard.outcome, "error": heard.error, "said": said})
    return said or None
