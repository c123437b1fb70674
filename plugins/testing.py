"""Decides what a behaviour does, for its author's tests: plays a session with made-up replies, without any network."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from locust_agents.patience import Leave
from locust_agents.plugins import fault_lines
from locust_agents.plugins.api import (
    Agent,
    Behaviour,
    Compact,
    Handle,
    Join,
    Outcome,
    Pause,
    Profile,
    Reply,
    Session,
    Side,
    Spawn,
    Step,
    ToolCall,
    Turn,
)

# A behaviour that never ends would keep its test for ever.
_MOST_STEPS = 10_000


@dataclass(slots=True)
class Played:
    """All steps in the order in which they were yielded; those of a child follow the step that started it."""

    steps: list[Step] = field(default_factory=list)

    @property
    def turns(self) -> list[Turn]:
        """The requests."""
        return [step for step in self.steps if isinstance(step, Turn)]

    @property
    def pauses_s(self) -> list[float]:
        """The waits, before any `gaps:`."""
        return [step.seconds for step in self.steps if isinstance(step, Pause)]


def reply(text: str = "So.", *tools: str, outcome: Outcome = Outcome.OK) -> Reply:
    """A made-up answer that calls these tools, each with no arguments."""
    calls = tuple(ToolCall(f"call-{number}", name, "{}") for number, name in enumerate(tools, 1))
    return Reply(text, calls, outcome, tokens=40, first_token_s=0.2, prompt_tokens=1000)


def play(
    behaviour: Behaviour, *replies: Reply, seed: str = "1", profile: Profile | None = None, **parameters: Any
) -> Played:
    """Runs one session; the last of `replies`, or an answer that reads a file, is given to all further turns.

    A turn that leaves gets an abandoned reply. Children run to their end as they are started. Raises PluginError for
    what is no step, and whatever the behaviour raises.
    """
    player = _Player(behaviour.name, list(replies) or [reply("I look.", "read")])
    tokens = 1000.0 if profile is None else float(profile.system_tokens + profile.tool_tokens)
    agent = Agent("test/0.0", "test/0.0#0", seed, preamble_tokens=tokens, profile=profile)
    player.drive(behaviour(agent, **parameters))
    return player.played


@dataclass(slots=True)
class _Player:
    name: str
    replies: list[Reply]
    played: Played = field(default_factory=Played)
    last: list[Reply | None] = field(default_factory=list)

    def drive(self, session: Session) -> Reply | None:
        result: Any = None
        heard: Reply | None = None
        while True:
            try:
                step = session.send(result)
            except StopIteration:
                return heard
            result = self._take(step, session)
            heard = result if isinstance(result, Reply) else heard

    def _take(self, step: object, session: Session) -> Any:
        if not isinstance(step, Step):
            raise fault_lines.no_step(self.name, step, session)
        self.played.steps.append(step)
        if len(self.played.steps) > _MOST_STEPS:
            raise AssertionError(f"behaviour {self.name!r} has not ended after {_MOST_STEPS} steps")
        match step:
            case Turn():
                return self._next(step.patience)
            case Compact():
                return self._next(Leave())
            case Side():
                return self._start([step.session], session)[0]
            case Spawn():
                handles = self._start(step.sessions, session)
                return self._replies(handles) if step.wait else handles
            case Join():
                return self._replies(step.handles)
        return None

    def _next(self, patience: Leave) -> Reply:
        given = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return given if patience == Leave() else Reply("", (), Outcome.ABANDONED)

    def _start(self, sessions: Sequence[Session], parent: Session) -> list[Handle]:
        for session in sessions:
            if not isinstance(session, Generator):
                raise fault_lines.no_session(self.name, session, parent)
        return [self._child(session) for session in sessions]

    def _child(self, session: Session) -> Handle:
        self.last.append(self.drive(session))
        return Handle(len(self.last) - 1)

    def _replies(self, handles: Sequence[Handle]) -> list[Reply | None]:
        return [self.last[handle.number] for handle in handles]
