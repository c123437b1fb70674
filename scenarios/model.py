"""What a scenario is once it is read: frozen values, times in seconds, every default filled in."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from locust_agents.cluster import byte_sizes
from locust_agents.limits import Limit
from locust_agents.scenarios import units
from locust_agents.scenarios.course import Arrival, Canary, Drain, Stage, WarmUp
from locust_agents.scenarios.places import KeyPath
from locust_agents.scenarios.questions import Capacity, Sweep
from locust_agents.scenarios.section import (
    Count,
    Factor,
    FactorAboveZero,
    OneOrMore,
    Plain,
    Seconds,
    SecondsAboveZero,
    Section,
    Share,
    Switch,
    Text,
    written,
)
from locust_agents.scenarios.server_section import Attach as Attach
from locust_agents.scenarios.server_section import Launch as Launch
from locust_agents.scenarios.server_section import Server as Server

Limits = Annotated[
    tuple[Limit, ...],
    PlainSerializer(lambda limits: {limit.key: limit.text for limit in limits}),
    written("limits"),
]
Size = Annotated[int, BeforeValidator(byte_sizes.size), PlainSerializer(lambda size: f"{size}B"), written("size")]


def _in_a_list(value: object) -> object:
    """One path may stand without its brackets."""
    if isinstance(value, dict | bool | int | float):
        raise units.wrong("a list of paths", value)
    return [value] if isinstance(value, str) else value


def _by_name(value: object) -> object:
    """Names alone, in a list or one by itself, are taken without parameters."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple):
        return value
    for name in names:
        if not isinstance(name, str):
            raise units.wrong("the names of listeners", name)
    return {name: {} for name in names}


class Probe(Section):
    """mlx_lm's own benchmark on the ranks, before their server takes the memory; a kind alone has these defaults.

    So many prompts at once of random tokens, and so many trials after a warm-up.
    """

    kind: Literal["mlx_lm_benchmark"] = "mlx_lm_benchmark"
    prompt_tokens: OneOrMore = 8192
    generation_tokens: OneOrMore = 128
    batch: OneOrMore = 1
    trials: OneOrMore = 3

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        return {"kind": value} if isinstance(value, str) else value


class Gaps(Section):
    """Tool and human pauses: multiplied by `scale`, then at most `cap_s`."""

    scale: Factor = 1.0
    cap_s: Seconds | None = Field(default=None, alias="cap")


class Prefix(Section):
    """How a client breaks the start of its prompt on purpose: in this share of its turns."""

    kind: Literal["none", "head_hash", "date_tail", "tools_change", "moving_reminder", "file_refresh"] = Field(
        alias="break"
    )
    probability: Share = 1.0

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        return {"break": value} if isinstance(value, str) else value


class Entry(Section):
    """One line of the swarm: `agents` slots of one behaviour, the first of which starts at `after_s`.

    `arrival`, `cap_prompt` and `prefix` None are the scenario's. Its agents repeat the draws of those of `twin_of`.
    """

    behaviour: Text
    profile: Text = "opencode"
    agents: OneOrMore = 1
    parameters: Mapping[str, Plain] = Field(default={}, alias="with")
    after_s: Seconds = Field(default=0.0, alias="after")
    arrival: Arrival | None = None
    cap_prompt: OneOrMore | None = None
    prefix: Prefix | None = None
    twin_of: Text | None = None


class Start(Section):
    """How the agents of an entry come in: one each `apart_s`."""

    apart_s: Seconds = Field(default=1.0, alias="apart")


class GuardKeys(Section):
    """What ends the sending before a host comes to harm: growth of its swap (1 GB = 10^9 bytes), memory pressure."""

    swap_growth: Size | None = None
    pressure: Literal["warn", "critical"] | None = None


class Timeouts(Section):
    """The client's patience; None means what the entry's profile does."""

    connect_s: SecondsAboveZero | None = Field(default=None, alias="connect")
    headers_s: SecondsAboveZero | None = Field(default=None, alias="headers")
    first_token_s: SecondsAboveZero | None = Field(default=None, alias="first_token")
    silence_s: SecondsAboveZero | None = Field(default=None, alias="silence")
    turn_s: SecondsAboveZero | None = Field(default=None, alias="turn")


