"""Decides which lines of a server's log tell of work: those that it writes for being asked how it is do not."""

import re
from pathlib import Path
from typing import IO

_NOISE = re.compile(rb'"GET /| code 4\d\d, message |" 4(00|11) -')
"""Access lines of /health and /v1/models, and refusals: the HTTP threads write them also while the generator hangs."""

_READ_BYTES = 1 << 20


class WorkLog:
    """Counts what is appended from now on. Without a path, or with a file that cannot be read, there is no count."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._bytes = 0
        self._rest = b""
        self._read_to = self._size() or 0

    def work_bytes(self) -> int | None:
        """The bytes so far, of whole lines that tell of work; None where the log cannot be read."""
        size = self._size()
        if size is None or self._path is None:
            return None
        if size < self._read_to:  # somebody began it anew
            self._read_to, self._rest = 0, b""
        if size > self._read_to:
            self._count(self._path, size)
        return self._bytes

    def _count(self, path: Path, size: int) -> None:
        if size - self._read_to > _READ_BYTES:  # nobody asks for health that often
            self._bytes, self._read_to, self._rest = self._bytes + size - self._read_to, size, b""
            return
        with path.open("rb") as log:
            *lines, self._rest = (self._rest + _tail(log, self._read_to, size)).split(b"\n")
        self._bytes += sum(len(line) + 1 for line in lines if line.strip() and not _NOISE.search(line))
        self._read_to = size

    def _size(self) -> int | None:
        """None also where a log that is being read has gone; an absent one may yet come."""
        try:
            return None if self._path is None else self._path.stat().st_size
        except FileNotFoundError:
            return 0
        except OSError:
            return None


def _tail(log: IO[bytes], begin: int, end: int) -> bytes:
    log.seek(begin)
    return log.read(end - begin)
