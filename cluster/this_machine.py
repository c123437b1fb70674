"""Decides what is said of the machine that sends the load: chip, memory, system, and the versions of what runs here."""

import functools
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import psutil

PACKAGES = ("locust-agents", "locust", "gevent", "mlx", "mlx-lm")
_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Machine:
    """`memory` in bytes, `cores` as the system counts them; `versions` has only what is installed, Python among it."""

    chip: str | None
    cores: int | None
    memory: int
    system: str
    versions: Mapping[str, str]


@functools.cache
def facts() -> Machine:
    """Of this machine; asked once, since nothing of it changes while we run."""
    return Machine(_chip(), os.cpu_count(), psutil.virtual_memory().total, _system(), _versions())


def chip_of_cpuinfo(text: str) -> str | None:
    """The name in Linux's /proc/cpuinfo, which many ARM machines do not tell."""
    names = (line.partition(":")[2].strip() for line in text.splitlines() if line.startswith("model name"))
    return next((name for name in names if name), None)


def _chip() -> str | None:
    if sys.platform == "darwin":
        return _sysctl("machdep.cpu.brand_string")
    try:
        return chip_of_cpuinfo(Path("/proc/cpuinfo").read_text(errors="replace")) or platform.processor() or None
    except OSError:
        return platform.processor() or None


def _sysctl(name: str) -> str | None:
    """What the kernel calls it, such as "Apple M3 Ultra"; not seen on a Mac."""
    try:
        asked = subprocess.run(
            ["/usr/sbin/sysctl", "-n", name], capture_output=True, text=True, timeout=_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return asked.stdout.strip() or None


def _system() -> str:
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]} {platform.machine()}"
    return f"{platform.system()} {platform.release()} {platform.machine()}"


def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:  # mlx is not everywhere
            continue
    return found
