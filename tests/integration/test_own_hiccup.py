"""A client that stood still while an idle server greeted it does not take that for other people's load."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from locust_agents.cluster.replay import MLX_HEADERS, ReplayServer, Script, chat_stream
from tests.patience import PATIENCE_S, undisturbed

SCENARIO = "turns: 1\nscale: 0.01\ngaps: {scale: 0}\ncurve: off\nswarm: {fixer: {behaviour: fix_failing_test}}\n"
HEALTH = Script(((0.0, b'{"status": "ok"}'),), headers=MLX_HEADERS, path="/health")
SLOW_S = 0.2  # in which the client is stopped; for its own part the server is taken for idle
FIRST = chat_stream(["a"], SLOW_S, 0, headers_s=SLOW_S, usage=(9, 0, 1))
STOOD_S = 2.0


def stand_still(server: ReplayServer, client: "subprocess.Popen[str]") -> None:
    """As the first question has come to the server."""
    while not any(request.method == "POST" for request in server.requests()) and client.poll() is None:
        time.sleep(0.001)
    client.send_signal(signal.SIGSTOP)
    time.sleep(STOOD_S)
    client.send_signal(signal.SIGCONT)


def greeted(folder: Path) -> str:
    """What is said by a run whose process stands still meanwhile."""
    (folder / "s.yaml").write_text(SCENARIO)
    with ReplayServer([HEALTH, FIRST, chat_stream(["a"], 0, 0, usage=(9, 0, 1))]) as server:
        command = [str(Path(sys.executable).with_name("locust-agents")), "run", "s.yaml", "--attach", server.url]
        with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as client:
            try:
                stand_still(server, client)
                _, said = client.communicate(timeout=PATIENCE_S)
            finally:
                client.kill()
            return said


def test_a_client_that_stood_still_blames_nobody(tmp_path: Path) -> None:
    """Where the server stands still as well, it is asked again: that the client cannot know."""
    said = undisturbed(lambda: greeted(tmp_path), lambda said: "others use this server" in said)
    assert "idle (a turn of one token queued 0." in said
