"""What a behaviour holds: its agent makes the steps that it yields, and draws for it."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from locust_agents.draws import Table, draw
from locust_agents.plugins.steps import Compact, Handle, Join, Pause, Session, Side, Spawn
from locust_agents.plugins.turns import Hole, Reply, Say, Turn
from locust_agents.profile import Profile


@dataclass(eq=False, slots=True)
class Agent:
    """One history and one source of random draws; what a behaviour is called with.

    `name` is entry/worker.n, `session` is unique in the run, `parent` the session that a child was made in. `profile`
    is the product that is imitated, `role` which of its system prompts this history begins with. Draws depend on the
    scenario's seed, the agent and the session: a session's plan is the same whatever the server does.
    """

    name: str
    session: str
    seed: str
    preamble_tokens: float = 0.0
    parent: str | None = None
    profile: Profile | None = None
    role: str | None = None
    rng: random.Random = field(init=False)
    _children: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self._children = iter(range(1, 1_000_000))

    def user(self, text: str, tokens: float | None = None, answer_tokens: int | None = None) -> Turn:
        """A human's message of `tokens` in all; `answer_tokens` limits the answer, else the profile does."""
        return Turn(self, (Say(text, tokens),), answer_tokens)

    def tool_results(self, reply: Reply, tokens: float, answer_tokens: int | None = None) -> Turn:
        """Answers every tool call of `reply` by its id, with `tokens` in all; a user message where it called none."""
        calls = reply.tool_calls
        if not calls:
            return Turn(self, (Say("Go on.", tokens),), answer_tokens, no_call=True)
        says = tuple(Say("", tokens / len(calls), call) for call in calls)
        return Turn(self, says, answer_tokens, no_call=False)

    def again(self) -> Turn:
        """The last request once more, byte for byte; what was heard of its answer is dropped."""
        return Turn(self, (), is_again=True)

    def complete(self, prefix_tokens: float, suffix_tokens: float, answer_tokens: int | None = None) -> Turn:
        """A hole in a file to be filled, for profiles that send to `/v1/completions`; it leaves no history."""
        return Turn(self, (), answer_tokens, hole=Hole(prefix_tokens, suffix_tokens))

    def compact(self, keep_tokens: float, summary_tokens: int) -> Compact:
        """Replaces the older history by a summary of it."""
        return Compact(self, keep_tokens, summary_tokens)

    def pause(self, seconds: float, always: bool = False) -> Pause:
        """A tool that runs, or a human who reads; `always`: the client's own machine, whose time `gaps:` leaves."""
        return Pause(seconds, always)

    def draw(self, table: Table) -> float:
        """One value of a measured distribution, in the table's unit."""
        return draw(table, self.rng)

    def child(self, role: str | None = None) -> "Agent":
        """An agent with an empty history, for `side` or `spawn`, behind the system prompt of the profile's `role`."""
        number = next(self._children)
        session, seed = f"{self.session}.{number}", f"{self.seed} child {number}"
        tokens, profile = self.preamble_tokens, self.profile
        if profile is not None and role is not None:
            profile = profile.in_role(role)
            tokens = float(profile.system_tokens + profile.tool_tokens)
        return Agent(self.name, session, seed, tokens, parent=self.session, profile=profile, role=role)

    def side(self, session: Session) -> Side:
        """Runs a session beside this one and goes on at once."""
        return Side(session)

    def spawn(self, sessions: Sequence[Session], wait: bool = True) -> Spawn:
        """Runs sub-agents, all at the same time."""
        return Spawn(tuple(sessions), wait)

    def join(self, handles: Sequence[Handle]) -> Join:
        """Waits for sessions that were started with `side` or `spawn(…, wait=False)`."""
        return Join(tuple(handles))
