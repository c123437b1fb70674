"""What capacity.json holds of a search: the answer, and every step with its runs and figures."""

from collections.abc import Mapping
from typing import Any

from locust_agents.capacity import search as capacity
from locust_agents.capacity import sentence, waiting
from locust_agents.capacity.judging import LEVEL, Figure
from locust_agents.capacity.steps import Series, Step

SCHEMA = 1


def document(series: Series, status: int, error: str | None = None) -> Mapping[str, Any]:
    """`keeps` and `breaks` are values of `over`, null where none is known; `waiting` are shares by agent."""
    known = capacity.found(series.known())
    search = series.question.search
    return {
        "schema": SCHEMA,
        "exit_status": status,
        "error": error,
        "scenario": series.question.scenario.name,
        "folder": str(series.folder.absolute()),
        "over": search.over,
        "from": search.lowest,
        "to": search.highest,
        "limits": {limit.key: limit.text for limit in series.question.scenario.limits},
        "sentence": sentence.sentence(series, known),
        "keeps": known.keeps,
        "breaks": known.breaks,
        "undecided": list(known.undecided),
        "remarks": sentence.remarks(series, known),
        "level": LEVEL,
        "steps": [_step(step) for step in series.steps],
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "value": step.value,
        "verdict": step.verdict,
        "agents": step.agents,
        "turns": len(step.records),
        "right": step.call.right,
        "runs": [run.name for run in step.runs],
        "untrusted": list(step.untrusted),
        "figures": [_figure(figure) for figure in step.call.figures],
        "waiting": {agent: round(share, 4) for agent, share in waiting.shares(step.records).items()},
    }


def _figure(figure: Figure) -> dict[str, Any]:
    value = figure.value
    return {
        "limit": figure.limit.key,
        "entry": figure.entry,
        "stat": figure.stat,
        "value": None if value is None else round(value.value, 6),
        "is_more": None if value is None else value.is_more,
        "low": None if figure.low is None else round(figure.low, 6),
        "high": None if figure.high is None else round(figure.high, 6),
        "turns": figure.turns,
        "word": figure.word,
    }