class Scenario(Section):
    """One run, wholly described; whichever of `duration_s`, `turns` (all agents) and `sessions` (each) comes first.

    With `stages` these three are None, and an entry's `agents` is the most that a stage has of it; `on_retire` is what
    then becomes of the turn of an agent that must go. `context` shrinks each profile's window to so many tokens, and
    all of its sizes with it. No prompt of more than `cap_prompt` (unscaled) tokens is sent. `thinking` None leaves the
    model's own way. `curve` off times no prompts before the load. `plugins` are paths of Python files, `listeners` the
    names of those that get every record. `identity` sends one prompt alone and once more in the crowd.
    """

    name: Text
    plugins: Annotated[tuple[Text, ...], BeforeValidator(_in_a_list), written("texts")] = ()
    listeners: Annotated[Mapping[str, Mapping[str, Plain]], BeforeValidator(_by_name), written("listeners")] = {}
    server: Server
    duration_s: SecondsAboveZero | None = Field(default=None, alias="duration")
    turns: OneOrMore | None = None
    sessions: OneOrMore | None = None
    stages: tuple[Stage, ...] | None = None
    on_retire: Literal["finish", "cut"] | None = None
    warm_up: WarmUp | None = None
    seed: Count = 1
    scale: FactorAboveZero = 1.0
    context: OneOrMore | None = None
    gaps: Gaps = Gaps()
    replies: Literal["live", "scripted"] = "live"
    outputs: Literal["live", "drawn"] = "live"
    cache: Literal["cold", "warm"] = "cold"
    curve: Switch = True
    thinking: Switch | None = None
    prefix: Prefix | None = None
    cap_prompt: OneOrMore | None = None
    swarm: Mapping[str, Entry]
    start: Start = Start()
    arrival: Arrival | None = None
    drain_s: Drain = Field(default=30.0, alias="drain")
    limits: Limits = ()
    stop_on_breach: Switch = False
    canary: Canary | None = None
    identity: Switch = False
    timeouts: Timeouts = Timeouts()
    guard: GuardKeys = GuardKeys()
    probe: Probe | None = None
    sweep: Sweep | None = None
    capacity: Capacity | None = None

    @property
    def load_s(self) -> float | None:
        """Seconds after which no turn starts, of all stages together; None where only turns or sessions end the run."""
        return self.duration_s if self.stages is None else sum(stage.for_s for stage in self.stages)

    def arrival_of(self, entry: str) -> Arrival | None:
        """How the entry's sessions start; None in a closed loop, where an agent's next follows its last."""
        return self.swarm[entry].arrival or self.arrival

    def drawn_as(self, entry: str) -> str:
        """The entry whose draws its agents have: another one for a twin. Classes written by hand are no entries."""
        found = self.swarm.get(entry)
        return entry if found is None or found.twin_of is None else found.twin_of


_SECTIONS: Mapping[KeyPath, type[Section]] = {
    (): Scenario,
    ("server",): Server,
    ("server", "launch"): Launch,
    ("server", "attach"): Attach,
    ("stages", "*"): Stage,
    ("warm_up",): WarmUp,
    ("gaps",): Gaps,
    ("swarm", "*"): Entry,
    ("swarm", "*", "arrival"): Arrival,
    ("swarm", "*", "prefix"): Prefix,
    ("prefix",): Prefix,
    ("start",): Start,
    ("arrival",): Arrival,
    ("canary",): Canary,
    ("timeouts",): Timeouts,
    ("guard",): GuardKeys,
    ("probe",): Probe,
    ("sweep",): Sweep,
    ("capacity",): Capacity,
}

EXTENDS = "extends"
"""A key of the file that no scenario has: the file that it names is read first, and this one laid over it."""


def keys_at(path: KeyPath) -> list[str]:
    """Return the keys that the mapping at `path` may have, in the order of the documentation.

    Raises KeyError where the user names the keys himself, as in server.options.
    """
    section = _SECTIONS[_any_of(path)]
    keys = [field.alias or name for name, field in section.model_fields.items()]
    return [*keys[:1], EXTENDS, *keys[1:]] if path == () else keys


def _any_of(path: KeyPath) -> KeyPath:
    """The path with a star for what the user names or numbers."""
    is_swarm = path[:1] == ("swarm",)
    return tuple("*" if part.startswith("[") or (is_swarm and n == 1) else part for n, part in enumerate(path))
