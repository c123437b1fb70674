"""Our section in Locust's own report: in the one that is downloaded, and in the file of --html."""

import json
import subprocess
import sys
from pathlib import Path

from tests.made_run import make
from tests.patience import PATIENCE_S

SCRIPT = Path(__file__).parent / "gevent_scripts" / "drive_stock_report.py"


def test_locusts_report_has_our_table(tmp_path: Path) -> None:
    folder = make(tmp_path / "a & b", 60)
    printed = subprocess.run(
        [sys.executable, SCRIPT, folder], capture_output=True, text=True, check=True, timeout=PATIENCE_S
    )
    pages = json.loads(printed.stdout)
    assert 'id="locust-agents"' not in pages["before"], "no run has ended yet"
    assert "locust-agents" not in pages["other"]
    for page in (pages["after"], pages["file"]):
        assert page.count('id="locust-agents"') == 1
        section = page[page.index('<section id="locust-agents"') :]
        assert "Coding agents: " in section
        assert '<th scope="row">fixers</th>' in section
        assert "later.ttft.p95" in section
        assert "a%20%26%20b/report.html" in section
        assert section.rstrip().endswith("</html>")
