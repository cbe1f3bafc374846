"""The written parts of the page: facts, cautions, settings; every word of the user escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from pathlib import PurePath
from typing import Any

import numpy as np

from ..records import MISFIT, Origin, RunRecord, explains
from .payload import WIDE, training

SURE = 0.9


def sections(record: RunRecord) -> dict[str, str]:
    """Markup by the name of its place in the template."""
    scale = "" if record.word == "probability" else " Colours are on a logarithmic scale."
    quality = ""
    if record.quality is not None:
        quality = f"<p class='verdict'>It explains {escape(explains(record.quality))}.</p>"
    n, linked = len(record.names), bool(record.adjacency.any())
    shown = {
        "matrix": n <= WIDE,
        "quality": record.quality is not None,
        "explained": linked,
        "samples": len(record.samples) and linked and n <= WIDE,
        "ancestors": record.ancestor_probabilities is not None and n <= WIDE,
        "history": training(record) is not None,
    }
    return {
        "title": escape(f"Causal graph of {n} variables{_place(record.origin)}"),
        "subtitle": _subtitle(record),
        "facts": _facts(record),
        "warnings": _warnings(record),
        "word": record.word,
        "links": "edges" if record.word == "score" else "links",
        "words": "scores" if record.word == "score" else "probabilities",
        "meaning": _meaning(record),
        "heat_note": f"From row to column. Variables are in causal order, causes first.{scale}",
        "size": "large" if n > 60 else "small",
        "origin": _origin(record),
        "quality": quality,
        "orange": _orange(record),
        "diagnostics": _list(record.diagnostics.notes or ["Nothing unusual was found."]),
        "choice": f"<p>Chosen: {escape(record.choice)}</p>" if record.choice else "",
        "settings": _table(record.settings),
        "versions": _table(record.versions),
        **{f"hide_{part}": "" if holds else "hidden" for part, holds in shown.items()},
    }


def _subtitle(record: RunRecord) -> str:
    rows = record.diagnostics.rows
    parts = [f"learned by {record.learner} from {rows:,} rows"]
    if record.seconds is not None:
        parts.append(f"in {_duration(record.seconds)}")
    if record.created:
        parts.append(f"on {record.created[:10]}")
    held = f"This file holds {len(record.points)} of the rows; mind that before you share it."
    return escape(f"{' '.join(parts)}. {held}")


def _place(origin: Origin | None) -> str:
    """The name of the file, without its folders: they are nobody's business."""
    return f" in {PurePath(origin.source).name}" if origin and origin.source else ""


def _origin(record: RunRecord) -> str:
    """What was read, left out and changed before learning."""
    origin = record.origin
    if origin is None:
        return ""
    used = (record.diagnostics.rows, len(record.names))
    size = f"{origin.rows:,} rows × {origin.columns} columns"
    if used != (origin.rows, origin.columns):
        size += f", learned from {used[0]:,} × {used[1]}"
    items = [f"{PurePath(origin.source).name}: {size}." if origin.source else f"{size}."]
    items += [f"Left out {name}: {reason}." for name, reason in origin.dropped.items()]
    items += origin.notes
    if origin.known:
        items.append(f"Compared with what is known: {origin.known}.")
    return _list(items)


def _warnings(record: RunRecord) -> str:
    """What holds of this table and graph in particular, before what holds of all."""
    found = [record.diagnostics.sortability, *record.cautions, record.question]
    if not record.adjacency.any():
        found.append("No links were found: there are none, or the rows are too few to show them.")
    said = [sentence for sentence in found if sentence]
    return _list(said) if said else ""


def _orange(record: RunRecord) -> str:
    """What the colour of some bars means, where any has it."""
    columns = [] if record.quality is None else record.quality["columns"]
    left = any(one["misfit"] > MISFIT for one in columns)
    return " Orange bars: what is left still follows other variables." if left else ""


def _duration(seconds: float) -> str:
    """Example:
    >>> _duration(0.31), _duration(75)
    ('0.3 s', '1 min 15 s')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


def _facts(record: RunRecord) -> str:
    learned = record.adjacency != 0
    alone = int((~(learned.any(0) | learned.any(1))).sum())
    facts = [
        ("variables", f"{len(record.names)}"),
        ("edges learned", f"{int(learned.sum())}"),
        ("without any edge", f"{alone}"),
    ]
    if record.edge_probabilities is not None:
        arrows = record.edge_probabilities
        links = np.triu(arrows + arrows.T, k=1)
        facts.append((f"links given more than {SURE}", f"{int((links > SURE).sum())}"))
        facts.append((f"arrows given more than {SURE}", f"{int((arrows > SURE).sum())}"))
    return "".join(
        f"<div><dd>{escape(value)}</dd><dt>{escape(name)}</dt></div>" for name, value in facts
    )


def _meaning(record: RunRecord) -> str:
    if record.word == "probability":
        return (
            "An edge’s <em>probability</em> says that it exists and points that way; "
            "<em>linked at all</em> that there is an edge one way or the other, so that "
            "“direction open” beside a high number means: they belong together, but these data do "
            "not tell which acts on which. DAGPosterior states no more than was right on simulated "
            "tables of many kinds, most of which break its assumptions; a real table may break "
            "them in other ways. Links of the learned graph are shown from their <em>linked at "
            "all</em> on. <em>Expected right</em> is the mean probability of the edges shown: the "
            "share that is right if these numbers can be trusted here."
        )
    return (
        f"{escape(record.learner)} gives <em>scores</em>: they rank edges, a higher score being "
        "more certain, but they are no probabilities, so no expected precision can be named. "
        "For probabilities fit DAGPosterior."
    )


def _list(items: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def _table(values: Mapping[str, Any]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(str(name))}</th><td>{escape(_shown(value))}</td></tr>'
        for name, value in values.items()
    )
    return f"<table class='plain'><tbody>{rows}</tbody></table>"


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
