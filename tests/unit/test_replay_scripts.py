"""Scripts of the replay server: what they refuse, how they are stored, what mlx_lm.server's answers look like."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from locust_agents.cluster.replay import STAMP, Script, chat_stream, load_scripts, script_from_json
from locust_agents.cluster.replay.wire import fill_stamp, parse_head, to_answer
from locust_agents.errors import ScenarioError


@pytest.mark.parametrize(
    ("values", "text", "remark"),
    [
        ({"sends": ((-0.1, b"a"),)}, "a time must be a finite number", "before the request"),
        ({"sends": ((float("nan"), b"a"),)}, "a time must be a finite number", "no time at all"),
        ({"sends": ((0.2, b"a"), (0.1, b"b"))}, "sends[1]: 0.1 s comes before 0.2 s", "backwards"),
        ({"sends": ((0.1, b"a"),), "headers_s": 0.5}, "sends[0]: 0.1 s comes before 0.5 s", "body before headers"),
        ({"sends": (), "framing": "gzip"}, "framing: must be one of until_close", "unknown framing"),
        ({"sends": (), "ending": "normal"}, "ending: must be one of close", "unknown ending"),
        ({"sends": (), "status": 42}, "status: 42 is not an HTTP status", "no such status"),
        ({"sends": (), "headers": {"A": "b\r\nC: d"}}, "headers: names and values", "a header within a header"),
    ],
)
def test_script_refuses_what_no_server_could_send(values: dict[str, Any], text: str, remark: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        pytest.fail(f"{remark}: made {Script(**values)}")


@pytest.mark.parametrize(
    "script",
    [
        Script(sends=()),
        Script(sends=((0.0, "ä – €".encode()), (0.5, b""))),
        Script(sends=((0.0, b"\xff\x00\n"),), framing="raw", ending="reset"),
        Script(((1.5, b"x"),), 503, {"Retry-After": "3"}, "length", "cut", 1.0, "/health", read_body=False),
    ],
)
def test_json_keeps_every_field(script: Script) -> None:
    assert script_from_json(json.loads(json.dumps(script.to_json()))) == script


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "{file}:1:2: not JSON: Expecting property name enclosed in double quotes"),
        ("[]", "{file}: holds no script; write at least one"),
        ("7", "{file}: script: must be an object with the key 'sends', not 7"),
        ('{"status": 200}', "{file}: script: the key 'sends' is missing: a list of [seconds, text]"),
        ('{"sends": [], "heders": {}}', "{file}: script: heders: unknown key; did you mean 'headers'?"),
        ('{"sends": [], "q": 1}', "{file}: script: q: unknown key"),
        ('[{"sends": []}, {"sends": 5}]', "{file}: script[1]: sends: must be a list of [seconds, text], not 5"),
        (
            '{"sends": [[0, "a"], ["0", "b"]]}',
            "{file}: script: sends[1]: must be a number of seconds, not '0'",
        ),
        (
            '{"sends": [[0, 1]]}',
            "{file}: script: sends[0]: must be [seconds, text] or [seconds, {{'base64': text}}], not [0, 1]",
        ),
        ('{"sends": [[0, {"base64": "*"}]]}', "{file}: script: sends[0]: not base64: Only base64 data is allowed"),
        ('{"sends": [], "status": true}', "{file}: script: status: must be a whole number, not True"),
        ('{"sends": [], "headers": {"A": 1}}', "{file}: script: headers: must be an object of texts, not {{'A': 1}}"),
        (
            '{"sends": [], "ending": "x"}',
            "{file}: script: ending: must be one of close, cut, reset, hang, not 'x'",
        ),
    ],
)
def test_bad_file_is_one_line_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "script.json"
    file.write_text(text)
    with pytest.raises(ScenarioError) as raised:
        load_scripts(file)
    assert str(raised.value) == message.format(file=file)


@pytest.mark.parametrize(("data", "text"), [(None, "cannot be read: No such file"), (b"\xff\xff{", "not JSON")])
def test_unreadable_file_is_one_line(tmp_path: Path, data: bytes | None, text: str) -> None:
    file = tmp_path / "script.json"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(ScenarioError) as raised:
        load_scripts(file)
    assert text in str(raised.value)
    assert "\n" not in str(raised.value)


def test_later_moves_every_time() -> None:
    script = Script(((1.0, b"a"), (2.0, b"b")), headers_s=0.5).later(0.25)
    assert (script.headers_s, script.sends) == (0.75, ((1.25, b"a"), (2.25, b"b")))


@pytest.mark.parametrize(
    ("framing", "frames"),
    [
        ("until_close", [b"HTTP/1.0 200 OK\r\nA: b\r\n\r\n", b"ab", b"", b"c"]),
        (
            "chunked",
            [
                b"HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
                *[b"2\r\nab\r\n", b"", b"1\r\nc\r\n", b"0\r\n\r\n"],
            ],
        ),
        ("length", [b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\nA: b\r\n\r\n", b"ab", b"", b"c"]),
        ("raw", [b"ab", b"", b"c"]),
    ],
)
def test_frames_of_each_framing(framing: Any, frames: list[bytes]) -> None:
    script = Script(((0.0, b"ab"), (1.0, b""), (2.0, b"c")), headers={"A": "b"}, framing=framing)
    assert [frame for _, frame in to_answer(script, stamp=False).frames] == frames


@pytest.mark.parametrize("ending", ["cut", "reset", "hang"])
def test_only_a_proper_end_has_the_last_chunk(ending: Any) -> None:
    frames = to_answer(Script(((0.0, b"a"),), framing="chunked", ending=ending), stamp=False).frames
    assert frames[-1] == (0.0, b"1\r\na\r\n")


@pytest.mark.parametrize("now_ns", [7, 123456789012345678])
def test_stamp_never_changes_the_length_of_a_chunk(now_ns: int) -> None:
    script = Script(((0.0, f'{{"at": {STAMP}}}'.encode()),), framing="chunked")
    size, body, _ = fill_stamp(to_answer(script, stamp=True).frames[1][1], now_ns).split(b"\r\n")
    assert int(size, 16) == len(body)
    assert json.loads(body) == {"at": now_ns}


def test_without_stamping_the_placeholder_is_plain_text() -> None:
    assert to_answer(Script(((0.0, STAMP.encode()),)), stamp=False).frames[1] == (0.0, STAMP.encode())


@pytest.mark.parametrize(
    "head",
    [b"hello", b"GET / FTP/1.0", b"POST / HTTP/1.1\r\nContent-Length: many", b"POST / HTTP/1.1\r\nContent-Length: -1"],
)
def test_head_that_is_not_http_is_refused(head: bytes) -> None:
    with pytest.raises(ValueError, match=r"not HTTP|unpack|not a length|invalid literal"):
        parse_head(head)


def _events(script: Script) -> list[tuple[float, Any]]:
    """(second, what it is): a comment as text, a data event as its choice, its usage or `[DONE]`."""
    found = []
    for at_s, data in script.sends:
        text = data.decode().removesuffix("\n\n").removeprefix("data: ")
        value = json.loads(text) if text.startswith("{") else text
        if isinstance(value, dict):
            value = value["choices"][0] if value["choices"] else (value["object"], value["usage"])
        found.append((round(at_s, 6), value))
    return found


def _choice(finish: str | None = None, **delta: object) -> dict[str, object]:
    return {"index": 0, "finish_reason": finish, "delta": {"role": "assistant", **delta}}


def test_chat_stream_has_the_shape_of_mlx_lm() -> None:
    script = chat_stream(
        ["a", "b"],
        first_s=1.0,
        gap_s=0.1,
        headers_s=0.1,
        prefill=[(512, 700, 0.4), (700, 700, 0.8)],
        reasoning=["hm"],
        tool_calls=[("read", {"path": "é"}), ("run", "{broken")],
        tool_s=0.5,
        usage=(900, 200, 12),
    )
    calls: list[dict[str, object]] = [
        {"function": {"name": "read", "arguments": '{"path": "é"}'}, "type": "function", "id": "call-0", "index": 0},
        {"function": {"name": "run", "arguments": "{broken"}, "type": "function", "id": "call-1", "index": 1},
    ]
    counts = {"prompt_tokens": 900, "completion_tokens": 12, "total_tokens": 912}
    assert _events(script) == [
        (0.4, ": keepalive 512/700"),
        (0.8, ": keepalive 700/700"),
        (1.0, _choice(reasoning="hm")),
        (1.1, _choice(content="a")),
        (1.2, _choice(content="b")),
        (1.7, _choice(tool_calls=calls)),
        (1.8, _choice("tool_calls")),
        (1.8, ("chat.completion", {**counts, "prompt_tokens_details": {"cached_tokens": 200}})),
        (1.8, "[DONE]"),
    ]
    assert (script.framing, script.ending, script.headers_s) == ("until_close", "close", 0.1)


@pytest.mark.parametrize(
    ("values", "events", "remark"),
    [
        ({"tokens": ["a"]}, [(1.0, _choice(content="a")), (1.5, _choice("stop")), (1.5, "[DONE]")], "stop is a token"),
        (
            {"tokens": ["a"], "finish": "length"},
            [(1.0, _choice(content="a")), (1.0, _choice("length")), (1.0, "[DONE]")],
            "length is known at once",
        ),
        ({"tokens": ["a"], "finish": None, "done": False}, [(1.0, _choice(content="a"))], "cut in mid-answer"),
        ({"tokens": []}, [(1.0, _choice("stop")), (1.0, "[DONE]")], "an answer without a word"),
        (
            {"tokens": [], "finish": "tool_calls"},
            [(1.0, _choice("tool_calls")), (1.0, "[DONE]")],
            "a call that the server dropped",
        ),
    ],
)
def test_chat_stream_ends(values: dict[str, Any], events: list[tuple[float, Any]], remark: str) -> None:
    assert _events(chat_stream(first_s=1.0, gap_s=0.5, **values)) == events, remark


def test_first_token_may_be_a_tool_call() -> None:
    first_s, choice = _events(chat_stream([], 1.0, 0.5, tool_calls=[("read", {})], tool_s=9.0))[0]
    assert first_s == 1.0
    assert choice["delta"]["tool_calls"][0]["function"]["name"] == "read"
