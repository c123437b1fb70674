"""The transport, in a process that gevent has patched: its alarm and its sockets are gevent's in every run."""

import re
import subprocess
import sys
from pathlib import Path

from tests.patience import PATIENCE_S

CASES = Path(__file__).with_name("transport_cases.py")
PATCHED = "from gevent import monkey; monkey.patch_all(); import pytest, sys; sys.exit(pytest.main(sys.argv[1:]))"


def test_every_case_of_the_transport() -> None:
    command = [sys.executable, "-c", PATCHED, "-q", str(CASES)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert ended.returncode == 0, ended.stdout[-6000:] + ended.stderr[-2000:]
    [passed] = re.findall(r"(\d+) passed", ended.stdout)
    assert int(passed) > 100
