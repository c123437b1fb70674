"""The replay server as a process: bytes, times, endings, what it heard, and how it goes."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from locust_agents.cluster.replay import STAMP, ReplayServer, Script, chat_stream
from locust_agents.cluster.replay import server as replay_server
from locust_agents.errors import ClusterError, ScenarioError
from tests.patience import PATIENCE_S

SOON_S = 10.0  # generous: only a failure waits so long


def _connect(url: str) -> socket.socket:
    host, _, port = url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=SOON_S)


def _post(url: str, body: bytes = b"{}", path: str = "/v1/chat/completions") -> socket.socket:
    sock = _connect(url)
    sock.sendall(b"POST %b HTTP/1.1\r\nX-Who: me\r\nContent-Length: %d\r\n\r\n%b" % (path.encode(), len(body), body))
    return sock


def _read_all(sock: socket.socket) -> bytes:
    with closing(sock):
        return b"".join(iter(lambda: sock.recv(65536), b""))


def _ask(url: str, method: str = "POST", path: str = "/v1/chat/completions") -> tuple[int, bytes]:
    with closing(http.client.HTTPConnection(url.removeprefix("http://"), timeout=PATIENCE_S)) as connection:
        connection.request(method, path, b"{}" if method == "POST" else None)
        response = connection.getresponse()
        return response.status, response.read()


def _is_refused(url: str) -> bool:
    try:
        _connect(url).close()
    except ConnectionRefusedError:
        return True
    return False


def _goes_away(url: str) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not _is_refused(url):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.parametrize("framing", ["until_close", "chunked", "length"])
def test_a_client_reads_the_scripted_body(framing: str) -> None:
    script = Script(((0.0, b"a\r\n"), (0.01, b""), (0.01, b"\xff\x00"), (0.02, b"c")), framing=framing)  # type: ignore[arg-type]
    with ReplayServer([script]) as server:
        assert _ask(server.url) == (200, b"a\r\n\xff\x00c")


def test_nothing_leaves_before_its_time() -> None:
    script = Script(((0.1, b"one"), (0.2, b"two")), headers_s=0.05, headers={}, ending="hang")
    received, arrivals = b"", {}
    with ReplayServer([script]) as server, closing(_post(server.url)) as sock:
        while not received.endswith(b"two"):
            received += sock.recv(65536)
            arrivals[time.monotonic()] = received
        start_s = server.requests()[0].at_s
    due = {b"\r\n\r\n": 0.05, b"one": 0.1, b"two": 0.2}
    assert received == b"HTTP/1.0 200 OK\r\n\r\nonetwo"
    for at_s, so_far in arrivals.items():
        assert at_s - start_s >= max(due_s for text, due_s in due.items() if text in so_far)


@pytest.mark.parametrize("framing", ["until_close", "chunked", "length"])
def test_stamps_rise_and_are_never_later_than_arrival(framing: str) -> None:
    script = Script(
        tuple((number * 0.005, f'{{"t": {STAMP}, "c": "{STAMP}"}}\n'.encode()) for number in range(20)),
        framing=framing,  # type: ignore[arg-type]
    )
    with ReplayServer([script], stamp=True) as server, closing(_post(server.url)) as sock:
        with sock.makefile("rb") as lines:
            seen = [(json.loads(line), time.perf_counter_ns()) for line in lines if line.startswith(b"{")]
        start_ns = server.requests()[0].at_s * 1e9
    stamps = [event["t"] for event, _ in seen]
    assert len(stamps) == 20
    assert [int(event["c"]) for event, _ in seen] == stamps
    assert stamps == sorted(stamps)
    assert all(start_ns + number * 5e6 - 1e3 <= stamp for number, stamp in enumerate(stamps))
    assert all(stamp <= at_ns for stamp, (_, at_ns) in zip(stamps, seen, strict=True))


def test_a_stamp_waits_until_the_kernel_has_taken_what_came_before() -> None:
    script = Script(((0.0, b"x" * 20_000_000), (0.0, STAMP.encode())))
    with ReplayServer([script], stamp=True) as server, closing(_post(server.url)) as sock:
        sock.recv(1, socket.MSG_PEEK)
        time.sleep(0.2)  # by now the kernel's buffers are full of the first send
        before_ns = time.monotonic_ns()
        body = _read_all(sock)
    assert int(body[-20:]) > before_ns


def test_reset_shows_after_the_bytes_before_it() -> None:
    received: list[bytes] = []
    script = Script(((0.0, b"half"),), ending="reset")
    with ReplayServer([script]) as server, closing(_post(server.url)) as sock, pytest.raises(ConnectionResetError):
        received.extend(iter(lambda: sock.recv(65536), b""))
    assert b"".join(received).endswith(b"\r\n\r\nhalf")


@pytest.mark.parametrize(
    ("script", "remark"),
    [
        (Script(((0.0, b"half"),), framing="chunked", ending="cut"), "no last chunk"),
        (Script(((0.0, b"half"),), 200, {"Content-Length": "9"}, "length", "cut"), "shorter than it said"),
    ],
)
def test_cut_is_an_incomplete_body(script: Script, remark: str) -> None:
    with ReplayServer([script]) as server, pytest.raises(http.client.IncompleteRead):
        _ask(server.url)


def test_cut_without_framing_looks_like_a_normal_end() -> None:
    with ReplayServer([Script(((0.0, b"half"),), ending="cut")]) as server:
        assert _ask(server.url) == (200, b"half")


def test_hang_leaves_the_connection_open() -> None:
    script = Script(((0.0, b"half"),), headers={}, ending="hang")
    with ReplayServer([script]) as server, closing(_post(server.url)) as sock:
        received = b""
        while not received.endswith(b"half"):
            received += sock.recv(65536)
        sock.settimeout(0.1)
        with pytest.raises(TimeoutError):
            sock.recv(65536)


@pytest.mark.parametrize(
    ("sends", "received"),
    [((), b""), (((0.0, b"<html>"),), b"<html>")],
)
def test_raw_sends_neither_status_nor_headers(sends: tuple[tuple[float, bytes], ...], received: bytes) -> None:
    with ReplayServer([Script(sends, framing="raw")]) as server:
        assert _read_all(_post(server.url)) == received


def test_scripts_are_taken_in_order_and_the_last_repeats() -> None:
    scripts = [Script(((0.0, text),), status) for text, status in [(b"a", 503), (b"b", 200), (b"c", 200)]]
    with ReplayServer(scripts) as server:
        assert [_ask(server.url) for _ in range(4)] == [(503, b"a"), (200, b"b"), (200, b"c"), (200, b"c")]


def test_paths_have_their_own_scripts() -> None:
    scripts = [Script(((0.0, b"chat"),)), Script((), 503, path="/health"), Script(((0.0, b"up"),), path="/health")]
    with ReplayServer(scripts) as server:
        asked = [_ask(server.url, "GET", "/v1/models?x=1"), *[_ask(server.url, "GET", "/health?x=1") for _ in range(2)]]
        assert asked == [(200, b'{"status": "ok"}'), (503, b""), (200, b"up")]
        assert _ask(server.url) == (200, b"chat")


def test_a_post_without_script_is_not_found() -> None:
    with ReplayServer([Script((), path="/health")]) as server:
        assert _ask(server.url)[0] == 404


def test_requests_are_read_back_also_after_the_end() -> None:
    bodies = [b"{}", b"", b"\xff\n\r\n" * 100_000]
    with ReplayServer([chat_stream(["a"], 0.0, 0.0)]) as server:
        assert server.requests() == []
        for body in bodies:
            _read_all(_post(server.url, body, "/v1/chat/completions?a=b"))
        during = server.requests()
    assert server.requests() == during
    assert [(item.method, item.path, item.body) for item in during] == [
        ("POST", "/v1/chat/completions", body) for body in bodies
    ]
    assert during[0].headers == {"x-who": "me", "content-length": "2"}
    assert [item.at_s for item in during] == sorted(item.at_s for item in during)


def test_a_body_that_is_not_read_stops_its_client() -> None:
    with ReplayServer([Script((), ending="hang", read_body=False)]) as server, closing(_connect(server.url)) as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nContent-Length: 50000000\r\n\r\n")
        assert sock.recv(8) == b"HTTP/1.0"
        sock.settimeout(0.2)
        with pytest.raises(TimeoutError):
            sock.sendall(b"x" * 50_000_000)
        assert server.requests()[0].body == b""


@pytest.mark.parametrize("request_bytes", [b"hello\r\n\r\n", b"x" * 100_000])
def test_what_is_not_http_is_cut_off_and_does_no_harm(request_bytes: bytes) -> None:
    with ReplayServer([Script(((0.0, b"fine"),))]) as server:
        with closing(_connect(server.url)) as sock, suppress(ConnectionError):
            sock.sendall(request_bytes)
            assert sock.recv(1) == b""
        assert _ask(server.url) == (200, b"fine")


def test_many_streams_each_get_all_their_events() -> None:
    script = chat_stream([f"{STAMP} "] * 20, 0.01, 0.005)
    with ReplayServer([script.later(number * 0.0005) for number in range(50)], stamp=True) as server:
        socks = [_post(server.url) for _ in range(50)]
        answers = [_read_all(sock) for sock in socks]
    assert {answer.count(b"content") for answer in answers} == {20}
    assert all(answer.endswith(b"data: [DONE]\n\n") for answer in answers)


def test_the_server_is_gone_after_the_block_and_stop_may_be_called_again() -> None:
    with ReplayServer([Script((), ending="hang")]) as server:
        sock = _post(server.url)
        assert sock.recv(4) == b"HTTP"
    server.stop()
    assert _is_refused(server.url)
    assert b"200 OK" in _read_all(sock)


def test_a_server_that_cannot_start_says_why() -> None:
    with pytest.raises(ClusterError, match=r"did not start: .*holds no script") as raised:
        ReplayServer([]).start()
    assert raised.value.log_tail


OWNER = """
import os, sys, time
from locust_agents.cluster.replay import ReplayServer, Script
server = ReplayServer([Script(((0.0, b"x"),))])
server.start()
print(server.url, flush=True)
time.sleep(600)
"""


def test_the_server_does_not_outlive_a_killed_owner() -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        url = owner.stdout.readline().strip()
        assert _ask(url) == (200, b"x")
        owner.kill()
    assert _goes_away(url)


GEVENT = """
from gevent import monkey
monkey.patch_all()
import gevent, http.client
from locust_agents.cluster.replay import ReplayServer, chat_stream
ticks = []
def tick():
    while True:
        ticks.append(1)
        gevent.sleep(0.001)
