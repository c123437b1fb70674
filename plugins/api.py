"""The whole plugin surface: what a behaviour yields, what it is sent, what it holds, and what a listener gets."""

import dataclasses
import inspect
import random
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from locust_agents.draws import FINAL_ANSWER as FINAL_ANSWER
from locust_agents.draws import HUMAN_GAP as HUMAN_GAP
from locust_agents.draws import HUMAN_TEXT as HUMAN_TEXT
from locust_agents.draws import LOOP_LENGTH as LOOP_LENGTH
from locust_agents.draws import TOOL_CALL as TOOL_CALL
from locust_agents.draws import TOOL_GAP as TOOL_GAP
from locust_agents.draws import TOOL_RESULT as TOOL_RESULT
from locust_agents.draws import Table, draw
from locust_agents.outcome import Outcome
from locust_agents.patience import Leave
from locust_agents.records import TurnRecord
from locust_agents.stream import ToolCall

Session = Generator["Step", Any, None]
"""What a behaviour is: yield steps, get each step's result back."""


@dataclass(frozen=True, slots=True)
class Reply:
    """How a turn went, seen from the agent: the last attempt only.

    `tokens` are the completion tokens that the server counted, `first_token_s` the seconds from the request's last
    byte; both None where they did not happen. With scripted replies, text and calls are the script's.
    """

    text: str
    tool_calls: tuple[ToolCall, ...]
    outcome: Outcome
    tokens: int | None = None
    first_token_s: float | None = None

    @property
    def ok(self) -> bool:
        """The answer ended properly."""
        return self.outcome is Outcome.OK


@dataclass(frozen=True, slots=True)
class Say:
    """One message to add: `text`, filled up with code-like lines to `tokens` (unscaled); `answers` is a tool call."""

    text: str
    tokens: float | None = None
    answers: ToolCall | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One request: messages to add to the agent's history, then the streamed answer. Yields a Reply."""

    agent: "Agent"
    says: tuple[Say, ...]
    answer_tokens: int | None = None
    patience: Leave = Leave()

    def leave(self, after_s: float | None = None, after_chunks: int | None = None) -> "Turn":
        """The same turn, abandoned so many seconds after its start, or when so many chunks have come."""
        return dataclasses.replace(self, patience=Leave(after_s, after_chunks))


@dataclass(frozen=True, slots=True)
class Pause:
    """A wait of `seconds`, before the scenario's `gaps:` scale and cap it. Yields None."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Side:
    """A session beside this one, with a history of its own. Yields a Handle at once."""

    session: Session


@dataclass(frozen=True, slots=True)
class Spawn:
    """Sub-agents. Yields their last Replies in order when `wait`, else Handles at once."""

    sessions: tuple[Session, ...]
    wait: bool


@dataclass(frozen=True, slots=True)
class Handle:
    """A session that runs beside; `number` is known to the driver alone."""

    number: int


@dataclass(frozen=True, slots=True)
class Join:
    """Waits until the sessions of `handles` have ended. Yields their last Replies in order (None without a turn)."""

    handles: tuple[Handle, ...]


@dataclass(frozen=True, slots=True)
class Compact:
    """One summary turn, then a history of the summary and the last `keep_tokens`. Yields the summary's Reply."""

    agent: "Agent"
    keep_tokens: float
    summary_tokens: int


Step = Turn | Pause | Side | Spawn | Join | Compact


@dataclass(eq=False, slots=True)
class Agent:
    """One history and one source of random draws; what a behaviour is called with.

    `name` is entry/worker.n, `session` is unique in the run, `parent` the session that a child was made in. Draws
    depend on the scenario's seed, the agent and the session: a session's plan is the same whatever the server does.
    """

    name: str
    session: str
    seed: str
    preamble_tokens: float = 0.0
    parent: str | None = None
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
            return Turn(self, (Say("Go on.", tokens),), answer_tokens)
        return Turn(self, tuple(Say("", tokens / len(calls), call) for call in calls), answer_tokens)

    def compact(self, keep_tokens: float, summary_tokens: int) -> Compact:
        """Replaces the older history by a summary of it."""
        return Compact(self, keep_tokens, summary_tokens)

    def pause(self, seconds: float) -> Pause:
        """A tool that runs, or a human who reads."""
        return Pause(seconds)

    def draw(self, table: Table) -> float:
        """One value of a measured distribution, in the table's unit."""
        return draw(table, self.rng)

    def child(self) -> "Agent":
        """An agent with an empty history, for `side` or `spawn`."""
        number = next(self._children)
        session, seed = f"{self.session}.{number}", f"{self.seed} child {number}"
        return Agent(self.name, session, seed, preamble_tokens=self.preamble_tokens, parent=self.session)

    def side(self, session: Session) -> Side:
        """Runs a session beside this one and goes on at once."""
        return Side(session)

    def spawn(self, sessions: Sequence[Session], wait: bool = True) -> Spawn:
        """Runs sub-agents, all at the same time."""
        return Spawn(tuple(sessions), wait)

    def join(self, handles: Sequence[Handle]) -> Join:
        """Waits for sessions that were started with `side` or `spawn(…, wait=False)`."""
        return Join(tuple(handles))


@dataclass(frozen=True)
class Behaviour:
    """A named generator function; `parameters` are those that a scenario may set in `with:`."""

    name: str
    function: Callable[..., Session]
    parameters: Mapping[str, inspect.Parameter]

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    def __call__(self, agent: Agent, **parameters: Any) -> Session:
        """Starts a session of it."""
        return self.function(agent, **parameters)


def behaviour(function: Callable[..., Session]) -> Behaviour:
    """Makes a behaviour of a generator function whose first parameter is the agent."""
    parameters = dict(inspect.signature(function, eval_str=True).parameters)
    if not inspect.isgeneratorfunction(function) or not parameters:
        raise TypeError(f"{function.__qualname__}: a behaviour is a generator function that takes the agent first")
    parameters.pop(next(iter(parameters)))
    return Behaviour(function.__name__, function, parameters)


class Listener(Protocol):
    """Gets each turn's record once, as the turn ends. It cannot change what was measured."""

    def on_turn(self, record: TurnRecord) -> None:
        """Takes one record; must return soon, since it runs between the reads of other streams."""
