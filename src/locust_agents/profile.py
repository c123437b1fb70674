"""A profile: what one agent product puts on the wire, how patient its client is, and what it makes of bad answers."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from locust_agents.patience import Timeouts
from locust_agents.prompts.messages import ReasoningReplay

# The role names that the product gives a meaning; a profile may have others, for behaviours that know them.
SUB, TITLE, COMPACTION = "sub", "title", "compaction"


@dataclass(frozen=True, slots=True)
class Volatile:
    """Text that makes two prompts of one product differ: where it sits, and what has to change for it to change.

    `share` says how far into that part it begins, 0 to 1 of the part's text. "never": not while model, mode and
    machine stay; "session": fixed when a session starts, and another in the next one.
    """

    at: Literal["system_head", "system", "tools", "first_user"]
    share: float
    what: str
    changes: Literal["never", "day", "project", "session", "request"]


@dataclass(frozen=True, slots=True)
class Compaction:
    """When and how a client shortens its history, in tokens of a client set to the profile's `window_tokens`.

    It compacts a prompt above `trigger_tokens`, and goes on with the last `keep_tokens` of the history and a summary.
    The call for the summary is the prompt as it was ("same", which a cache knows), that prompt without its tools, or
    the history as the one message of another system prompt, of `system_tokens` ("flattened", which no cache knows).
    `instruction_tokens` is what asks for the summary at the end of the history.
    """

    trigger_tokens: int
    keep_tokens: int
    summary_tokens: int
    call: Literal["same", "without_tools", "flattened"]
    system_tokens: int = 0
    instruction_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Retries:
    """Seconds before the second, third, … attempt; with none, or after the last one, the client gives up.

    By what went wrong: no connection or a lost one; no first token in time or a stall; HTTP 429 or 5xx.
    `headers_waits_s` is for clients with a schedule of its own for no headers in time; None: that is a stall too.
    """

    connection_waits_s: tuple[float, ...] = ()
    stall_waits_s: tuple[float, ...] = ()
    http_waits_s: tuple[float, ...] = ()
    headers_waits_s: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Reaction:
    """To an answer that cannot be used: asked again, the same prompt, after each of `waits_s`; then what `then` says.

    "go_on": the client mends its history and carries on; "end": the session ends quietly; "error": it ends as a
    failure; "complain": a user message of `complaint_tokens` says what was wrong, and the model is asked once more.
    """

    then: Literal["go_on", "end", "error", "complain"] = "go_on"
    waits_s: tuple[float, ...] = ()
    complaint_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Role:
    """Another system prompt of the same product: of its sub-agents, or of a call on the side.

    `retries` None: as the profile's own.
    """

    system_tokens: int
    tool_tokens: int
    tools: tuple[str, ...]
    max_tokens: int | None
    retries: Retries | None = None


@dataclass(frozen=True, slots=True)
class SideCall:
    """A call that starts `lead_s` (least, most) seconds before a session's first turn, on a prompt of its own.

    `tokens` is what it says below the role's system prompt, `answer_tokens` what a model usually answers.
    """

    role: str
    tokens: int
    answer_tokens: int | None
    lead_s: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Profile:
    """Token counts are of the o200k vocabulary, as measured; a run scales them, and sizes them by the server's own.

    The first of `tools` is what a scripted answer calls. `max_tokens` is None where the product sends none.
    `comments_reset` tells whether `: keepalive` restarts its timeouts. `api` is what a run sends, `speaks` what the
    product itself does.

    What a first prompt holds, in order: system, tools, `few_shot_tokens` of example messages, then in the first user
    message `first_user_tokens` (environment, reminders) before the human's text. `each_user_tokens` end every user
    message and stay there; `reminder_tokens` end the last one only and move with it.

    `most_sub_agents` at once is None where no bound was seen. `assumptions` names what was neither measured nor read
    in a source, with dots for what lies inside: `timeouts.connect_s`, `volatile.0.share`.
    """

    name: str
    product: str
    source: str
    system_tokens: int
    tool_tokens: int
    tools: tuple[str, ...]
    max_tokens: int | None
    parameters: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    reasoning_replay: ReasoningReplay = "none"
    tool_result_cap_tokens: int | None = None
    timeouts: Timeouts = Timeouts()
    comments_reset: bool = False
    api: Literal["chat", "completions"] = "chat"
    speaks: Literal["chat completions", "responses", "messages", "completions"] = "chat completions"
    stream: bool = True
    include_usage: bool = True
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    few_shot_tokens: int = 0
    first_user_tokens: int = 0
    each_user_tokens: int = 0
    reminder_tokens: int = 0
    volatile: tuple[Volatile, ...] = ()
    window_tokens: int = 131_072
    compaction: Compaction | None = None
    roles: Mapping[str, Role] = field(default_factory=dict)
    side_calls: tuple[SideCall, ...] = ()
    sub_agents: Literal["wait", "go_on", "none"] = "none"
    most_sub_agents: int | None = None
    retries: Retries = Retries()
    empty: Reaction = Reaction()
    malformed: Reaction = Reaction()
    assumptions: tuple[str, ...] = ()

    @property
    def sent_as(self) -> str | None:
        """What a reader must know where the product speaks another API than the one that is loaded; else None."""
        sends = "chat completions" if self.api == "chat" else self.api
        return None if sends == self.speaks else f"speaks {self.speaks}; sent as {sends} with its sizes"

    def in_role(self, name: str) -> "Profile":
        """The profile with another of its system prompts, called `opencode.sub`; itself where it has no such role.

        A role brings neither the examples nor the environment that go before a human's text, and no side calls; a
        role other than "sub" is a single call: nothing in it is volatile, and it is never compacted.
        """
        role = self.roles.get(name)
        if role is None:
            return self
        is_sub = name == SUB
        return dataclasses.replace(
            self,
            name=f"{self.name}.{name}",
            system_tokens=role.system_tokens,
            tool_tokens=role.tool_tokens,
            tools=role.tools,
            max_tokens=role.max_tokens,
            few_shot_tokens=0,
            first_user_tokens=0,
            each_user_tokens=self.each_user_tokens if is_sub else 0,
            reminder_tokens=self.reminder_tokens if is_sub else 0,
            volatile=tuple(part for part in self.volatile if part.at != "first_user") if is_sub else (),
            compaction=self.compaction if is_sub else None,
            side_calls=(),
            retries=self.retries if role.retries is None else role.retries,
        )
