"""What of a preamble may change without moving anything else, who shares it, and that sizes hold."""

import json
from dataclasses import replace
from typing import Any

import pytest

from locust_agents.plugins.api import Agent
from locust_agents.profile import Profile, Volatile
from locust_agents.prompts import conversation, messages, preambles
from locust_agents.prompts.conversation import Preamble
from locust_agents.prompts.prefix_break import KINDS, Kind, PrefixBreak
from locust_agents.prompts.sizing import Calibration
from locust_agents.prompts.volatile import Start

PLAIN = Profile("p", "P", "here", 2000, 4000, ("bash", "edit", "glob", "grep", "read"), 64, {"tool_choice": "auto"})
CWD = Volatile("system", 0.91, "working folder", "project")
DATE = Volatile("system", 0.92, "date", "day")
TIME = Volatile("system", 0.98, "hours and minutes", "session")
HASH = Volatile("system_head", 0.0, "billing header", "request")
MODE = Volatile("tools", 0.5, "agents of the mode", "session")
CALIBRATION = Calibration("123 456 000", preamble_tokens={"p": 6000})


def built(*volatile: Volatile, **fields: Any) -> Preamble:
    return preambles.calibrated(replace(PLAIN, volatile=volatile, **fields), "m", 1.0, CALIBRATION)


def agent(number: int = 0, session: int = 0, entry: str = "fixers") -> Agent:
    name = f"{entry}/0.{number}"
    return Agent(name, f"{name}#{session}", f"1 {name} {session}")


def system(preamble: Preamble) -> str:
    return str(json.loads(preamble.head + b"]}")["messages"][0]["content"])


def test_slots_stand_where_the_profile_says() -> None:
    made = built(CWD, DATE)
    assert [(slot.part, slot.share) for slot in made.slots] == [
        ("system_head", 0.0),
        ("system", 0.91),
        ("system", 0.92),
        ("tools", 0.72),
    ]
    text = system(made)
    first, cwd, date, mode = (slot.text for slot in made.slots)
    assert text.startswith(f"# run 123 456 000 {first}\n")
    assert text.index(cwd) / len(text) == pytest.approx(0.91, abs=0.02)
    assert text.index(date) / len(text) == pytest.approx(0.92, abs=0.02)
    tools = json.loads(made.head + b"]}")["tools"]
    assert [mode in tool["function"]["description"] for tool in tools] == [False, False, False, True, False]


@pytest.mark.parametrize("volatile", [(), (CWD, DATE, TIME, HASH, MODE)], ids=["none", "many"])
def test_changed_slots_move_nothing(volatile: tuple[Volatile, ...]) -> None:
    made = built(*volatile)
    texts = tuple(f"{number:03} 111 222" for number in range(len(made.slots)))
    filled = conversation.filled(made, texts)
    assert len(filled.head) == len(made.head)
    places = {place for slot in made.slots for place in range(slot.offset, slot.offset + 11)}
    assert {place for place, (a, b) in enumerate(zip(made.head, filled.head, strict=True)) if a != b} <= places
    assert [filled.head[slot.offset : slot.offset + 11].decode() for slot in made.slots] == list(texts)
    assert system(filled).startswith("# run 123 456 000 000 111 222\n")
    assert filled.name != made.name
    assert filled.tokens == made.tokens


def test_what_changes_nothing_is_the_same_object() -> None:
    made = built(DATE)
    assert Start(made, agent(), False).preamble is made
    assert conversation.filled(made, made.texts) is made


SHARED: list[tuple[str, Volatile, Agent, bool]] = [
    ("one project, two agents", CWD, agent(1), True),
    ("another entry works in the same project", CWD, agent(entry="giants"), True),
    ("a day is the same for all", DATE, agent(entry="giants"), True),
    ("each session has its own", TIME, agent(session=1), False),
]


@pytest.mark.parametrize(("volatile", "other", "is_shared"), [pytest.param(*row[1:], id=row[0]) for row in SHARED])
def test_who_shares_a_preamble(volatile: Volatile, other: Agent, is_shared: bool) -> None:
    made = built(volatile)
    one, two = (Start(made, each, False).preamble for each in (agent(), other))
    assert (one is two) == is_shared
    assert (one.name == two.name) == is_shared


def test_what_sessions_share_of_a_preamble_ends_at_the_first_slot_that_differs() -> None:
    one, two = (Start(built(CWD, TIME), each, False).preamble for each in (agent(), agent(1)))
    pairs = list(zip(one.starts, two.starts, strict=True))
    assert [a == b for a, b in pairs] == [True, True, True, False, False]
    assert one.starts[-1] == (one.name, 6000)
    tokens = [start[1] for start in one.starts]
    assert tokens == [0, pytest.approx(0.91 * 2000, abs=5), pytest.approx(0.98 * 2000, abs=5), 4880, 6000]


def test_the_product_changes_its_first_line_in_each_request_unless_that_is_switched_off() -> None:
    for is_quiet, count in ((False, 6), (True, 1)):
        start = Start(built(HASH), agent(), is_quiet)
        names = {start.preamble.name}
        for _ in range(5):
            start.next_request(None)
            names.add(start.preamble.name)
        assert len(names) == count


