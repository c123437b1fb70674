"""The frame of every page that a run, a sweep or a comparison leaves: one file that asks nobody for anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import jinja2
from markupsafe import Markup

from locust_agents.pages.chart import Chart

Tone = Literal["held", "broken", "open"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a person who reads no further must know: a word or two, then sentences. The tone is its colour."""

    word: str
    tone: Tone
    sentences: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what is below it, in order; one without parts is left out. `key` is its place in the address."""

    key: str
    title: str
    parts: Sequence[Markup | Chart]


def page(title: str, verdict: Verdict, sections: Sequence[Section], told: Sequence[str] = ()) -> str:
    """HTML in which every text is escaped but a Markup. `told` are lines below the title: when, on what.

    The charts and their script are inside, and a policy that forbids the browser to fetch anything.
    """
    shown = [section for section in sections if section.parts]
    script, places = _embedded([part for section in shown for part in section.parts if isinstance(part, Chart)])
    return (
        _environment()
        .get_template("frame.html")
        .render(
            title=title,
            verdict=verdict,
            sections=shown,
            told=told,
            script=script,
            places=places,
            library=_library(script),
        )
    )


def _environment() -> jinja2.Environment:
    loader = jinja2.PackageLoader("locust_agents.pages", ".")
    made = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.tests["chart"] = lambda part: isinstance(part, Chart)
    made.filters["identity"] = id
    return made


def _embedded(charts: Sequence[Chart]) -> tuple[Markup, dict[int, Markup]]:
    """The script that draws the charts, and the place of each by the chart's identity."""
    if not charts:
        return Markup(), {}
    from bokeh.embed import components

    script, places = components([chart.model for chart in charts], wrap_script=False)
    return Markup(script), {id(chart): Markup(place) for chart, place in zip(charts, places, strict=True)}


def _library(script: str) -> Markup:
    """Bokeh's JavaScript as it lies in its package: the core alone, which is all that our charts use."""
    if not script:
        return Markup()
    from bokeh.resources import Resources

    return Markup("\n").join(Markup(code) for code in Resources(mode="inline", components=["bokeh"]).js_raw)
