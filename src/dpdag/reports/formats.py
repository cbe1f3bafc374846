"""Tables as Markdown, HTML and LaTeX; the paper's numbers stand in brackets."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from .tables import Entry, Grid

NOTHING = "–"


def markdown(grid: Grid) -> str:
    """A table in Markdown."""
    marks = {0: "{}", 1: "**{}**", 2: "<u>{}</u>"}
    lines = ["| " + " | ".join(map(_no_emphasis, (*grid.labels, *grid.heads))) + " |"]
    lines.append("|" + "---|" * (len(grid.labels) + len(grid.heads)))
    for labels, row in grid.rows:
        cells = [_joined(entry, marks[entry.rank], "({})", "±", "{}") for entry in row]
        lines.append("| " + " | ".join([*map(_no_emphasis, labels), *cells]) + " |")
    return "\n".join(lines)


def html(grid: Grid) -> str:
    """The same as an HTML table."""
    marks = {0: "{}", 1: "<b>{}</b>", 2: "<u>{}</u>"}
    heads = "".join(f"<th>{escape(head)}</th>" for head in (*grid.labels, *grid.heads))
    lines = [f"<table><thead><tr>{heads}</tr></thead><tbody>"]
    for labels, row in grid.rows:
        cells = [f"<th>{escape(label)}</th>" for label in labels]
        cells += [
            f"<td>{_joined(entry, marks[entry.rank], '<small>({})</small>', '±', '<i>{}</i>')}</td>"
            for entry in row
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</tbody></table>"])


def latex(grid: Grid) -> str:
    r"""The same for LaTeX, with the rules of ``booktabs``."""
    marks = {0: "{}", 1: r"\textbf{{{}}}", 2: r"\underline{{{}}}"}
    columns = "l" * (len(grid.labels) + len(grid.heads))
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [_row(map(_tex, (*grid.labels, *grid.heads))), r"\midrule"]
    for labels, row in grid.rows:
        cells = [
            _joined(entry, marks[entry.rank], r"{{\scriptsize({})}}", r"$\pm$", r"$^{{{}}}$")
            for entry in row
        ]
        lines.append(_row([*map(_tex, labels), *cells]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _joined(entry: Entry, mark: str, aside: str, sign: str, note: str) -> str:
    """Ours, the paper's, and how many cells are done where some are not."""
    ours = _spread(entry.mean, entry.error, entry.digits, sign)
    parts = [ours if entry.mean is None else mark.format(ours)]
    if entry.paper is not None:
        theirs = entry.paper
        if not isinstance(theirs, str):
            theirs = _spread(*theirs, entry.digits, sign)
        parts.append(aside.format(theirs))
    if 0 < entry.done < entry.planned:
        parts.append(note.format(f"{entry.done}/{entry.planned}"))
    return " ".join(parts)


def _spread(mean: float | None, error: float | None, digits: int, sign: str) -> str:
    if mean is None:
        return NOTHING
    return f"{mean:.{digits}f}" + ("" if error is None else f" {sign} {error:.{digits}f}")


def _row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _tex(text: str) -> str:
    for letter in "&%#_":
        text = text.replace(letter, "\\" + letter)
    return text.replace("²", "$^2$")


def _no_emphasis(text: str) -> str:
    return text.replace("*", r"\*")
