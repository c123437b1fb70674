"""The first difference between two requests of a session: which part, which byte, what it was and became."""

import pytest

from locust_agents.misses import changed
from locust_agents.misses.changed import Change, change
from locust_agents.prompts import messages
from locust_agents.prompts.conversation import preamble

TOOLS = [{"type": "function", "function": {"name": "read", "description": "Reads a file. Mode: build. Be careful."}}]
FIRST, ANSWER, SECOND = messages.user("env: linux. Fix it."), messages.assistant("I will."), messages.user("Go on.")


def head(
    system: str = "You are a coder. Date: 2026-11-30. Be brief.", mode: str = "build", **parameters: float
) -> bytes:
    function = {"name": "read", "description": f"Reads a file. Mode: {mode}. Be careful."}
    examples = [messages.user("an example, as it was given")]
    made = preamble("p", "m", system, [{"type": "function", "function": function}], parameters, examples=examples)
    return made.head


HEAD = head()
BEFORE = (HEAD, FIRST, ANSWER, SECOND)


@pytest.mark.parametrize(
    ("now", "remark"),
    [
        (BEFORE, "sent again"),
        ((*BEFORE, messages.assistant("Done.")), "a turn later"),
        ((head(), bytes(bytearray(FIRST)), *BEFORE[2:], SECOND), "other objects of the same bytes"),
    ],
)
def test_what_only_goes_on_is_no_change(now: tuple[bytes, ...], remark: str) -> None:
    assert change(BEFORE, now) is None, remark


@pytest.mark.parametrize(
    ("now", "part", "where", "before", "becomes", "kind"),
    [
        ((head(temperature=0.5), *BEFORE[1:]), 0, "parameters", '"tools":', '"temperature', "volatile_text"),
        ((head(mode="plan"), *BEFORE[1:]), 0, "tools", ". Mode: build. Be", ". Mode: plan. Be", "volatile_text"),
        (
            (head("You are a coder. Date: 2026-12-01. Be brief."), *BEFORE[1:]),
            0,
            "system",
            ": 2026-11-30. Be brief.",
            ": 2026-12-01. Be brief.",
            "volatile_text",
        ),
        (
            (HEAD.replace(b"it was given", b"it is given"), *BEFORE[1:]),
            0,
            "examples",
            "as it was given",
            "as it is given",
            "volatile_text",
        ),
        (
            (HEAD, FIRST.replace(b"linux", b"macos"), *BEFORE[2:]),
            1,
            "message 1 (user)",
            "env: linux.",
            "env: macos.",
            "history_rewritten",
        ),
        (
            (HEAD, FIRST, messages.assistant("I may."), SECOND),
            2,
            "message 2 (assistant)",
            "I will.",
            "I may.",
            "history_rewritten",
        ),
        ((HEAD, FIRST), 2, "message 2 (assistant)", '{"role":"assistant","con', "", "history_rewritten"),
        ((HEAD,), 1, "message 1 (user)", '{"role":"user","content"', "", "history_rewritten"),
    ],
)
def test_where_a_change_is(now: tuple[bytes, ...], part: int, where: str, before: str, becomes: str, kind: str) -> None:
    found = change(BEFORE, now)
    assert found is not None
    assert (found.part, found.where, found.kind) == (part, where, kind)
    assert before in found.before
    assert becomes in found.now
    assert max(len(found.before), len(found.now)) <= 24


def test_the_first_bytes_that_differ_are_counted_from_the_start_of_the_part() -> None:
    found = change(BEFORE, (HEAD, FIRST.replace(b"linux", b"macos"), *BEFORE[2:]))
    assert found is not None
    assert found.byte == FIRST.index(b"linux")
    assert (
        str(found)
        == f'message 1 (user), byte {found.byte}: “":"env: linux. Fix it."}}” became “":"env: macos. Fix it."}}”'
    )


def test_a_message_that_vanished_says_so() -> None:
    assert str(change(BEFORE, BEFORE[:3])) == 'message 3 (user), byte 0: “{"role":"user","content"” is gone'


def test_the_environment_block_is_meant_to_change_and_what_follows_it_is_not() -> None:
    block = len(b'{"role":"user","content":"env: linux.')
    kinds = [
        found.kind
        for old, new in ((b"linux", b"macos"), (b"Fix", b"Try"))
        if (found := change(BEFORE, (HEAD, FIRST.replace(old, new)), block))
    ]
    assert kinds == ["volatile_text", "history_rewritten"]
    of_answer = change((HEAD, ANSWER), (HEAD, messages.assistant("No.")), block)
    assert of_answer is not None
    assert of_answer.kind == "history_rewritten", "an answer has no environment block"


def test_the_share_of_the_messages_that_stands() -> None:
    parts = (HEAD, *[b"x" * 100] * 4)
    shares = [
        found.share
        for part in range(5)
        if (found := change(parts, (*parts[:part], b"y" * 100, *parts[part + 1 :]))) is not None
    ]
    assert shares == [0.0, 0.0, 0.25, 0.5, 0.75]
    late = change(parts, (HEAD, b"x" * 50 + b"y" * 50, *parts[2:]))
    assert late is not None
    assert late.share == 0.125


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("ä" * 40 + "b", "ä" * 40 + "c", ("ääääb", "ääääc")),
        ("line\nline\tx", "line\nline\ty", ("line\\tx", "line\\ty")),
    ],
)
def test_an_excerpt_is_text_in_one_line(old: str, new: str, shown: tuple[str, str]) -> None:
    found = change((HEAD, messages.user(old)), (HEAD, messages.user(new)))
    assert found is not None
    assert shown[0] in found.before
    assert shown[1] in found.now
    assert "\ufffd" not in found.before + found.now
    assert "\n" not in str(found)


@pytest.mark.parametrize("at", [0, 1, 31, 32, 500, 998, 999])
def test_halving_finds_every_byte(at: int) -> None:
    was = bytes(range(250)) * 4
    becomes = was[:at] + b"\xff" + was[at + 1 :]
    assert [found.byte for found in (change((was,), (becomes,)), change((was,), (was[:at],))) if found] == [at, at]


def test_a_thousand_messages_that_are_the_same_objects_are_looked_through_at_once() -> None:
    parts = (HEAD, *(messages.user(f"{number} " + "x" * 2000) for number in range(1000)))
    looks = [_Counted(part) for part in parts]
    assert change(looks, [*looks, SECOND]) is None
    assert _Counted.comparisons == 0, "identity first"


class _Counted(bytes):
    comparisons = 0

    def __eq__(self, other: object) -> bool:
        _Counted.comparisons += 1
        return bytes.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        _Counted.comparisons += 1
        return bytes.__ne__(self, other)

    __hash__ = bytes.__hash__


def test_a_change_is_a_value() -> None:
    one, other = (change(BEFORE, BEFORE[:2]) for _ in range(2))
    assert one == other
    assert isinstance(one, Change)
    assert changed.change([], BEFORE) is None, "nothing was sent before"
