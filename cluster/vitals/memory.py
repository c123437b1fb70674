"""Decides how a host is asked for its memory: one shell command that fits any system, or its files when it is ours."""

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from locust_agents.cluster.vitals import memory_linux, memory_macos
from locust_agents.cluster.vitals.memory_sample import Sample

TIMEOUT_S = 10.0
"""`top` takes a second or more on a busy Mac."""

_PS = re.compile(r"^\s*(\d+)\s+(\d+)\s*$", re.MULTILINE)


def command(pids: Sequence[int]) -> str:
    """A POSIX shell line whose output `parse` reads, whatever the host's system is. It needs no right of root."""
    ps = f"ps -o pid= -o rss= -p {','.join(map(str, pids))}" if pids else ":"
    systems = f"Darwin) {memory_macos.command(pids)};; Linux) {memory_linux.command(pids)};; *) {ps};;"
    return f"export LC_ALL=C; uname; {{ case $(uname) in {systems} esac; }} 2>/dev/null; :"


def parse(text: str) -> Sample:
    """What `command` printed; lines before the system's name, such as a login's greeting, are passed over."""
    text = text.replace("\r\n", "\n")
    if re.search(r"^Darwin$", text, re.MULTILINE):
        return memory_macos.parse(text)
    if re.search(r"^Linux$", text, re.MULTILINE):
        return memory_linux.parse(text)
    return Sample({int(pid): int(kib) * 1024 for pid, kib in _PS.findall(text)})


def is_instant(run: Callable[[str], str] | None) -> bool:
    """Whether `sample` reads a few small files only: a third of a millisecond, where a command takes a second."""
    return run is None and sys.platform == "linux"


def sample(pids: Sequence[int], run: Callable[[str], str] | None = None) -> Sample:
    """Those pids and their host now; raises what `run` does, and OSError or SubprocessError for this machine."""
    if is_instant(run):
        found = memory_linux.parse("".join(map(_read, memory_linux.files(pids))))
    else:
        found = parse((run or shell)(command(pids)))
    used = {pid: found.used[pid] for pid in pids if pid in found.used}
    return replace(found, used=used)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:  # the process has ended, or the kernel knows no such file
        return ""


def shell(line: str) -> str:
    """What a shell of this machine prints; raises OSError or SubprocessError, the latter after TIMEOUT_S."""
    asked = subprocess.run(
        ["/bin/sh", "-c", line], capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, check=False
    )
    return asked.stdout
