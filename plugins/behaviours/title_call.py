"""What a client asks on the side before its first request: a title for the session, from another system prompt."""

from locust_agents.plugins.api import HUMAN_GAP, HUMAN_TEXT, Agent, Reply, Session, behaviour
from locust_agents.profile import SideCall

# OpenCode 1.18.33, on the wire in November 2026: 0.55k tokens in all, 503 of them the system text; the main request
# follows 1.2 to 1.8 s later. Used for a product of which no such call is known.
_TITLE = SideCall("title", 50, None, (1.2, 1.8))


def side_calls(agent: Agent, calls: tuple[SideCall, ...] | None = None) -> Session:
    """Starts the calls of the agent's profile, or `calls`, each its lead before what comes next; to `yield from`."""
    own = () if agent.profile is None else agent.profile.side_calls
    for call in own if calls is None else calls:
        yield agent.side(_call(agent.child(call.role), call))
        yield agent.pause(agent.rng.uniform(*call.lead_s), always=True)


@behaviour
def title_call(agent: Agent) -> Session:
    """Asks for a title on the side, then sends its main request beside it: one turn, and a rest."""
    has_own = agent.profile is not None and agent.profile.side_calls
    yield from side_calls(agent, None if has_own else (_TITLE,))
    reply: Reply = yield agent.user("Add a dark mode to the settings.", tokens=agent.draw(HUMAN_TEXT))
    if reply.ok:
        yield agent.pause(agent.draw(HUMAN_GAP))


def _call(child: Agent, call: SideCall) -> Session:
    yield child.user("Generate a title for this conversation.", call.tokens, call.answer_tokens)
