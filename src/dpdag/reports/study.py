"""All tables and figures of a folder of experiments, from its store alone."""

from __future__ import annotations

import base64
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ..experiments import Figure, Layout, Outcome, Store, read_layouts
from . import formats
from .figures import draw_figure
from .tables import Grid, best_counts, entries, grids, of_layout

NOTE = (
    "Mean ± standard error over data sets and seeds; the best in bold, the second underlined; "
    "in brackets the paper's numbers; k/n where only k of n cells have a value."
)
STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:75em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;margin:1em 0;font-variant-numeric:tabular-nums}"
    "td,th{padding:.2em .8em;text-align:left;border-bottom:1px solid #8884;font-weight:normal}"
    "thead th{font-weight:bold}small,i{opacity:.65}img{max-width:100%;background:#fff}"
)


class Section(NamedTuple):
    """An experiment with all that is to be shown of it."""

    layout: Layout
    grids: list[Grid]
    notes: list[str]
    figures: list[Path]


def write_study(folder: str | Path, out: str | Path | None = None) -> list[Path]:
    """Write report.md, report.html, report.tex and the figures of a store.

    Arguments:
        folder: Of the store.
        out: Where to write; by default there.
    """
    store, target = Store(folder), Path(folder if out is None else out)
    outcomes = store.outcomes()
    found = [
        _section(layout, of_layout(layout, outcomes), target / "figures")
        for layout in read_layouts(store)
    ]
    texts = {"md": _markdown(found), "html": _html(found), "tex": _latex(found)}
    target.mkdir(parents=True, exist_ok=True)
    for kind, text in texts.items():
        (target / f"report.{kind}").write_text(text, encoding="utf-8")
    figures = [file for section in found for file in section.figures]
    return [*(target / f"report.{kind}" for kind in texts), *figures]


def _section(layout: Layout, outcomes: list[Outcome], folder: Path) -> Section:
    tables: list[Grid] = []
    notes, files = [], []
    for number, view in enumerate(layout.views):
        if isinstance(view, Figure):
            if find_spec("matplotlib"):
                files += draw_figure(layout, view, outcomes, folder / f"{layout.name}-{number}")
            else:
                notes.append("Its figures need matplotlib: pip install 'dpdag[plot]'.")
            continue
        shown = entries(layout, view, outcomes)
        tables += grids(shown, view.columns)
        counts, scores = best_counts(shown)
        if said := "; ".join(f"{method} {count}" for method, count in counts.items()):
            notes.append(f"Best of {scores} scores: {said}.")
    sets = Counter((one.dataset, one.method) for one in outcomes if not one.error).values()
    if sets:
        span = f"{min(sets)} to {max(sets)}" if min(sets) < max(sets) else f"{max(sets)}"
        notes.append(f"Fits for each data set and method: {span}.")
    return Section(layout, tables, notes + _failures(outcomes), files)


def _failures(outcomes: Sequence[Outcome]) -> list[str]:
    """How many cells of each method failed, and why the first of them did."""
    planned = Counter(one.method for one in outcomes)
    failed: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        if one.error:
            failed[one.method].append(one)
    return [
        f"{method}: {len(own)} of {planned[method]} cells failed, such as {own[0].cell}: "
        f"{own[0].error}"
        for method, own in failed.items()
    ]


def _markdown(found: Sequence[Section]) -> str:
    parts = ["# Results", NOTE]
    for section in found:
        parts += [f"## {section.layout.name}", f"{section.layout.summary}."]
        parts += _titled(section, formats.markdown, "### {}")
        parts += section.notes
        parts += [
            f"![{section.layout.summary}](figures/{file.name})"
            for file in section.figures
            if file.suffix == ".png"
        ]
    return "\n\n".join(parts) + "\n"


def _html(found: Sequence[Section]) -> str:
    parts = [f"<h1>Results</h1>\n<p>{NOTE}</p>"]
    for section in found:
        parts.append(f"<h2>{escape(section.layout.name)}</h2>")
        parts.append(f"<p>{escape(section.layout.summary)}.</p>")
        parts += _titled(section, formats.html, "<h3>{}</h3>")
        parts += [f"<p>{escape(note)}</p>" for note in section.notes]
        for file in section.figures:
            if file.suffix == ".svg":
                data = base64.b64encode(file.read_bytes()).decode()
                alt = escape(section.layout.summary)
                parts.append(f'<img alt="{alt}" src="data:image/svg+xml;base64,{data}">')
    body = "\n".join(parts)
    head = f'<meta charset="utf-8"><title>Results</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _latex(found: Sequence[Section]) -> str:
    parts = [f"% {NOTE}", "% Needs \\usepackage{booktabs}."]
    for section in found:
        parts.append(f"% {section.layout.name}: {section.layout.summary}.")
        parts += _titled(section, formats.latex, "% {}")
    return "\n\n".join(parts) + "\n"


def _titled(section: Section, write: Callable[[Grid], str], heading: str) -> list[str]:
    parts = []
    for grid in section.grids:
        parts += [heading.format(grid.title)] * bool(grid.title) + [write(grid)]
    return parts
