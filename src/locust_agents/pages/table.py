"""Tables, facts and buttons of a page: everything that is not a Markup is escaped."""

from collections.abc import Collection, Mapping, Sequence

from markupsafe import Markup, escape

Cell = object
"""Its text, escaped; a Markup as it is."""


def table(
    caption: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    numbers: Collection[int] = (),
    classes: Mapping[int, str] | None = None,
    tones: Sequence[str] = (),
) -> Markup:
    """Rows headed by their first cell. `numbers` are the columns that stand to the right.

    `classes` are those of whole columns; `tones` has one for the first cell of each row.
    """
    kinds = {**dict.fromkeys(numbers, "number"), **(classes or {})}
    head = _joined(
        Markup('<th scope="col"{}>{}</th>').format(_class(kinds.get(n)), text) for n, text in enumerate(heads)
    )
    body = Markup("\n").join(
        Markup("<tr>{}</tr>").format(_row(row, kinds, tones[number] if tones else None))
        for number, row in enumerate(rows)
    )
    return Markup(
        '<p class="note">{0}</p><div class="wide" role="region" tabindex="0" aria-label="{0}"><table aria-label="{0}">'
        "<thead><tr>{1}</tr></thead><tbody>\n{2}\n</tbody></table></div>"
    ).format(caption, head, body)


def facts(pairs: Mapping[str, object]) -> Markup:
    """Names and what they are."""
    lines = (Markup("<div><dt>{}</dt><dd>{}</dd></div>").format(name, text) for name, text in pairs.items())
    return Markup('<dl class="facts">{}</dl>').format(_joined(lines))


def paragraph(text: object) -> Markup:
    """A line of text."""
    return Markup("<p>{}</p>").format(text)


def folded(title: str, text: str) -> Markup:
    """A long text as it is, opened by a click."""
    return Markup("<details><summary>{}</summary><pre>{}</pre></details>").format(title, text)


def bar(share: float) -> Markup:
    """A bar for a cell of the class `bars`; the figure stands beside it in another cell."""
    return Markup('<span class="bar" style="width: {:.1f}%"></span>').format(100 * max(0.0, min(1.0, share)))


def button(text: str, **data: object) -> Markup:
    """A button whose doing the page's script reads from its data attributes."""
    pairs = _joined(Markup(' data-{}="{}"').format(name, value) for name, value in data.items())
    return Markup('<button type="button"{}>{}</button>').format(pairs, text)


def _row(row: Sequence[Cell], kinds: Mapping[int, str], tone: str | None) -> Markup:
    first = Markup('<td class="{}">{}</td>').format(tone, row[0]) if tone else None
    head = first or Markup('<th scope="row">{}</th>').format(row[0])
    return head + _joined(
        Markup("<td{}>{}</td>").format(_class(kinds.get(number)), cell) for number, cell in enumerate(row) if number
    )


def _class(name: str | None) -> Markup:
    return Markup() if name is None else Markup(' class="{}"').format(name)


def _joined(parts: object) -> Markup:
    return Markup("").join(map(escape, parts))  # type: ignore[call-overload]
