"""report.html: what a run's page holds, the verdict and its reason first."""

from collections.abc import Sequence
from pathlib import Path
from time import gmtime, strftime
from typing import Any

from markupsafe import Markup

from locust_agents import limit_lines, stored_run, summary_page, trust_lines, verdict
from locust_agents import summary as summaries
from locust_agents.cluster import cluster_words
from locust_agents.cluster.this_machine import Machine
from locust_agents.pages import cluster as html_cluster
from locust_agents.pages import figures, file, frame, ttft_spread, ttft_times, twins, waterfall
from locust_agents.pages import run as html_run
from locust_agents.pages.chart import Chart
from locust_agents.pages.frame import Section, Tone, Verdict
from locust_agents.pages.run import Told
from locust_agents.pages.table import facts, folded, paragraph, table
from locust_agents.quantities import UNKNOWN
from locust_agents.stored_run import StoredRun
from locust_agents.why import lines

NAME = "report.html"
_NOTICED_S = 0.5


def write(told: Told, printed: str, remarks: Sequence[str] = (), path: Path | None = None) -> Path:
    """Writes the page of a run, into its folder unless told otherwise; raises ScenarioError where that cannot be.

    `printed` is what the terminal showed. An older page is replaced at once, or stays.
    """
    return file.write(path or told.run.path / NAME, render(told, printed, remarks))


def render(told: Told, printed: str, remarks: Sequence[str] = ()) -> str:
    """The page as text."""
    run = told.run
    name = str(run.scenario.get("name") or run.path.name)
    return frame.page(name, _verdict(told, remarks), _sections(told, printed), _when(told))


def _verdict(told: Told, remarks: Sequence[str]) -> Verdict:
    status = told.run.summary.get("exit_status")
    tone: Tone = "held" if status == 0 else "broken" if status in (1, 3) else "open"
    broken = [one for one in summaries.worst(told.summary.judgements) if one.held is False]
    return Verdict(
        verdict.word(status) if status is None else f"{verdict.word(status)} (status {status})",
        tone,
        [
            *(f"doubt: {doubt}" for doubt in told.trust.doubts),
            *(f"broken: {limit_lines.sentence(one)}" for one in broken),
            *why(told),
            *remarks,
            *_faults(told.run.summary.get("plugin_faults")),
            *figures.course(told.summary),
        ],
    )


def why(told: Told) -> list[str]:
    """The reasons beside the worst of each entry; gaps and connections that nobody noticed are left out."""
    causes = stored_run.why(told.run)
    return [lines.said(one) for one in causes if one.metric == "ttft" or one.value.value >= _NOTICED_S]


def _faults(found: object) -> list[str]:
    return sorted({str(fault) for fault in found}) if isinstance(found, list) else []


def _when(told: Told) -> list[str]:
    began = "no turn began" if not told.run.records else strftime("%Y-%m-%d %H:%M UTC", gmtime(told.began))
    cluster = _cluster(told.run)
    return [f"{told.run.path.resolve().name}, {began}", *([cluster] if cluster else [])]


def _cluster(run: StoredRun) -> str:
    scenario = stored_run.scenario(run)
    return "" if scenario is None else cluster_words.of_server(scenario.server)


def _sections(told: Told, printed: str) -> list[Section]:
    return [
        Section("limits", "Limits", [figures.limits(told.summary)] if told.summary.judgements else []),
        Section("figures", "Figures", _figures(told, printed)),
        Section("ttft", "Time to first token", _some(ttft_times.over_time(told), ttft_spread.distribution(told))),
        Section("pairs", "Twins", twins.parts(told.summary.pairs)),
        Section("turns", "Turns beside each other", waterfall.parts(told)),
        Section("misses", "What was read again", _some(figures.misses(told))),
        Section("cluster", "Cluster", [*html_cluster.charts(told), *_happenings(told)]),
        Section("failures", "Failures", [_failures(told)]),
        Section("scenario", "Scenario", [folded("As it was resolved", told.run.scenario_text or UNKNOWN)]),
        Section("machine", "Versions and machine", [_machine(told.run)]),
    ]


def _figures(told: Told, printed: str) -> list[Markup | Chart]:
    if not told.run.records:
        return [paragraph("No turn was taken.")]
    whole = folded("As the terminal showed it, to be copied", printed)
    client = trust_lines.parts(told.trust)
    known = [paragraph(f"The client: {', '.join(client)}.")] if client else []
    return [figures.rows(told.summary), figures.speeds(told.summary), *known, whole]


def _failures(told: Told) -> Markup:
    return figures.failures(stored_run.measured(told.run), told) or paragraph("Every turn ended well.")


def _happenings(told: Told) -> list[Markup]:
    found = html_cluster.happenings(told)
    return [table("What happened to the cluster", ("when", "what"), found, classes={1: "text"})] if found else []


def _machine(run: StoredRun) -> Markup:
    found: dict[str, Any] = html_run.known(Machine, run.summary.get("machine") or {})
    try:
        machine = Machine(**found)
    except TypeError:  # a run that was killed, or of an early release
        return paragraph("Not known: summary.json does not tell.")
    client = summary_page.machine_text(machine)
    return facts({"server": _cluster(run) or UNKNOWN, "client": client, **machine.versions})


def _some(*parts: Markup | Chart | None) -> list[Markup | Chart]:
    return [part for part in parts if part]
