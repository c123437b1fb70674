"""What the page of a comparison holds: the verdict, what changed, then how far B lies from A."""

from collections.abc import Sequence

from markupsafe import Markup

from locust_agents.compare import cells as compare_cells
from locust_agents.compare import chart as compare_chart
from locust_agents.compare import verdict as compare_verdict
from locust_agents.compare.compared import Compared
from locust_agents.compare.comparing import Figure, Group
from locust_agents.pages import frame
from locust_agents.pages.chart import Chart
from locust_agents.pages.frame import Section, Tone, Verdict
from locust_agents.pages.table import paragraph, table

_TONES: dict[str, Tone] = {"worse": "broken", "better": "held", "not different": "held"}
_WORD_TONES = {"worse": "broken", "broken": "broken", "better": "held", "held": "held"}
_NO_TONE = "noise"


def render(
    of: tuple[str, str], done: Sequence[Compared], alone: Sequence[tuple[str, str]] = (), everything: bool = False
) -> str:
    """The page as text. `of` are the names of A and B, `alone` cells that one of them has and which."""
    whole = "A and B" if done[0].cell == "" else "sweeps A and B"
    verdict = _verdict(done[0]) if len(done) == 1 else _of_cells(done)
    sections = [*([_cells(done, alone)] if done[0].cell else [])]
    for number, one in enumerate(done):
        sections += _sections(one, f"-{number}" if number else "", everything)
    return frame.page(f"Comparison of {whole}", verdict, sections, [f"A: {of[0]}", f"B: {of[1]}"])


def _verdict(one: Compared) -> Verdict:
    found = one.verdict
    word = f"B is {found.word}" if found.word != "not decided" else "not decided"
    return Verdict(f"{word} (status {found.status})", _tone(one), [_sentence(one), *_only(one)])


def _tone(one: Compared) -> Tone:
    if one.verdict.status == compare_verdict.UNTRUSTED:
        return "open"
    return _TONES.get(one.verdict.word, "open")


def _sentence(one: Compared) -> str:
    return compare_cells.verdict_line(one.verdict)


def _only(one: Compared) -> list[str]:
    return [f"only {run} has turns of {entry}" for run, entry in compare_cells.alone(one.found)]


def _of_cells(done: Sequence[Compared]) -> Verdict:
    """One for all cells: worse in any is worse."""
    words = [one.verdict.word for one in done]
    counts = ", ".join(f"{word} in {words.count(word)}" for word in dict.fromkeys(words))
    tones = [_tone(one) for one in done]
    tone: Tone = next((one for one in ("broken", "open", "held") if one in tones), "open")
    worst = next((one for one in done if _tone(one) == tone), done[0])
    return Verdict(f"Of {len(done)} cells, B is {counts}", tone, [f"{worst.cell}: {_sentence(worst)}"])


def _cells(done: Sequence[Compared], alone: Sequence[tuple[str, str]]) -> Section:
    rows = [(one.verdict.word, one.cell, _sentence(one)) for one in done]
    rows += [("not compared", name, f"only {run} has this cell") for name, run in alone]
    tones = [*map(_tone, done), *("open" for _ in alone)]
    made = table("Cells of the same name in both sweeps", ("B is", "cell", ""), rows, classes={2: "text"}, tones=tones)
    return Section("cells", "Cells", [made])


def _sections(one: Compared, key: str, everything: bool) -> list[Section]:
    shown = compare_cells.shown(one.found.figures, everything)
    figures = [figure for group in shown.values() for figure in group]
    charts = [chart for chart in (compare_chart.quotients(figures), compare_chart.points(figures)) if chart]
    rest = len(one.found.figures) - len(figures)
    cell = f"{one.cell}: " if one.cell else ""
    parts: list[Markup | Chart] = [part for group, some in shown.items() for part in _table(group, some, one)]
    if rest:
        parts.append(paragraph(f"{rest} more are noise, or of too few turns; compare --all shows them."))
    return [
        Section(f"changed{key}", f"{cell}What changed", [_changed(one)]),
        Section(f"allowed{key}", f"{cell}What was allowed", _allowed(one)),
        Section(f"differences{key}", f"{cell}How far B lies from A", charts),
        Section(f"figures{key}", f"{cell}Figures", parts),
    ]


def _changed(one: Compared) -> Markup:
    unseen = f" Not recorded by both: {' and '.join(one.unseen)}." if one.unseen else ""
    if not one.changed:
        known = "scenario, options and model" if one.unseen else "scenario, options, model, machine and versions"
        return paragraph(f"Nothing: the same {known}.{unseen}")
    return table(
        f"Of the resolved scenarios, the machine and the versions.{unseen}",
        ("", "key", "A", "B"),
        [(change.about, change.key, change.a, change.b) for change in one.changed],
        classes={2: "text", 3: "text"},
    )


def _allowed(one: Compared) -> list[Markup | Chart]:
    if one.held is None:
        return []
    rows = compare_cells.allowances(one.allowed, one.held)
    tones = [_WORD_TONES.get(word, "open") for word, _ in rows]
    return [table("Broken where the whole interval is worse than that", ("", "allowance"), rows, tones=tones)]


def _table(group: Group, figures: Sequence[Figure], one: Compared) -> tuple[Markup, Markup]:
    name = Markup("<h3>{}</h3>").format(" ".join(filter(None, group)))
    of = compare_cells.drawn_from(figures, one.found.designs[group[0]])
    first, *heads, last = compare_cells.HEADS
    rows = [(cells[-1], *cells[:-1]) for cells in map(compare_cells.cells, figures)]
    tones = [_WORD_TONES.get(figure.word, "open" if figure.word == "open" else _NO_TONE) for figure in figures]
    return name, table(of, (last, first or "figure", *heads), rows, numbers=range(2, 6), tones=tones)
