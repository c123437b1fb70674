"""What hosts print about their memory. The macOS texts are of our own making: not seen on a Mac."""

import os
import subprocess

import pytest

from locust_agents.cluster.vitals import memory, memory_linux, memory_macos
from locust_agents.cluster.vitals.memory_sample import Sample

GIB = 2**30

# Not seen on a Mac.
MACOS = """Darwin
======================================================================
python3.12 [4321]: 64-bit    Footprint: 412316860416 B (16384 bytes per page)
======================================================================

Auxiliary data:
    phys_footprint: 412316909568 B
    phys_footprint_peak: 430000000000 B
======================================================================
python3.12 [4322]: 64-bit    Footprint: 1884592 B (16384 bytes per page)
======================================================================

Auxiliary data:
    phys_footprint: 1900976 B

vm.swapusage: total = 2048.00M  used = 1001.50M  free = 1046.50M  (encrypted)
kern.memorystatus_vm_pressure_level: 2
"""
# Not seen on a Mac.
MACOS_TOP = """Welcome to mac2
Darwin
Processes: 512 total, 3 running, 509 sleeping, 2400 threads
2026/11/30 05:20:11
Load Avg: 2.10, 1.90, 1.80
PhysMem: 480G used (20G wired, 0B compressor), 32G unused.

PID   MEM
4321  384G+
4322* 1856K
vm.swapusage: total = 0.00M  used = 0.00M  free = 0.00M
kern.memorystatus_vm_pressure_level: 4
"""
LINUX = """Linux
Pid:\t4321
VmHWM:\t  500000 kB
VmRSS:\t  400000 kB
Pid:\t4322
VmHWM:\t  300000 kB
VmRSS:\t  200000 kB
SwapTotal:       8000 kB
SwapFree:        7000 kB
some avg10=0.00 avg60=0.00 avg300=0.00 total=0
full avg10=0.00 avg60=0.00 avg300=0.00 total=0
"""


def test_macos_footprint() -> None:
    assert memory.parse(MACOS) == Sample(
        used={4321: 412316909568, 4322: 1900976},
        figure="footprint",
        highest={4321: 430000000000},
        swap_used=round(1001.5 * 2**20),
        pressure="warn",
    )


def test_macos_top_where_footprint_sees_nothing() -> None:
    expected = Sample({4321: 384 * GIB, 4322: 1856 * 1024}, "footprint", {}, 0, "critical")
    assert memory.parse(MACOS_TOP) == expected


def test_macos_top_fills_what_footprint_left_out() -> None:
    mixed = MACOS.split("python3.12 [4322]")[0] + "PID MEM\n4321 1G\n4322 5M-\n"
    assert memory.parse(mixed).used == {4321: 412316909568, 4322: 5 * 2**20}


@pytest.mark.parametrize(
    ("text", "swap_used", "pressure", "remark"),
    [
        ("vm.swapusage: total = 2048,00M  used = 1001,50M  free = 1046,50M", round(1001.5 * 2**20), None, "a comma"),
        ("vm.swapusage: total = 20.00G  used = 1,024.00M  free = 19.00G", GIB, None, "thousands"),
        ("kern.memorystatus_vm_pressure_level: 1", None, "normal", "level 1"),
        ("kern.memorystatus_vm_pressure_level: 3", None, None, "a level that is none"),
        ("sysctl: unknown oid 'vm.swapusage'", None, None, "no such figure"),
        ("", None, None, "nothing"),
    ],
)
def test_macos_swap_and_pressure(text: str, swap_used: int | None, pressure: str | None, remark: str) -> None:
    sample = memory_macos.parse(text)
    assert (sample.swap_used, sample.pressure, sample.used) == (swap_used, pressure, {}), remark


def test_linux() -> None:
    used, highest = {4321: 400_000 * 1024, 4322: 200_000 * 1024}, {4321: 500_000 * 1024, 4322: 300_000 * 1024}
    assert memory.parse(LINUX) == Sample(used, "rss", highest, 1000 * 1024, "normal")
    assert memory.parse(LINUX.replace("\n", "\r\n")) == memory.parse(LINUX)


@pytest.mark.parametrize(
    ("text", "sample", "remark"),
    [
        ("Pid:\t7\nState:\tZ\n", Sample(), "a dead process holds nothing"),
        ("some avg10=12.00 x\nfull avg10=3.00 x\n", Sample(pressure="warn"), "some wait"),
        ("some avg10=60.00 x\nfull avg10=31.00 x\n", Sample(pressure="critical"), "all wait"),
        ("some avg10=0.10 x\n", Sample(pressure="normal"), "an old kernel"),
        ("", Sample(), "no PSI, no process"),
    ],
)
def test_linux_corners(text: str, sample: Sample, remark: str) -> None:
    assert memory_linux.parse(text) == sample, remark


def test_another_system_has_ps_only() -> None:
    assert memory.parse("FreeBSD\n  4321  1000\n 4322   20\n") == Sample({4321: 1_024_000, 4322: 20_480})


def test_command_names_every_pid_in_each_way() -> None:
    line = memory.command([41, 42])
    assert "footprint -f bytes --noCategories -p 41 -p 42 || top -l 1 -stats pid,mem -pid 41 -pid 42" in line
    assert "/proc/41/status /proc/42/status" in line
    assert "ps -o pid= -o rss= -p 41,42" in line
    assert "\n" not in line


def test_command_is_a_shell_line_also_without_pids() -> None:
    printed = subprocess.run(["/bin/sh", "-c", memory.command([])], capture_output=True, text=True, check=True)
    assert printed.stderr == ""
    assert memory.parse(printed.stdout).used == {}


def test_command_and_files_tell_the_same_of_this_process() -> None:
    here, by_command = memory.sample([os.getpid()]), memory.sample([os.getpid()], memory.shell)
    assert here.used.keys() == by_command.used.keys() == {os.getpid()}
    assert 2**20 < here.used[os.getpid()] <= here.highest[os.getpid()] < 2**40
    assert (here.figure, here.swap_used is None) == (by_command.figure, by_command.swap_used is None)


def test_a_pid_that_is_gone_has_no_figure_and_no_other_gets_in() -> None:
    assert memory.sample([2**30]).used == {}
    assert memory.sample([4322], lambda _: LINUX).used == {4322: 200_000 * 1024}
