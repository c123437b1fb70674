"""Decides which files of /proc tell a Linux host's memory, and what they mean."""

import re
from collections.abc import Sequence

from locust_agents.cluster.vitals.memory_sample import Pressure, Sample

WARN_SOME, CRITICAL_FULL = 10.0, 30.0
"""Percent of the last 10 s in which some, or all, tasks waited for memory. systemd-oomd kills at 60 % of "full"
(oomd.conf(5), DefaultMemoryPressureLimit=); half of that is late enough for a load generator to go on sending."""

_WANTED = r"^(Pid|VmHWM|VmRSS|SwapTotal|SwapFree|some|full)[: ]"
_PROCESS = re.compile(r"^Pid:\s*(\d+)$", re.MULTILINE)


def files(pids: Sequence[int]) -> list[str]:
    """The files; one that is not there says nothing."""
    return [*(f"/proc/{pid}/status" for pid in pids), "/proc/meminfo", "/proc/pressure/memory"]


def command(pids: Sequence[int]) -> str:
    """What a shell is told."""
    return f"grep -hsE '{_WANTED}' {' '.join(files(pids))}"


def parse(text: str) -> Sample:
    """What the command printed, or the whole files one after another; a dead process has no figure."""
    _before, *sections = _PROCESS.split(text)
    pairs = list(zip(map(int, sections[::2]), sections[1::2], strict=True))
    total, free = _kib(text, "SwapTotal"), _kib(text, "SwapFree")
    return Sample(
        used={pid: found for pid, section in pairs if (found := _kib(section, "VmRSS")) is not None},
        highest={pid: found for pid, section in pairs if (found := _kib(section, "VmHWM")) is not None},
        swap_used=None if total is None or free is None else total - free,
        pressure=_pressure(text),
    )


def _kib(text: str, name: str) -> int | None:
    found = re.search(rf"^{name}:\s*(\d+) kB$", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def _pressure(text: str) -> Pressure | None:
    """Pressure Stall Information, from kernel 4.20 on; None where the kernel was built or started without it."""
    shares = dict(re.findall(r"^(some|full) avg10=([\d.]+)", text, re.MULTILINE))
    if "some" not in shares:
        return None
    if float(shares.get("full", 0)) >= CRITICAL_FULL:
        return "critical"
    return "warn" if float(shares["some"]) >= WARN_SOME else "normal"
