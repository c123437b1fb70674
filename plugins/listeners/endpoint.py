"""Serves one WSGI application in a true thread: a scrape is not answered in the loop that takes the times."""

import time
from collections.abc import Callable
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from gevent import monkey

_LOOK_S = 0.2


class Endpoint:
    """Answers from now on until it is closed. Raises OSError where it cannot listen; port 0 is any that is free."""

    def __init__(self, host: str, port: int, app: Callable[..., Any]) -> None:
        self._server = make_server(host, port, app, handler_class=_Quiet)
        self.port = self._server.server_port
        self._is_over, self._is_closed = False, False
        monkey.get_original("_thread", "start_new_thread")(self._serve, ())

    def close(self) -> None:
        """The port is free when this returns."""
        self._is_over = True
        while not self._is_closed:
            time.sleep(_LOOK_S / 10)

    def _serve(self) -> None:
        self._server.timeout = _LOOK_S
        while not self._is_over:
            self._server.handle_request()
        self._server.server_close()
        self._is_closed = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        """A scrape every few seconds is no news."""
