"""A server whose answers stay open until the test lets them end: what is watched for lasts as long as one looks."""

import contextlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from locust_agents.cluster.replay import chat_stream
from locust_agents.cluster.replay.wire import to_answer
from tests.patience import PATIENCE_S

# One usage for all: what a run asks before it begins is never measured, and so is the same number of questions.
HEAD, FIRST, *REST = (data for _, data in to_answer(chat_stream(["so ", "it"], 0, 0, usage=(400, 0, 2)), False).frames)


class HeldServer:
    """Answers questions of one token and the first `free` turns at once; of each later turn only the first token."""

    def __init__(self, free: int) -> None:
        self.url = ""
        self.asked = 0
        """The turns that it was asked for."""
        self.held = 0
        """Those of them whose first token has left, and no more."""
        self._free = free
        self._lock = threading.Lock()
        self._may_end = threading.Event()

    def let_end(self) -> None:
        """All of them end, and whatever is asked from now on is answered at once."""
        self._may_end.set()

    def answers(self, is_turn: bool) -> Iterator[bytes]:
        """What is written, piece by piece."""
        with self._lock:
            self.asked += is_turn
            is_held = is_turn and self.asked > self._free
        yield HEAD + FIRST
        if is_held:
            with self._lock:
                self.held += 1
            self._may_end.wait(PATIENCE_S)
        yield from REST


@contextmanager
def held_server(free: int) -> Iterator[HeldServer]:
    """The server while it is up, on a port of its own."""
    held = HeldServer(free)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._write([b'HTTP/1.0 200 OK\r\nServer: BaseHTTP/0.6 Python/3\r\n\r\n{"status": "ok"}'])

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self._write(held.answers(is_turn=json.loads(body).get("max_tokens") != 1))

        def _write(self, pieces: Iterator[bytes] | list[bytes]) -> None:
            with contextlib.suppress(OSError):  # the client has gone
                for piece in pieces:
                    self.wfile.write(piece)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Handler) as server:
        held.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield held
        finally:
            held.let_end()
            server.shutdown()
            thread.join()
