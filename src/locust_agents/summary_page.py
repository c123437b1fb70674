"""summary.md: a run as it is pasted to colleagues, who must know on what it was measured to believe a figure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from time import gmtime, strftime

from locust_agents import verdict
from locust_agents.cluster.this_machine import Machine
from locust_agents.quantities import UNKNOWN


@dataclass(frozen=True, slots=True)
class Told:
    """What stands above the table. `began` is UNIX seconds, None where no turn began; `trouble` what went wrong."""

    name: str
    run: str
    began: float | None
    exit_status: int
    cluster: str
    trouble: tuple[str, ...] = ()


def render(told: Told, machine: Machine, table: str) -> str:
    """Markdown; the table stands in a code block, which nothing in it can end."""
    began = UNKNOWN if told.began is None else strftime("%Y-%m-%d %H:%M UTC", gmtime(told.began))
    rows = {
        "run": f"{told.run}, {began}",
        "cluster": told.cluster,
        "client": machine_text(machine),
        "versions": versions_text(machine.versions),
    }
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", table)), default=0))
    return "\n".join(
        [
            f"# {_plain(told.name)}: {verdict.word(told.exit_status)} (status {told.exit_status})",
            "",
            "| | |",
            "|---|---|",
            *(f"| {key} | {_plain(text)} |" for key, text in rows.items()),
            "",
            *(line for trouble in told.trouble for line in (f"> {_plain(trouble)}", "")),
            f"{fence}text",
            table,
            fence,
            "",
        ]
    )


def machine_text(machine: Machine) -> str:
    """Memory in GiB, which is what a Mac's label calls GB."""
    cores = "" if machine.cores is None else f", {machine.cores} cores"
    return f"{machine.chip or 'unknown chip'}{cores}, {machine.memory / 2**30:.4g} GiB, {machine.system}"


def versions_text(versions: Mapping[str, str]) -> str:
    """Name and version of each."""
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _plain(text: str) -> str:
    """On one line, with the characters that Markdown would read as its own said literally."""
    # Not an underscore within a word: x86_64 is what it looks like.
    return re.sub(r"[\\`*|<>\[\]#]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", " ".join(text.split()))