gevent.spawn(tick)
with ReplayServer([chat_stream(["a"], 0.05, 0.0)]) as server:
    for asked in range(1, 51):  # a machine that stalls may let it come round once in each
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
        connection.request("POST", "/v1/chat/completions", b"{}")
        assert connection.getresponse().read().endswith(b"[DONE]\\n\\n")
        assert len(server.requests()) == asked
        if len(ticks) > 5:
            break
assert len(ticks) > 5, "the loop stood still"
print("fine")
"""


def test_it_works_where_gevent_has_patched_everything() -> None:
    done = subprocess.run([sys.executable, "-c", GEVENT], capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.stdout, done.stderr) == ("fine\n", "")


@pytest.fixture
def script_file(tmp_path: Path) -> Path:
    file = tmp_path / "script.json"
    file.write_text(json.dumps(Script(((0.0, STAMP.encode()),)).to_json()))
    return file


@contextmanager
def _command(*arguments: object) -> Iterator["subprocess.Popen[str]"]:
    # Not in development mode, where asyncio complains of a slow machine as well.
    line = [sys.executable, "-W", "always", "-m", "locust_agents.cluster.replay.server", *map(str, arguments)]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(line, stdin=nothing, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as child:
        try:
            yield child
        finally:
            child.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_told_to_end(script_file: Path, number: signal.Signals) -> None:
    with _command(script_file) as child:
        assert child.stdout is not None
        url = child.stdout.readline().strip()
        assert _ask(url) == (200, STAMP.encode())
        with closing(_connect(url)):  # one that is still open
            os.kill(child.pid, number)
            rest, errors = child.communicate(timeout=PATIENCE_S)
    assert (child.returncode, rest, errors) == (0, "", "")


def test_the_command_ends_after_the_most_requests(script_file: Path) -> None:
    with _command(script_file, "--max-requests", 2, "--stamp") as child:
        assert child.stdout is not None
        url = child.stdout.readline().strip()
        assert all(int(_ask(url)[1]) > 0 for _ in range(2))
        assert child.wait(PATIENCE_S) == 0
    assert _is_refused(url)


def test_the_command_logs_requests(script_file: Path, tmp_path: Path) -> None:
    with _command(script_file, "--max-requests", 1, "--log", tmp_path / "log") as child:
        assert child.stdout is not None
        _ask(child.stdout.readline().strip())
        assert child.wait(PATIENCE_S) == 0
    head, body = (tmp_path / "log").read_bytes().split(b"\n")
    assert json.loads(head)[1:3] == ["POST", "/v1/chat/completions"]
    assert body == b"{}"


def test_the_command_started_alone_prints_one_line_for_a_bad_file(tmp_path: Path) -> None:
    with _command(tmp_path / "none.json") as child:
        _, errors = child.communicate(timeout=PATIENCE_S)
    assert (child.returncode, errors) == (2, f"{tmp_path}/none.json: cannot be read: No such file or directory\n")


def test_a_port_that_there_is_not_is_an_error(script_file: Path) -> None:
    with pytest.raises(ClusterError, match=r"port 70000 cannot be used .*choose another --port"):
        replay_server.main([str(script_file), "--port", "70000"])


def test_a_port_in_use_and_a_log_that_cannot_be_written_are_errors(script_file: Path, tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        with pytest.raises(ClusterError, match=r"cannot be used .*: choose another --port"):
            replay_server.main([str(script_file), "--port", port])
    with pytest.raises(ScenarioError, match="cannot be written"):
        replay_server.main([str(script_file), "--log", str(tmp_path)])
