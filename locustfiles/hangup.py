"""A terminal that is closed under a run: once that is as SIGTERM is, and from then on nothing is said there."""

import os
import signal
import stat
from typing import Any

import gevent

from locust_agents import streams

_STANDARD = (0, 1, 2)


def heed() -> tuple[Any, ...]:
    """Gevent's watchers, to be cancelled when the run has ended; none under `nohup`, which wants it to go on.

    A shell and the kernel may both say it, and nobody is left who could mean a second stop by that.
    """
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        return ()
    heard: list[bool] = []

    def hang_up() -> None:
        _leave_terminal()
        if not heard:
            heard.append(True)
            os.kill(os.getpid(), signal.SIGTERM)

    return (gevent.signal_handler(signal.SIGHUP, hang_up),)


def _leave_terminal() -> None:
    """A file or a pipe is still written to. A closed terminal says only that it is a device."""
    for number in _STANDARD:
        if stat.S_ISCHR(os.fstat(number).st_mode):
            streams.silence(number)
