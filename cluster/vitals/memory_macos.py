"""Decides how memory is asked for on macOS, and what the answers mean. None of this has been seen on a Mac.

`footprint` is asked first: it names the kernel's own peak too. `top`, which looks at every process, stands in for it.
Sources: man pages footprint(1) and top(1); XNU, osfmk/kern/memorystatus (levels 1, 2, 4 are normal, warning, critical).
"""

import re
from collections.abc import Sequence

from locust_agents.cluster.vitals.memory_sample import Pressure, Sample

_PROCESS = re.compile(r"^\S.* \[(\d+)\]:.*\bFootprint:", re.MULTILINE)
_SIZE = r"(\d[\d.,]*) ?([KMGT]?)B?"
_NOW = re.compile(rf"^\s*phys_footprint: {_SIZE}\s*$", re.MULTILINE)
_PEAK = re.compile(rf"^\s*phys_footprint_peak: {_SIZE}\s*$", re.MULTILINE)
_TOP = re.compile(rf"^\s*(\d+)[*+-]?\s+{_SIZE}[+-]?\s*$", re.MULTILINE)
_SWAP = re.compile(rf"vm\.swapusage:.*\bused = {_SIZE}")
_LEVEL = re.compile(r"kern\.memorystatus_vm_pressure_level: (\d)")
_LEVELS: dict[str, Pressure] = {"1": "normal", "2": "warn", "4": "critical"}
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def command(pids: Sequence[int]) -> str:
    """What a shell is told; of the two ways to a footprint the second is taken only when the first one fails."""
    footprint = "footprint -f bytes --noCategories" + "".join(f" -p {pid}" for pid in pids)
    top = "top -l 1 -stats pid,mem" + "".join(f" -pid {pid}" for pid in pids)
    sysctl = "sysctl vm.swapusage kern.memorystatus_vm_pressure_level"
    return f"{footprint} || {top}; {sysctl}" if pids else sysctl


def parse(text: str) -> Sample:
    """What the command printed; a process that neither footprint nor top could see is left out."""
    used = {int(pid): _bytes(*size) for pid, *size in _TOP.findall(text)}
    highest: dict[int, int] = {}
    _before, *sections = _PROCESS.split(text)
    for pid, section in zip(sections[::2], sections[1::2], strict=True):
        if now := _NOW.search(section):
            used[int(pid)] = _bytes(*now.groups())
        if peak := _PEAK.search(section):
            highest[int(pid)] = _bytes(*peak.groups())
    swap, level = _SWAP.search(text), _LEVEL.search(text)
    return Sample(
        used=used,
        figure="footprint",
        highest=highest,
        swap_used=_bytes(*swap.groups()) if swap else None,
        pressure=_LEVELS.get(level[1]) if level else None,
    )


def _bytes(number: str, unit: str) -> int:
    """Apple's tools count 1024 to the K. A comma may part thousands or, from sysctl in some languages, a fraction."""
    plain = re.sub(r",(?=\d{3}(?:\D|$))", "", number).replace(",", ".")
    return round(float(plain) * _UNITS[unit])