BREAKS: list[tuple[str, str, float]] = [
    ("head_hash", "system_head", 0.0),
    ("date_tail", "system", 0.92),
    ("tools_change", "tools", 0.72),
]


@pytest.mark.parametrize(("kind", "part", "share"), BREAKS)
def test_a_break_changes_its_place_alone(kind: str, part: str, share: float) -> None:
    made = built(CWD, DATE)
    start = Start(made, agent(), False)
    before = start.preamble.head
    assert start.next_request(kind) == [part]
    (slot,) = (slot for slot in made.slots if slot.breaks == kind)
    assert slot.share == share
    changed = [place for place, (a, b) in enumerate(zip(before, start.preamble.head, strict=True)) if a != b]
    assert changed
    assert slot.offset <= changed[0] <= changed[-1] < slot.offset + 11


PLACES: list[tuple[str, Preamble, set[Kind]]] = [
    ("a prompt with tools", built(), {*KINDS}),
    ("no tools", built(tools=(), tool_tokens=0), {*KINDS} - {"tools_change"}),
    ("no room", built(system_tokens=5, tools=("bash",), tool_tokens=50), {"moving_reminder", "file_refresh", "none"}),
]


@pytest.mark.parametrize(("preamble", "kinds"), [pytest.param(*row[1:], id=row[0]) for row in PLACES])
def test_which_breaks_have_a_place(preamble: Preamble, kinds: set[str]) -> None:
    assert {kind for kind in KINDS if PrefixBreak(kind).has_place(preamble)} == kinds


# -- sizes and forms


@pytest.mark.parametrize("nonce", ["", "123 000 000"])
@pytest.mark.parametrize("scale", [0.01, 0.05, 1.0])
def test_slots_are_part_of_the_size(nonce: str, scale: float) -> None:
    profile = replace(PLAIN, volatile=(CWD, DATE, TIME, HASH))
    made = preambles.build(profile, "m", round(8000 * scale), round(16_000 * scale), nonce, None)
    values = json.loads(made.head + b"]}")
    assert len(values["messages"][0]["content"]) == pytest.approx(8000 * scale, abs=8)
    assert len(json.dumps(values["tools"], separators=(",", ":"))) == pytest.approx(16_000 * scale, rel=0.06, abs=200)
    for slot in made.slots:
        assert made.head[slot.offset : slot.offset + 11].decode() == slot.text


def test_examples_stand_behind_the_system_text_and_share_its_size() -> None:
    made = preambles.build(replace(PLAIN, system_tokens=1000, few_shot_tokens=600), "m", 6400, 0, "", 40)
    said = json.loads(made.head + b"]}")["messages"]
    assert [message["role"] for message in said] == ["system", "user", "assistant", "user", "assistant"]
    assert len(said[0]["content"]) == pytest.approx(4000, abs=8)
    assert sum(len(message["content"]) for message in said[1:]) == pytest.approx(2400, abs=30)


def test_examples_without_a_system_text() -> None:
    made = preambles.build(replace(PLAIN, system_tokens=0, few_shot_tokens=600), "m", 2400, 0, "", 40)
    body = conversation.body((made.head, messages.user("hi")), conversation.closing(None))
    assert [message["role"] for message in json.loads(body)["messages"]] == ["user", "assistant"] * 2 + ["user"]


def test_wanted_tokens_and_the_first_guess_count_the_examples() -> None:
    profile = replace(PLAIN, few_shot_tokens=500)
    assert preambles.wanted_tokens(profile) == 6500
    assert preambles.guess(profile, 0.5, Calibration("")) == (5000, 8000)


FORMS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("streamed with usage", {}, {"stream": True, "stream_options": {"include_usage": True}}),
    ("streamed without usage has no options at all", {"include_usage": False}, {"stream": True}),
    ("not streamed", {"stream": False}, {"stream": False}),
    ("neither", {"stream": False, "include_usage": False}, {"stream": False}),
]


@pytest.mark.parametrize(("fields", "sent"), [pytest.param(*row[1:], id=row[0]) for row in FORMS])
def test_stream_and_usage_are_the_profiles(fields: dict[str, Any], sent: dict[str, Any]) -> None:
    values = json.loads(built(**fields).head + b"]}")
    assert {name: values[name] for name in ("stream", "stream_options") if name in values} == sent


def test_without_tools_only_what_concerns_them_is_left_out() -> None:
    parameters = {"tool_choice": "auto", "temperature": 0}
    values = json.loads(built(tools=(), parameters=parameters).head + b"]}")
    assert values["temperature"] == 0
    assert not {"tools", "tool_choice"} & values.keys()


def test_tools_are_told_as_they_are_sent() -> None:
    made = built()
    assert list(made.tools) == json.loads(made.head + b"]}")["tools"]
    assert [tool["function"]["name"] for tool in made.tools] == list(PLAIN.tools)


def test_the_same_start_without_tools() -> None:
    bare = conversation.without_tools(built())
    values, whole = (json.loads(made.head + b"]}") for made in (bare, built()))
    assert values == {name: value for name, value in whole.items() if name not in ("tools", "tool_choice")}
    assert bare.name != "p"
