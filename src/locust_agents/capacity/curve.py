"""The curve of a search for capacity in 80 columns: for each value, the figure that decides and who waited."""

from collections.abc import Sequence

from rich.cells import cell_len

from locust_agents import limit_units
from locust_agents.capacity import search, words
from locust_agents.capacity import sentence as capacity_sentence
from locust_agents.capacity import waiting as capacity_waiting
from locust_agents.capacity.judging import LEVEL, Figure
from locust_agents.capacity.search import Found, Verdict
from locust_agents.capacity.steps import Series, Step
from locust_agents.limit_units import in_unit
from locust_agents.limits import METRICS, Limit
from locust_agents.quantities import UNKNOWN, WIDTH, joined, share

_BADNESS = ("silent", "kept", "few", "noisy", "broken")
_WIDEST_GAP = 3


def text(series: Series) -> str:
    """All that is said at the end; the sentence comes last."""
    known = search.found(series.known())
    said = [*capacity_sentence.remarks(series, known), capacity_sentence.sentence(series, known)]
    return "\n".join([*curve(series, known), *waited(series, known), *(_wrapped(one) for one in said)])


def curve(series: Series, known: Found) -> list[str]:
    """A row for each value that was tried, under the limit that broke, else the first that the user wrote."""
    figure = capacity_sentence.broken(series, known)
    limit = series.question.limits[0] if figure is None else figure.limit
    between = f"{LEVEL * 100:.0f} % between"
    title = words.title(limit)
    head = (series.question.noun, "turns", title, between, "verdict", "waiting p50", "worst")
    ordered = sorted(series.steps, key=lambda step: step.value)
    return _aligned([head, *(_row(step, limit) for step in ordered)]) if ordered else []


def step_line(series: Series, step: Step) -> str:
    """What is said as a step ends: its verdict, and the figure of the limit that the user wrote first."""
    limit = series.question.limits[0]
    figure = worst(step, limit)
    value = UNKNOWN if figure is None else in_unit(figure.value, limit)
    return f"{words.named(series.question, step.value)}: {step.verdict} ({words.title(limit)} {value})"


def waited(series: Series, known: Found) -> list[str]:
    """Of the answer's value, or of the least that was tried where none keeps."""
    step = series.step(known.keeps) or min(series.steps, key=lambda step: step.value, default=None)
    waiting = None if step is None else capacity_waiting.waiting(capacity_waiting.shares(step.records))
    if step is None or waiting is None:
        return []
    at = f"at {words.named(series.question, step.value)}, waiting for a first token takes"
    return [
        _wrapped(
            f"{at} {share(waiting.median)} of the median agent's session, {share(waiting.worst)} of {waiting.agent}'s"
        )
    ]


def worst(step: Step, limit: Limit) -> Figure | None:
    """What the entry that did worst made of a limit."""
    sign = 1 if METRICS[limit.metric].at_most else -1
    meant = [figure for figure in step.call.figures if figure.limit.key == limit.key]

    def badness(figure: Figure) -> tuple[int, float]:
        return _BADNESS.index(figure.word), sign * (figure.value.value if figure.value else 0.0)

    return max(meant, key=badness, default=None)


def _row(step: Step, limit: Limit) -> tuple[str, ...]:
    figure = worst(step, limit)
    waiting = capacity_waiting.waiting(capacity_waiting.shares(step.records))
    return (
        str(step.value),
        str(len(step.records)),
        UNKNOWN if figure is None else in_unit(figure.value, limit),
        words.interval(figure),
        str(step.verdict) + _other(step, limit),
        UNKNOWN if waiting is None else share(waiting.median),
        UNKNOWN if waiting is None else share(waiting.worst),
    )


def _other(step: Step, limit: Limit) -> str:
    """What broke, where it is not what the column shows."""
    broken = [figure.limit for figure in step.call.figures if figure.word == "broken"]
    if step.verdict is not Verdict.BREAKS or any(one.key == limit.key for one in broken):
        return ""
    return f" {limit_units.name(broken[0].metric)}" if broken else " right"


def _wrapped(sentence: str) -> str:
    return "\n".join(joined(sentence.split(" "), " ", WIDTH))


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns to the right, the verdict to the left, with as much room between them as there is."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    gap = " " * max(1, min(_WIDEST_GAP, (WIDTH - sum(widths)) // (len(widths) - 1)))
    left = rows[0].index("verdict")
    return [gap.join(_padded(row[n], widths[n], n == left) for n in range(len(widths))) for row in rows]


def _padded(text: str, width: int, left: bool) -> str:
    blanks = " " * (width - cell_len(text))
    return text + blanks if left else blanks + text
