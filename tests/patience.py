"""What a slow machine may do to a test, which is to take long: no test fails because of that."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

Made = TypeVar("Made")

PATIENCE_S = 300.0
"""How long a test waits for what should come: what takes longer hangs."""

_BUSY = re.compile(r"doubt +(the client's own loop was|turns started) .* late, more than|doubt +the client used \d+ %")


def is_sound(status: int, printed: str) -> bool:
    """Whether a run ended with 0, or with 4 for nothing but a machine that was busy with other things."""
    doubts = re.findall(r"^ *doubt .*(?:\n {7,}.*)*", printed, re.MULTILINE)
    return status == 0 or (status == 4 and bool(doubts) and all(_BUSY.search(" ".join(one.split())) for one in doubts))


def is_sound_run(summary: dict[str, Any]) -> bool:
    """The same of what summary.json holds."""
    return is_sound(summary["exit_status"], _as_printed(summary["trust"]["doubts"]))


def was_disturbed(folder: Path, complained: str = "") -> bool:
    """Whether the run in a folder, or what it complained of, tells of a machine that was busy with other things."""
    file = folder / "summary.json"
    summary = json.loads(file.read_text()) if file.exists() else {}
    doubts = (summary.get("trust") or {}).get("doubts", [])
    is_late = "others use this server" in f"{complained} {summary.get('error')}"
    return is_late or any(_BUSY.search(_as_printed([doubt])) for doubt in doubts)


def undisturbed(make: Callable[[], Made], is_disturbed: Callable[[Made], bool], times: int = 5) -> Made:
    """What it makes at the first time that nothing disturbs, or at the last."""
    made = make()
    for _ in range(times - 1):
        if not is_disturbed(made):
            break
        made = make()
    return made


def _as_printed(doubts: Sequence[str]) -> str:
    return "\n".join(f"doubt  {doubt}" for doubt in doubts)
