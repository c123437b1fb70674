"""What the tab says of the cluster: read from what the run itself notes in cluster.jsonl, a little at a time."""

import json
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from locust_agents import event_words
from locust_agents.cluster.byte_sizes import size_text
from locust_agents.quantities import UNKNOWN, counted

_MOST_BYTES = 262_144
_NOTES = 8
# What is shown in a place of its own, comes all the time, or is of no use while the run goes on.
_SILENT = frozenset(
    {"machine", "memory", "cache", "prefill", "launch", "calibration", "timing", "curve", "load", "drain", "listening"}
)


class ClusterNews:
    """Of one run's folder. Each look reads what was written since the last."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "cluster.jsonl"
        self._offset = 0
        self._memory: dict[str, tuple[int, int]] = {}
        self._hosts: dict[str, str] = {}
        self._cache: Mapping[str, Any] = {}
        self._notes: deque[dict[str, Any]] = deque(maxlen=_NOTES)

    def look(self) -> None:
        """A line is written whole; what is half there is read the next time."""
        try:
            with self._path.open("rb") as lines:
                lines.seek(self._offset)
                new = lines.read(_MOST_BYTES)
        except OSError:
            return  # a full disk, or a folder that was removed: the run itself will say so
        whole = new[: new.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in whole.splitlines():
            self._take(json.loads(line))

    def told(self, ranks: int | None) -> dict[str, Any]:
        """Ranks with what they use and the most that it was, the prompt cache of rank 0, and what happened last."""
        names = sorted({*self._memory, *(str(rank) for rank in range(ranks or 0))}, key=int)
        return {
            "ranks": [[f"rank {name}", self._hosts.get(name, UNKNOWN), *self._sizes(name)] for name in names],
            "cache": self._cache_words(),
            "notes": list(self._notes),
        }

    def _sizes(self, rank: str) -> tuple[str, str]:
        used, most = self._memory.get(rank, (None, None))
        return (UNKNOWN if used is None else size_text(used)), (UNKNOWN if most is None else size_text(most))

    def _cache_words(self) -> str:
        sequences, size_gb = self._cache.get("sequences"), self._cache.get("size_gb")
        if sequences is None:
            return UNKNOWN
        size = "" if size_gb is None else f", {size_gb:.2f} GB"
        return f"{counted(sequences, 'sequence')}{size}"

    def _take(self, line: Mapping[str, Any]) -> None:
        event = line.get("event")
        if event == "cache":
            self._cache = line
        if event == "memory" and isinstance(line.get("ranks"), dict):
            for rank, used in line["ranks"].items():
                self._hosts[rank] = str(line.get("host"))
                self._memory[rank] = (used, max(used, self._memory.get(rank, (0, 0))[1]))
        if event not in _SILENT or "unknown" in line:
            self._notes.append({"at": line.get("time"), "what": event_words.said(line)})
