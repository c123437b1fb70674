"""capacity.html: what the page of a search holds, its answer first."""

from collections.abc import Sequence

from markupsafe import Markup

from locust_agents.capacity import chart, curve, sentence, words
from locust_agents.capacity import search as capacity
from locust_agents.capacity import waiting as capacity_waiting
from locust_agents.capacity.judging import LEVEL, Figure
from locust_agents.capacity.search import Found
from locust_agents.capacity.steps import Series, Step
from locust_agents.cluster import cluster_words
from locust_agents.limit_units import in_unit
from locust_agents.limits import Limit
from locust_agents.pages import frame
from locust_agents.pages.chart import Chart
from locust_agents.pages.frame import Section, Tone, Verdict
from locust_agents.pages.table import folded, table
from locust_agents.quantities import UNKNOWN, share
from locust_agents.scenarios import loader

NAME = "capacity.html"
_TONES = {capacity.Verdict.KEEPS: "held", capacity.Verdict.BREAKS: "broken", capacity.Verdict.UNDECIDED: "open"}
_WORD_TONES = {"kept": "held", "broken": "broken"}


def render(series: Series, error: str | None = None) -> str:
    """The page as text; `error` is why the search did not come to its end."""
    known = capacity.found(series.known())
    question = series.question
    title = f"{question.scenario.name}: capacity"
    return frame.page(title, _verdict(series, known, error), _sections(series, known), _told(series))


def _verdict(series: Series, known: Found, error: str | None) -> Verdict:
    tone: Tone = "held" if known.keeps is not None else "open" if known.breaks is None else "broken"
    waited = (line.replace("\n", " ") for line in curve.waited(series, known))
    ended = [] if error is None else [f"it did not come to its end: {error}"]
    sentences = [sentence.sentence(series, known), *waited, *sentence.remarks(series, known), *ended]
    return Verdict(_word(series, known), "open" if error and tone == "broken" else tone, sentences)


def _word(series: Series, known: Found) -> str:
    if known.keeps is not None:
        return words.named(series.question, known.keeps)
    return "undecided" if known.breaks is None or known.undecided else "none keeps the limits"


def _told(series: Series) -> list[str]:
    runs = sum(len(step.runs) for step in series.steps)
    search = series.question.search
    between = f"values of {search.over} between {search.lowest:,} and {search.highest:,}"
    tried = f"tried {len(series.steps)} {between} in {runs} {'run' if runs == 1 else 'runs'} against one server"
    lines = [f"{series.folder.resolve().name}: {tried}"]
    cluster = cluster_words.of_server(series.question.scenario.server)
    return [*lines, cluster] if cluster else lines


def _sections(series: Series, known: Found) -> list[Section]:
    limits = _limits(series, known)
    waits = chart.waits(series)
    return [
        Section("curve", "What decides", _some(chart.curve(series, limits[0]), _steps(series, limits[0]))),
        Section("waiting", "Who waits", _some(waits)),
        Section("others", "The other limits", _some(*(chart.curve(series, limit) for limit in limits[1:]))),
        Section("figures", "Every figure", _some(_figures(series))),
        Section("scenario", "Scenario", [folded("As it was resolved", loader.dump(series.question.scenario))]),
    ]


def _limits(series: Series, known: Found) -> list[Limit]:
    """Those of the user, the one that decides first; any other only where it broke."""
    figure = sentence.broken(series, known)
    of_user = list(series.question.limits)
    first = of_user[0] if figure is None else figure.limit
    return [first, *(limit for limit in of_user if limit.key != first.key)]


def _steps(series: Series, limit: Limit) -> Markup | None:
    if not series.steps:
        return None
    between = f"{LEVEL * 100:.0f} % between"
    steps = sorted(series.steps, key=lambda step: step.value)
    return table(
        "Each value that was tried; “waiting” is the share of its session that an agent waited for first tokens",
        (
            "verdict",
            series.question.noun,
            words.title(limit),
            between,
            "turns",
            "waiting p50",
            "worst",
            "runs",
        ),
        [_step(step, limit) for step in steps],
        numbers=range(1, 7),
        tones=[_TONES[step.verdict] for step in steps],
    )


def _step(step: Step, limit: Limit) -> Sequence[str]:
    figure = curve.worst(step, limit)
    waiting = capacity_waiting.waiting(capacity_waiting.shares(step.records))
    return (
        str(step.verdict),
        f"{step.value:,}",
        UNKNOWN if figure is None else in_unit(figure.value, limit),
        words.interval(figure),
        f"{len(step.records):,}",
        UNKNOWN if waiting is None else share(waiting.median),
        UNKNOWN if waiting is None else share(waiting.worst),
        ", ".join(run.name for run in step.runs),
    )


def _figures(series: Series) -> Markup | None:
    steps = sorted(series.steps, key=lambda step: step.value)
    every = [(step, figure) for step in steps for figure in step.call.figures]
    if not every:
        return None
    return table(
        "What each entry made of each limit at each value",
        ("", series.question.noun, "limit", "entry", "measured", "between", "bound", "turns"),
        [_figure(step, figure) for step, figure in every],
        numbers=(1, 4, 5, 6, 7),
        tones=[_WORD_TONES.get(figure.word, "open") for _, figure in every],
    )


def _figure(step: Step, figure: Figure) -> Sequence[str]:
    return (
        figure.word,
        f"{step.value:,}",
        figure.limit.key,
        figure.entry,
        in_unit(figure.value, figure.limit),
        words.interval(figure),
        figure.limit.text,
        f"{figure.turns:,}",
    )


def _some(*parts: Markup | Chart | None) -> list[Markup | Chart]:
    return [part for part in parts if part is not None]
