"""The whole plugin surface: what a behaviour yields, what it is sent, what it holds, and what a listener gets."""

import dataclasses
import inspect
import math
import random
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from locust_agents.draws import FINAL_ANSWER as FINAL_ANSWER
from locust_agents.draws import HUMAN_GAP as HUMAN_GAP
from locust_agents.draws import HUMAN_TEXT as HUMAN_TEXT
from locust_agents.draws import LOOP_LENGTH as LOOP_LENGTH
from locust_agents.draws import TOOL_CALL as TOOL_CALL
from locust_agents.draws import TOOL_GAP as TOOL_GAP
from locust_agents.draws import TOOL_RESULT as TOOL_RESULT
from locust_agents.draws import Table, draw
from locust_agents.outcome import Outcome as Outcome
from locust_agents.patience import Leave
from locust_agents.profile import Profile as Profile
from locust_agents.records import TurnRecord as TurnRecord
from locust_agents.stream import ToolCall as ToolCall

if TYPE_CHECKING:
    from locust_agents.scenarios.model import Scenario

Session = Generator["Step", Any, None]
"""What a behaviour is: yield steps, get each step's result back."""


@dataclass(frozen=True, slots=True)
class Reply:
    """How a turn went, seen from the agent: the last attempt only.

    `tokens` are the completion tokens that the server counted, `prompt_tokens` those of the request, `first_token_s`
    the seconds from the request's last byte; None where they did not happen. With scripted replies, text and calls are
    the script's.
    """

    text: str
    tool_calls: tuple[ToolCall, ...]
    outcome: Outcome
    tokens: int | None = None
    first_token_s: float | None = None
    prompt_tokens: int | None = None

    @property
    def ok(self) -> bool:
        """The answer ended properly."""
        return self.outcome is Outcome.OK


def _check_number(name: str, value: float) -> None:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{name} is a number, not {value!r}")


@dataclass(frozen=True, slots=True)
class Say:
    """One message to add: `text`, filled up with code-like lines to `tokens` (unscaled); `answers` is a tool call."""

    text: str
    tokens: float | None = None
    answers: ToolCall | None = None

    def __post_init__(self) -> None:
        """Refuses here what would raise later, in no line of the plugin's."""
        if not isinstance(self.text, str):
            raise TypeError(f"a message is text, not {self.text!r}")
        if self.tokens is not None:
            _check_number("tokens", self.tokens)


@dataclass(frozen=True, slots=True)
class Document:
    """A file that stands before the history, of `tokens` (unscaled); its text changes with `version` alone."""

    name: str
    tokens: float
    version: int = 1


@dataclass(frozen=True, slots=True)
class Hole:
    """A place to fill in, for a completion model: what stands before it and behind it, in unscaled tokens."""

    prefix_tokens: float
    suffix_tokens: float


@dataclass(frozen=True, slots=True)
class Turn:
    """One request: messages to add to the agent's history, then the streamed answer. Yields a Reply.

    `documents` are put before the history, or replaced there. `is_again` sends the last request once more, `is_fresh`
    gives the history a new start, so that nothing of it is found in a cache. With a `hole` there is no history at all.
    `no_call` tells of tool results that there was no call for; None where a human speaks. `ends_loop`: the answer that
    is expected calls no tool.
    """

    agent: "Agent"
    says: tuple[Say, ...]
    answer_tokens: int | None = None
    patience: Leave = Leave()
    documents: tuple[Document, ...] = ()
    is_again: bool = False
    is_fresh: bool = False
    hole: Hole | None = None
    no_call: bool | None = None
    ends_loop: bool = False

    def leave(
        self,
        after_s: float | None = None,
        after_chunks: int | None = None,
        in_prefill: bool = False,
        after_silence_s: float | None = None,
    ) -> "Turn":
        """The same turn, abandoned at the first of these.

        So many seconds after its start; when so many chunks have come; at the first word that its prefill has begun;
        when nothing came for so long after the first token, as while a tool call is written.
        """
        patience = Leave(after_s, after_chunks, in_prefill=in_prefill, after_silence_s=after_silence_s)
        return dataclasses.replace(self, patience=patience)

    def showing(self, *documents: Document) -> "Turn":
        """The same turn with these files before the history; those of earlier turns stay."""
        return dataclasses.replace(self, documents=documents)

    def final(self) -> "Turn":
        """The same turn, whose drawn or scripted answer ends the loop: of the size that those have, with no call."""
        return dataclasses.replace(self, ends_loop=True)

    def fresh(self) -> "Turn":
        """The same turn, with nothing of its history to be found in a cache: an old session taken up again."""
        return dataclasses.replace(self, is_fresh=True)


@dataclass(frozen=True, slots=True)
class Pause:
    """A wait of `seconds`; the scenario's `gaps:` scale and cap it unless `always`. Yields None."""

    seconds: float
    always: bool = False

    def __post_init__(self) -> None:
        """Refuses here what would raise later, in no line of the plugin's."""
        _check_number("seconds", self.seconds)


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
        """Takes one record, in a thread beside the load; long computing there would still delay those who read."""


class Running(Protocol):
    """A server while it runs; plain attributes will do for the properties."""

    @property
    def url(self) -> str:
        """Without /v1, and without a slash at its end."""

    @property
    def epoch(self) -> int:
        """The start that it came from."""

    @property
    def model(self) -> str | None:
        """The one name that all requests send; None for mlx_lm.server's own `default_model`."""

    def failure(self) -> str | None:
        """What ended it, in one sentence, None while it lives; asked once a second, so it must not wait."""

    def stop(self) -> list[str]:
        """Ends what its launcher started, and may come twice; a sentence for each thing that may still run."""


class Launcher(Protocol):
    """A way to a server."""

    @property
    def name(self) -> str:
        """What picks it: `server: {launcher: NAME, with: {…}}`."""

    def start(
        self,
        scenario: "Scenario",
        folder: Path,
        say: Callable[[str], None],
        note: Callable[[str, Mapping[str, Any]], None],
        epoch: int,
    ) -> Running:
        """Returns when the server can answer a turn; raises ClusterError or ScenarioError, and leaves nothing then.

        Its logs go to the run's `folder`, progress lines to `say`, what cluster.jsonl keeps (an event and its fields)
        to `note`. `scenario.server.parameters` is what `with:` held. `epoch` is 1, more after a death in the same run.
        """
