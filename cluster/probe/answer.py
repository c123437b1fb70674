"""Decides how the lines that a host answered are read: typed values, None for what it did not say."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from locust_agents.cluster.probe.script import BEGIN, END

VERSIONS = {"python": "python_version", "mlx": "mlx", "mlx-lm": "mlx-lm"}
"""What has a version, and under which key the script says it."""

_LISTENER = re.compile(r"(\d+) (\S+) (\d+|\?) ?(.*)")
_SERVER = re.compile(r"(\d+) (\S+)")
_SKIPPED = "skipped "


@dataclass(frozen=True, slots=True)
class Heard:
    """What came back from one command; `status` is None where it had to be ended, after its time."""

    out: str
    err: str
    status: int | None


@dataclass(frozen=True, slots=True)
class Listener:
    """Who holds a port; `pid` is None and `command` empty where the system hides them."""

    port: int
    address: str
    pid: int | None
    command: str

    def blocks(self, ip: str) -> bool:
        """Whether a server that binds this IP alone would meet it."""
        own = re.sub(r"[.:]\d+$", "", self.address).strip("[]")
        return own in ("*", "0.0.0.0", "::", ip)


@dataclass(frozen=True, slots=True)
class Answer:
    """One host's answer. `last` is the key it spoke of last; `is_whole` says that it came to its end.

    `missing` are the keys answered with that word, `skipped` those with the reason why the platform cannot tell;
    `versions` are by the names of `VERSIONS`.
    `sleep_min` is 0 where it never sleeps; `firewall` is macOS's state: 0 off, 1 on, 2 lets nothing in.
    """

    is_whole: bool
    last: str
    missing: frozenset[str]
    skipped: Mapping[str, str]
    versions: Mapping[str, str]
    system: str | None = None
    boot: str | None = None
    memory_bytes: int | None = None
    python: str | None = None
    python_broken: str | None = None
    model: str | None = None
    weight_files: int | None = None
    weight_bytes: int | None = None
    sleep_min: int | None = None
    low_power: int | None = None
    firewall: int | None = None
    rdma: tuple[str, ...] | None = None
    listeners: tuple[Listener, ...] = ()
    servers: tuple[tuple[int, str], ...] = ()


def read(out: str) -> Answer | None:
    """Reads what the script printed; None where it never began."""
    _, began, told = out.partition(f"{BEGIN}\n")
    if not began:
        return None
    pairs = [(key, value) for key, _, value in (line.partition(" ") for line in told.splitlines())]
    said = {key: value for key, value in pairs if value != "missing" and not value.startswith(_SKIPPED)}
    files, size = _counts(said.get("weights", ""))
    return Answer(
        is_whole=(END, "") in pairs,
        last=pairs[-1][0] if pairs else "",
        missing=frozenset(key for key, value in pairs if value == "missing"),
        skipped={key: value.removeprefix(_SKIPPED) for key, value in pairs if value.startswith(_SKIPPED)},
        versions={name: said[key] for name, key in VERSIONS.items() if key in said},
        system=said.get("system"),
        boot=said.get("boot"),
        memory_bytes=_count(said.get("memory")),
        python=said.get("python"),
        python_broken=said.get("python_broken"),
        model=said.get("model"),
        weight_files=files,
        weight_bytes=size,
        sleep_min=_count(said.get("sleep")),
        low_power=_count(said.get("low_power")),
        firewall=_count(said.get("firewall")),
        rdma=tuple(said["rdma"].split()) if "rdma" in said else None,
        listeners=tuple(_listeners(pairs)),
        servers=tuple((int(m[1]), m[2]) for key, value in pairs if key == "server" and (m := _SERVER.match(value))),
    )


def _listeners(pairs: list[tuple[str, str]]) -> list[Listener]:
    found = (_LISTENER.fullmatch(value) for key, value in pairs if key == "listener")
    return [Listener(int(m[1]), m[2], None if m[3] == "?" else int(m[3]), m[4]) for m in found if m]


def _count(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None


def _counts(text: str) -> tuple[int | None, int | None]:
    files, _, size = text.partition(" ")
    return _count(files), _count(size)
