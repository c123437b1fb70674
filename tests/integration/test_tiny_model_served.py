"""A real mlx_lm.server serves the tiny models over 1, 2 and 4 ranks: they call tools, and their answers are reused."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from locust_agents.cluster import ports
from locust_agents.cluster.tiny.model import ensure
from tests.patience import PATIENCE_S

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "read",
            "description": "Gives the text of a file.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        },
    }
]
SYSTEM = {
    "role": "system",
    "content": "You fix failing tests.\n" + "Keep each change small and run the test again.\n" * 60,
}
FILE = "".join(f"def step_{n}(total: int) -> int:\n    return total + {n}\n" for n in range(30))

Message = dict[str, Any]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    cache = tmp_path_factory.mktemp("cache")
    return lambda variant: ensure(variant, print, cache)


@contextmanager
def served(folder: Path, ranks: int, log: Path) -> Iterator[int]:
    """The port of a ready server; its whole process group is gone afterwards."""
    port = ports.free_ports(1 + ranks)  # none that the system gives to a client: it could then call itself
    server = [sys.executable, "-m", "mlx_lm", "server", "--model", str(folder), "--port", str(port)]
    launcher = str(Path(sys.executable).with_name("mlx.launch"))
    launch = [launcher, "-n", str(ranks), "--backend", "ring", "--starting-port", str(port + 1), "--"]
    with log.open("wb") as out:
        process = subprocess.Popen(
            launch + server if ranks > 1 else server,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=out,
            env={**os.environ, "HF_HUB_OFFLINE": "1"},
            start_new_session=True,
        )
    quiet = threading.Thread(target=fill_stdin, args=(process,), daemon=True)
    quiet.start()
    try:
        wait_until_ready(port, process, log)
        yield port
    finally:
        with suppress(ProcessLookupError):  # it never came up
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        quiet.join()
        if process.stdin:
            process.stdin.close()


def fill_stdin(process: subprocess.Popen[bytes]) -> None:
    # the launcher copies its stdin in a busy loop until the ranks' pipes are full
    try:
        os.write(process.stdin.fileno(), b"\n" * 200_000) if process.stdin else None
    except BrokenPipeError:
        return


def wait_until_ready(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(f"the server did not come up:\n{log.read_text()[-3000:]}")


def ask(port: int, messages: list[Message], tools: object = TOOLS, max_tokens: int = 400) -> dict[str, Any]:
    body = {"messages": messages, "max_tokens": max_tokens, "temperature": 0.7}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(body | ({"tools": tools} if tools else {})))
        reply: dict[str, Any] = json.loads(connection.getresponse().read())
    finally:
        connection.close()
    assert "choices" in reply, reply
    return reply


def tokens(reply: dict[str, Any]) -> tuple[int, int]:
    """Tokens that the cache held, and tokens that it could hold when the next turn comes."""
    usage = reply["usage"]
    return usage["prompt_tokens_details"]["cached_tokens"], usage["prompt_tokens"] + usage["completion_tokens"]


def called(reply: dict[str, Any]) -> Message:
    """The assistant's message, after a look at its one tool call."""
    assert reply["choices"][0]["finish_reason"] == "tool_calls"
    message: Message = reply["choices"][0]["message"]
    (call,) = message["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == (
        "read",
        {"filePath": "src/app.py"},
    )
    assert message["content"]
    return message


def result(message: Message) -> Message:
    return {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": FILE}


def three_turns(port: int) -> list[tuple[int, int]]:
    """A conversation whose second turn answers a tool call and whose third is a user's."""
    messages: list[Message] = [SYSTEM, {"role": "user", "content": "The test fails. Fix it.\n" + FILE}]
    seen = []
    for after in (result, lambda _: {"role": "user", "content": "And now?"}, result):
        reply = ask(port, messages)
        seen.append(tokens(reply))
        messages += [called(reply), after(called(reply))]
    return seen


def prompts_that_share_a_start() -> tuple[list[Message], list[Message]]:
    return [{"role": "user", "content": FILE + "one"}], [{"role": "user", "content": FILE + "two, and more"}]


@pytest.mark.parametrize("ranks", [1, 2])
def test_live_answers_are_reused_whole_by_the_next_turn(
    ranks: int, model: Callable[[str], Path], tmp_path: Path
) -> None:
    with served(model("tiny"), ranks, tmp_path / "log") as port:
        (_, first), (cached_second, second), (cached_third, _) = three_turns(port)
        assert (cached_second, cached_third) == (first, second)
        assert first > 1000


def test_without_tools_the_answer_is_words_and_a_shared_start_is_reused(
    model: Callable[[str], Path], tmp_path: Path
) -> None:
    one, two = prompts_that_share_a_start()
    with served(model("tiny"), 1, tmp_path / "log") as port:
        reply = ask(port, one, tools=None)
        choice = reply["choices"][0]
        assert (choice["finish_reason"], choice["message"].get("tool_calls")) == ("stop", None)
        assert reply["usage"]["completion_tokens"] > 8
        cached, _ = tokens(ask(port, two, tools=None))
        assert cached > 0.9 * reply["usage"]["prompt_tokens"]


def test_four_ranks_answer(model: Callable[[str], Path], tmp_path: Path) -> None:
    with served(model("tiny"), 4, tmp_path / "log") as port:
        called(ask(port, [{"role": "user", "content": "The test fails."}]))


def test_a_hybrid_model_reuses_whole_turns_but_cannot_trim(model: Callable[[str], Path], tmp_path: Path) -> None:
    one, two = prompts_that_share_a_start()
    with served(model("tiny-hybrid"), 2, tmp_path / "log") as port:
        (_, first), (cached_second, second), (cached_third, _) = three_turns(port)
        assert (cached_second, cached_third) == (first, second)
        ask(port, one, tools=None)
        assert tokens(ask(port, two, tools=None))[0] == 0


def test_a_long_answer_ends_by_itself(model: Callable[[str], Path], tmp_path: Path) -> None:
    with served(model("tiny-long"), 1, tmp_path / "log") as port:
        messages: list[Message] = [{"role": "user", "content": "Explain."}]
        reply = ask(port, messages)
        assert (reply["choices"][0]["finish_reason"], reply["usage"]["completion_tokens"]) == ("stop", 250)
        again = ask(port, [*messages, reply["choices"][0]["message"], {"role": "user", "content": "More."}])
        assert tokens(again)[0] == tokens(reply)[1]
