"""The answer of a search for capacity in one sentence, and what makes it less sure than it sounds."""

from locust_agents.capacity import words
from locust_agents.capacity.judging import Figure
from locust_agents.capacity.search import Found
from locust_agents.capacity.steps import Series, Step
from locust_agents.limit_units import in_unit
from locust_agents.limits import Limit
from locust_agents.quantities import share


def sentence(series: Series, known: Found) -> str:
    """`6 agents keep later TTFT p95 ≤ 20 s; 7 do not (28.4 s)`."""
    question = series.question
    limits = words.demands(question)
    if known.keeps is None and known.breaks == question.search.lowest:
        return f"even {words.does(question, known.breaks, 'does', 'do')} not keep {limits}{_why(series, known)}"
    parts = [] if known.keeps is None else [f"{words.does(question, known.keeps, 'keeps', 'keep')} {limits}"]
    if known.undecided:
        parts.append(_undecided(series, known, limits))
    if known.breaks is not None:
        verb = "do" if words.is_plural(question, known.breaks) else "does"
        parts.append(f"{known.breaks} {verb} not{_why(series, known)}")
    elif known.keeps == question.search.highest:
        parts.append("no more were tried (--to)")
    return "; ".join(parts) or "no step has ended: nothing is known"


def remarks(series: Series, known: Found) -> list[str]:
    """Sentences, none where all is as it should be."""
    found = []
    if known.odd:
        odd = ", ".join(map(str, known.odd))
        found.append(f"not monotone: {odd} kept the limits though {known.breaks} did not; more capacity.turns may tell")
    if series.question.scenario.cache == "warm":
        found.append("cache: warm: each step found what the one before had left in the cache")
    found += [f"no turn tells of {words.title(limit)}" for limit in series.question.limits if _is_silent(series, limit)]
    found += [f"{step.value}: a run is not to be trusted: {why}" for step in series.steps for why in step.untrusted]
    return found


def _is_silent(series: Series, limit: Limit) -> bool:
    figures = [figure for step in series.steps for figure in step.call.figures if figure.limit.key == limit.key]
    return bool(figures) and all(figure.word == "silent" for figure in figures)


def broken(series: Series, known: Found) -> Figure | None:
    """Of the least value that breaks a limit, the figure furthest from its bound, in parts of the bound."""
    step = series.step(known.breaks)
    figures = [figure for figure in step.call.figures if figure.word == "broken"] if step else []
    return max(figures, key=_excess, default=None)


def _why(series: Series, known: Found) -> str:
    figure, step = broken(series, known), series.step(known.breaks)
    if step is not None and step.call.right is not None and step.call.right < 1:
        return f" ({share(step.call.right)} of its answers were right)"
    if figure is None:
        return ""
    value = in_unit(figure.value, figure.limit)
    is_only = [limit.key for limit in series.question.limits] == [figure.limit.key]
    return f" ({value})" if is_only else f" ({words.title(figure.limit)} {value})"


def _undecided(series: Series, known: Found, limits: str) -> str:
    first = series.step(known.undecided[0])
    why = "" if first is None else f" ({_doubt(first)})"
    if known.keeps is None:
        whether = words.does(series.question, known.undecided[0], "keeps", "keep")
        return f"undecided whether {whether} {limits}{why}"
    return f"{words.span(known.undecided)} undecided{why}"


def _doubt(step: Step) -> str:
    """What was in the way: an interval with the bound in it, too few turns, or runs that nobody can trust."""
    noisy = max((one for one in step.call.figures if one.word == "noisy"), key=_excess, default=None)
    few = next((one for one in step.call.figures if one.word == "few"), None)
    if step.untrusted and not step.records:
        return "not to be trusted"
    if noisy is not None:
        return f"{words.title(noisy.limit)} {words.interval(noisy)}"
    if few is not None:
        return f"{words.title(few.limit)} of {few.turns} turns only"
    return "no turn tells"


def _excess(figure: Figure) -> float:
    value, bound = figure.value.value if figure.value else 0.0, figure.limit.bound
    return abs(value - bound) / bound if bound else abs(value)
