"""Decides what is said to have changed between two runs before their figures are compared, key by key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import yaml

from locust_agents.quantities import UNKNOWN, joined

About = Literal["model", "options", "machine", "versions", "scenario"]

_ORDER: tuple[About, ...] = ("model", "options", "machine", "versions", "scenario")
_STARTS: Mapping[str, About] = {
    "server.launch.model": "model",
    "server.options.": "options",
    "server.env.": "options",
    "machine.": "machine",
    "versions.": "versions",
}
_LONGEST = 40
_LABEL = "changed  "
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Difference:
    """One key, dotted, with its values in both runs as YAML writes them; a dash where a run does not have it."""

    about: About
    key: str
    a: str
    b: str

    def __str__(self) -> str:
        return f"{self.key} {self.a} → {self.b}"


def find(
    scenarios: tuple[Mapping[str, Any], Mapping[str, Any]], summaries: tuple[Mapping[str, Any], Mapping[str, Any]]
) -> tuple[Difference, ...]:
    """Of the resolved scenarios, and of the machine and versions that both summaries name; in order of `About`."""
    a, b = (
        dict(_flat({**scenario, **_measured_on(summary, summaries)}))
        for scenario, summary in zip(scenarios, summaries, strict=True)
    )
    changed = [key for key in dict.fromkeys((*a, *b)) if a.get(key, _MISSING) != b.get(key, _MISSING)]
    found = [Difference(_about(key), key, _shown(a, key), _shown(b, key)) for key in changed]
    return tuple(sorted(found, key=lambda one: _ORDER.index(one.about)))


def unknown(summaries: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What one of the runs did not write down, so that it may have changed unseen."""
    return tuple(name for name in ("machine", "versions") if any(name not in _named(one) for one in summaries))


def lines(found: Sequence[Difference], unseen: Sequence[str]) -> list[str]:
    """In 80 columns; that nothing changed is said too."""
    said = [str(one) for one in found] or ["nothing in scenario, options and model"]
    if unseen:
        said.append(f"({' and '.join(unseen)} not recorded)")
    elif not found:
        said = ["nothing: the same scenario, options, model, machine and versions"]
    rows = joined(said, " · ", 80 - len(_LABEL))
    return [f"{_LABEL if number == 0 else ' ' * len(_LABEL)}{row}" for number, row in enumerate(rows)]


def _named(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Machine and versions apart, wherever the versions stand."""
    machine = dict(summary.get("machine") or {})
    versions = summary.get("versions") or machine.pop("versions", None)
    return {name: value for name, value in (("machine", machine), ("versions", versions)) if value}


def _measured_on(summary: Mapping[str, Any], summaries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    unseen = unknown(summaries)
    return {name: value for name, value in _named(summary).items() if name not in unseen}


def _flat(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _about(key: str) -> About:
    return next((about for start, about in _STARTS.items() if key.startswith(start)), "scenario")


def _shown(values: Mapping[str, Any], key: str) -> str:
    if key not in values:
        return UNKNOWN
    value = values[key]
    plain = value if isinstance(value, str) else yaml.safe_dump(value, default_flow_style=True, width=1_000_000)
    text = " ".join(plain.removesuffix("...\n").split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
