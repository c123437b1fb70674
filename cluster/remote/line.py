"""Decides how another host is asked: over one ssh connection that is kept, without waiting unless told to."""

import os
import re
import secrets
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import IO

from locust_agents.errors import ClusterError

CONNECT_S = 10
SILENCE_S = 15
"""A host from which nothing comes any more, not even ssh's own replies, is lost after so long."""

MOST_BYTES = 1_000_000
"""What is kept of an answer that does not end: a host's start files may print, but not for ever."""

_SSH = (
    *("ssh", "-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT_S}", "-o", "LogLevel=ERROR"),
    *("-o", f"ServerAliveInterval={SILENCE_S // 3}", "-o", "ServerAliveCountMax=3"),
    # a connection of its own: a shared one would end with whoever opened it; and of no other use than ours
    *("-o", "ControlMaster=no", "-o", "ControlPath=none", "-o", "ClearAllForwardings=yes", "-o", "ForwardAgent=no"),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command printed on its standard output, and its exit status."""

    text: str
    status: int


class Line:
    """A connection to a host, on which a shell reads commands. It survives nothing: `lost` says what ended it."""

    def __init__(self, host: str) -> None:
        """Returns at once: what is asked meanwhile is answered when ssh has got through. Never asks for a password.

        Raises ClusterError where there is no ssh to start.
        """
        self.host = host
        self.lost: str | None = None
        self._token = secrets.token_hex(8)
        self._asked = 0
        self._heard = b""
        self._answers: dict[int, Answer] = {}
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (ssh writes to it until we close the line)
        self._ssh, self._to, self._from = _connect(host, self._complaints)

    def ask(self, command: str) -> int:
        """Sends a command for /bin/sh, and returns the number by which its answer is asked for."""
        self._asked += 1
        mark = f"printf '\\n%s %s %s\\n' {self._token} {self._asked} $?"
        if self.lost is None:
            try:
                os.write(self._to, f"{{ {command}\n}} </dev/null; {mark}\n".encode())
            except BlockingIOError:
                self._lose("it takes no more commands")
            except BrokenPipeError:
                self._lose()
        return self._asked

    def answer(self, number: int) -> Answer | None:
        """Each answer once; None while it is on its way, and for ever when the line is lost."""
        while self.lost is None and self._hear():
            pass
        return self._answers.pop(number, None)

    def wait(self, command: str, timeout_s: float) -> Answer:
        """Asks and waits; raises ClusterError when the line is lost, or no answer comes in time."""
        number, deadline_s = self.ask(command), time.monotonic() + timeout_s
        while (answer := self.answer(number)) is None:
            left_s = deadline_s - time.monotonic()
            if self.lost is not None or left_s <= 0:
                raise ClusterError(unreachable(self.host, self.lost or f"no answer within {timeout_s:g} s"))
            select.select([self._from], [], [], left_s)
        return answer

    def close(self) -> None:
        """Ends the connection, and with it the shell there; can be called again."""
        self._lose("it was closed")

    def _hear(self) -> bool:
        """Takes what has come; False when that was all for now."""
        try:
            data = os.read(self._from, 65_536)
        except BlockingIOError:
            return False
        if not data:
            self._lose()
        answers, rest = split(self._heard + data, self._token)
        self._answers |= answers
        self._heard = rest[-MOST_BYTES:]
        return True

    def _lose(self, why: str | None = None) -> None:
        """Without a reason, it is what ssh said last."""
        if self.lost is None:
            self.lost = why or "its connection broke"  # at once: who ends us while we wait must not come here again
            os.close(self._to)
            os.close(self._from)
            _end(self._ssh)
            self.lost = why or _last_line(self._complaints) or f"ssh ended with status {self._ssh.returncode}"
            self._complaints.close()


def split(heard: bytes, token: str) -> tuple[dict[int, Answer], bytes]:
    """The whole answers by their numbers, and what is left: the beginning of the next one."""
    pieces = re.split(rf"\n{token} (\d+) (\d+)\n".encode(), heard)
    answers = zip(pieces[0:-1:3], pieces[1::3], pieces[2::3], strict=True)
    whole = {int(number): Answer(text.decode(errors="replace"), int(status)) for text, number, status in answers}
    return whole, pieces[-1]


def unreachable(host: str, why: str) -> str:
    """The sentence about a host that cannot be asked."""
    return f"{host} does not answer over ssh ({why}): see that `ssh {host} true` works without a password"


def _connect(host: str, complaints: IO[bytes]) -> tuple[subprocess.Popen[bytes], int, int]:
    """The ssh process, and our ends of the pipes to and from it."""
    stdin, to = os.pipe()
    back, stdout = os.pipe()
    try:
        ssh = subprocess.Popen(
            (*_SSH, "--", host, "/bin/sh"),
            stdin=stdin,
            stdout=stdout,
            stderr=complaints,
            start_new_session=True,  # a Ctrl-C for us is not for it: it is needed to stop what runs there
        )
    except OSError as error:
        os.close(to)
        os.close(back)
        complaints.close()
        raise ClusterError(f"ssh could not be started ({error}): install it, {host} is reached by it") from None
    finally:
        os.close(stdin)
        os.close(stdout)
    os.set_blocking(to, False)
    os.set_blocking(back, False)
    return ssh, to, back


def _end(ssh: subprocess.Popen[bytes]) -> None:
    """Its pipes are closed, so it should end by itself; while it still connects, it does not look at them."""
    for number in (0, signal.SIGTERM, signal.SIGKILL):
        ssh.send_signal(number)
        try:
            ssh.wait(1.0)
        except subprocess.TimeoutExpired:
            continue
        return


def _last_line(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    lines = (line.strip() for line in complaints.read().decode(errors="replace").splitlines())
    return next(filter(None, reversed(list(lines))), "")
