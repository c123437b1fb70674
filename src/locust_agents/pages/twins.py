"""Decides what a run's page shows of its twins: the sentence, and the pairs that differ most."""

from collections.abc import Sequence

from markupsafe import Markup

from locust_agents import twin_lines
from locust_agents.pages.table import paragraph, table
from locust_agents.quantities import count, seconds
from locust_agents.twins import Pair, Pairs


def parts(found: Sequence[Pairs]) -> list[Markup]:
    """Nothing where no entry is a twin."""
    return [part for one in found for part in _of(one)]


def _of(one: Pairs) -> list[Markup]:
    said = paragraph(f"{twin_lines.sentence(one)}.")
    return [said, _worst(one)] if one.worst else [said]


def _worst(one: Pairs) -> Markup:
    return table(
        f"Where {one.entry} waited longest beyond {one.repeats}; agents and sessions have these numbers in both",
        ("turn", "kind", f"prompt, {one.repeats}", one.entry, f"TTFT, {one.repeats}", one.entry, "difference"),
        [_row(pair) for pair in one.worst],
        numbers=range(2, 7),
    )


def _row(pair: Pair) -> Sequence[str]:
    return (
        twin_lines.place(pair),
        pair.kind,
        count(pair.twin_prompt_tokens),
        count(pair.prompt_tokens),
        seconds(pair.twin_ttft),
        seconds(pair.ttft),
        twin_lines.difference(pair),
    )
