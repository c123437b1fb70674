"""What becomes of a command whose output is closed, full, left by its reader, or knows few letters."""

import contextlib
import errno
import os
import sys

_LEFT, _UNREAD = 130, 2
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_MODES = ("r", "w", "w")


def prepare() -> None:
    """A stream that was closed is /dev/null, or the next file that is opened would become it; see also `lost`.

    A letter that the encoding of standard output lacks is printed as `?`: a table in Latin-1 is better than none.
    """
    for number, (name, mode) in enumerate(zip(("stdin", "stdout", "stderr"), _MODES, strict=True)):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # gets the lowest free number, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
    if sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]


def settle() -> None:
    """Writes what is still to be written, since at exit it would be too late to say why it failed.

    Raises OSError where standard output takes it no more; that nobody hears complaints is no error.
    """
    try:
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr.fileno())
    sys.stdout.flush()


def lost(error: OSError) -> int:
    """The status of a command whose output could not be written; raises any other error again."""
    if not isinstance(error, BrokenPipeError) and error.errno not in _NO_ROOM:
        raise error
    silence(sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return _LEFT
    with contextlib.suppress(OSError):
        print(f"the output cannot be written ({error.strerror}): make room, or send it elsewhere", file=sys.stderr)
    return _UNREAD


def silence(descriptor: int) -> None:
    """What is still to be written goes nowhere; a second error at exit would say nothing more."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
