"""Decides which bytes of a growing log are new since the last look, also after it was cut or replaced."""

import os
from pathlib import Path
from typing import IO

MOST = 65_536
"""Bytes that one look returns: about 900 lines, which take 4 ms to parse. What is more waits for the next look."""

BACKLOG = 1_048_576
"""Bytes that may wait; beyond, all but the end is passed over, so that a log at DEBUG does not leave us behind."""


class Follower:
    """Holds the file open, so that a new file of that name is told from it, and its last lines are not lost."""

    def __init__(self, path: Path, from_end: bool = False) -> None:
        """With `from_end`, what the log holds already is old news."""
        self._path = path
        self._log: IO[bytes] | None = None
        self.skipped = 0
        """Bytes passed over because the log grew faster than it was looked at."""
        if from_end and self._reopen() and self._log:
            self._log.seek(0, os.SEEK_END)

    def new(self) -> bytes:
        """What was appended since the last look; nothing without a file."""
        if self._log is None and not self._reopen():
            return b""
        data = self._appended()
        if not data and self._is_replaced() and self._reopen():
            data = self._appended()
        return data

    def close(self) -> None:
        """Lets go of the file."""
        if self._log is not None:
            self._log.close()
        self._log = None

    def _appended(self) -> bytes:
        assert self._log is not None
        size = os.fstat(self._log.fileno()).st_size
        at = self._log.tell()
        if size < at:
            at = 0  # somebody cut it
        if size - at > BACKLOG:
            self.skipped += size - at - MOST
            at = size - MOST
        self._log.seek(at)
        return self._log.read(min(size - at, MOST))

    def _is_replaced(self) -> bool:
        assert self._log is not None
        try:
            found = self._path.stat()
        except OSError:
            return False
        return not os.path.samestat(found, os.fstat(self._log.fileno()))

    def _reopen(self) -> bool:
        try:
            log = self._path.open("rb", buffering=0)
        except OSError:
            return False
        self.close()
        self._log = log
        return True
