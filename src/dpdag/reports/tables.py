"""From stored outcomes to tables of means, standard errors and ranks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..experiments import Layout, Metric, Outcome, Table

Array = NDArray[np.float64]
Key = tuple[str, str, str]  # data set, method, metric


@dataclass(frozen=True)
class Entry:
    """Mean and standard error of a metric, ours and the paper's.

    Attributes:
        mean, error: None where there is nothing, or no error of one value.
        paper: Both of the paper, or its words; None where it has none.
        digits: Behind the point.
        rank: 1 the best, 2 the second, 0 any other.
        done, planned: Numbers of cells.
    """

    mean: float | None
    error: float | None
    paper: tuple[float, float] | str | None
    digits: int
    rank: int = 0
    done: int = 0
    planned: int = 0


@dataclass(frozen=True)
class Grid:
    """A table to be written in any format.

    Attributes:
        title: Above it.
        labels: Heads of the columns that name the rows.
        heads: Heads of the other columns.
        rows: Names and entries of each row.
    """

    title: str
    labels: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[Entry, ...]], ...]


@cache
def paper_tables() -> dict[str, Any]:
    """The paper's numbers: table → data set → model → metric → mean and standard error."""
    file = resources.files("dpdag.experiments") / "paper" / "tables.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def of_layout(layout: Layout, outcomes: Mapping[str, Outcome]) -> list[Outcome]:
    """The outcomes of an experiment."""
    found = [outcomes[identity] for identity in layout.cells.values() if identity in outcomes]
    return [one for one in found if one.batch == 1 or not layout.alone]


def entries(layout: Layout, table: Table, outcomes: Sequence[Outcome]) -> dict[Key, Entry]:
    """What a view shows, ranked."""
    pairs = {(one.dataset, one.method) for one in outcomes}
    sets = [name for name in layout.datasets if any(name == data for data, _ in pairs)]
    methods = [name for name in layout.methods if any(name == method for _, method in pairs)]
    found = {
        (data, method, metric.name): _entry(layout, table, outcomes, data, method, metric)
        for data in sets
        for method in methods
        if (data, method) in pairs or table.columns == "methods"
        for metric in table.metrics
    }
    for data in sets:
        for metric in table.metrics:
            keys = [(data, method, metric.name) for method in methods]
            ranked = [key for key in keys if key in found and key[1] not in table.unranked]
            for key, rank in zip(ranked, _ranks([found[key] for key in ranked], metric)):
                found[key] = replace(found[key], rank=rank)
    return found


def grids(found: Mapping[Key, Entry], columns: str) -> list[Grid]:
    """The tables of a view that has these columns."""
    labels = {"metrics": ("method",), "methods": ("data",), "all": ("data", "method")}[columns]
    titled: dict[str, dict[tuple[str, ...], dict[str, Entry]]] = {}
    for (data, method, metric), entry in found.items():
        title, names, head = {
            "metrics": (data, (method,), metric),
            "methods": (metric, (data,), method),
            "all": ("", (data, method), metric),
        }[columns]
        titled.setdefault(title, {}).setdefault(names, {})[head] = entry
    return [
        Grid(
            title,
            labels,
            heads=tuple(next(iter(rows.values()))),
            rows=tuple((names, tuple(row.values())) for names, row in rows.items()),
        )
        for title, rows in titled.items()
    ]


def best_counts(found: Mapping[Key, Entry]) -> tuple[dict[str, int], int]:
    """How often each method is best, and of how many comparisons."""
    best = Counter(method for (_, method, _), entry in found.items() if entry.rank == 1)
    compared = {(data, metric) for (data, _, metric), entry in found.items() if entry.rank}
    return {method: best[method] for _, method, _ in found if best[method]}, len(compared)


def _entry(
    layout: Layout,
    table: Table,
    outcomes: Sequence[Outcome],
    data: str,
    method: str,
    metric: Metric,
) -> Entry:
    own = [one for one in outcomes if (one.dataset, one.method) == (data, method)]
    needed = metric.gap or (metric.name,)
    own = [one for one in own if one.values.keys() >= {*needed}]
    values = metric.scale * (_gap(own, metric.gap) if metric.gap else _column(own, metric.name))
    stated = (
        paper_tables()[name].get(data, {}).get(method, {}).get(metric.name) for name in table.paper
    )
    known = next((one for one in stated if one is not None), None)
    start = f"{method} × {data}["
    return Entry(
        mean=float(values.mean()) if values.size else None,
        error=float(values.std(ddof=1) / len(values) ** 0.5) if values.size > 1 else None,
        paper=tuple(known) if isinstance(known, list) else known,
        digits=metric.digits,
        done=len(own),
        planned=sum(text.startswith(start) for text in layout.cells),
    )


def _column(outcomes: Sequence[Outcome], name: str) -> Array:  # (k,) or (k, bins)
    return np.array([one.values[name] for one in outcomes], dtype=np.float64)


def _gap(outcomes: Sequence[Outcome], names: Sequence[str]) -> Array:  # -> (1,) or (0,)
    """Mean distance of two lists over bins that are pooled over all fits."""
    if not outcomes:
        return np.zeros(0)
    one, other, counts = (_column(outcomes, name) for name in names)
    return np.abs((counts * (one - other)).sum(0)).sum(keepdims=True) / counts.sum()


def _ranks(entries: Sequence[Entry], metric: Metric) -> list[int]:
    """1 for the best as shown, 2 for the next; nothing is ranked alone."""
    shown = [None if one.mean is None else round(one.mean, one.digits) for one in entries]
    sign = -1 if metric.better == "higher" else 1
    distinct = sorted({sign * value for value in shown if value is not None})
    if not metric.better or sum(value is not None for value in shown) < 2:
        return [0] * len(entries)
    ranks = {value: rank for rank, value in enumerate(distinct[:2], 1)}
    return [0 if value is None else ranks.get(sign * value, 0) for value in shown]
