"""Decides how the findings of a probe read: one line for each host, and one below it for each further finding."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from locust_agents.cluster.probe.across import size
from locust_agents.cluster.probe.answer import Answer
from locust_agents.cluster.probe.findings import Finding
from locust_agents.cluster.probe.sites import Link, Site

# the script's keys, as they read; what is not here is for our own use
_SPOKEN = {
    "memory": "memory",
    "ports": "listeners",
    "servers": "processes",
    "sleep": "sleep settings",
    "firewall": "firewall",
    "rdma": "RDMA devices",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One host: its answer, None where there is no whole one, what was found, and what could not be asked.

    `reached` are the links at whose end it listens and somebody got through.
    """

    site: Site
    answer: Answer | None
    findings: tuple[Finding, ...]
    skipped: tuple[str, ...] = ()
    reached: tuple[Link, ...] = ()

    @property
    def is_ok(self) -> bool:
        """Whether nothing has to be mended."""
        return not any(finding.is_fault for finding in self.findings)


def lines(entries: Sequence[Entry]) -> list[str]:
    """The whole table."""
    labels = max(len(entry.site.label) for entry in entries)
    names = max(len(entry.site.name) for entry in entries)
    printed: list[str] = []
    for entry in entries:
        head = f"{entry.site.label:{labels}}  {entry.site.name:{names}}  "
        for status, text in _said(entry):
            printed.append(f"{head}{status:4}  {text}")
            head = " " * len(head)
    return printed


def skipped(answer: Answer) -> tuple[str, ...]:
    """What the platform could not tell, by name, the names with one reason together."""
    reasons: dict[str, list[str]] = {}
    for key, reason in answer.skipped.items():
        if key in _SPOKEN:
            reasons.setdefault(reason, []).append(_SPOKEN[key])
    return tuple(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())


def _said(entry: Entry) -> Iterator[tuple[str, str]]:
    if entry.is_ok:
        yield "ok", ", ".join(_facts(entry))
    yield from (("FIX", finding.text) for finding in entry.findings if finding.is_fault)
    yield from (("note", finding.text) for finding in entry.findings if not finding.is_fault)
    if entry.skipped:
        yield "skip", "; ".join(entry.skipped)


def _facts(entry: Entry) -> Iterator[str]:
    if entry.answer is not None:
        sizes = {"model": entry.answer.weight_bytes, "memory": entry.answer.memory_bytes}
        yield from (f"{name} {version}" for name, version in entry.answer.versions.items())
        yield from (f"{name} {size(count)}" for name, count in sizes.items() if count)
    yield from (f"port {link.port} open to rank {link.caller}" for link in entry.reached)
