"""What the page's scripts draw: a record as small, rounded, JSON-ready data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..ops.layout import bends, layered
from ..records import MISFIT, RunRecord

Array = NDArray[np.float64]
Edge = tuple[int, int]

WIDE = 120  # variables, beyond which one is drawn with its neighbours instead of all
MAX_EDGES = 1500  # more would be a black square, and slow
MAX_LISTED = 20_000  # where only few of them are drawn
MAX_BENT = 400  # in denser pictures no edge can avoid all nodes
LOWEST = 0.02  # no probability below is worth a line
MAX_STEPS = 400

PANELS = {
    "total": "Training loss",
    "validation": "Loss on held-out rows",
    "reconstruction": "Reconstruction loss",
    "kl": "Divergence from the prior",
    "edges": "Number of edges",
}


def payload(record: RunRecord) -> dict[str, Any]:
    """Everything that the graph and the charts show.

    Of very many variables there are no places of nodes, no matrices and no samples.
    """
    edges = candidates(record)
    levels = slider_levels(record, edges)
    start = _start(record, edges, levels)
    learned = record.adjacency != 0
    shade = shades(record)
    wide = len(record.names) > WIDE
    place = _labels(record) if wide else _place(record, edges)
    bows = place.pop("bends", [(0.0, 0.0)] * len(edges))
    return {
        "word": record.word,
        "names": record.names,
        "order": record.causal_order,
        **place,
        "edges": [
            [
                i,
                j,
                _rounded(record.strengths[i, j], 6),
                _rounded(shade[i, j]),
                bow,
                int(learned[i, j]),
                _rounded(record.strengths[j, i], 6),
            ]
            for (i, j), bow in zip(edges, bows, strict=True)
        ],
        "levels": [_rounded(level, 6) for level in levels],
        "start": start,
        "note": _note(record, edges, raised=levels[start] > record.threshold),
        "strength": None if wide else _rounded(record.strengths),
        "shade": None if wide or record.word == "probability" else _rounded(shade, 3),
        "ancestors": None if wide else _rounded(record.ancestor_probabilities, 3),
        "total": float(record.strengths.sum()),
        "curves": _curves(record, set(edges)),
        "points": _rounded(record.points.T),
        "samples": [] if wide else [np.argwhere(graph).tolist() for graph in record.samples],
        "history": training(record),
        "quality": _quality(record),
    }


def candidates(record: RunRecord) -> list[Edge]:
    """Edges that the slider may show, strongest first."""
    strength = record.strengths
    off = ~np.eye(len(strength), dtype=bool)
    if record.word == "probability":
        off &= (strength >= LOWEST) | (record.adjacency != 0)
        limit = _most(record)
    else:  # scores of absent edges mean little: twice the learned ones will do
        off &= (strength > strength.min()) | (record.adjacency != 0)
        limit = min(_most(record), int(2 * record.adjacency.sum() + 5))
    found = np.argwhere(off)
    strongest = np.argsort(-strength[off], kind="stable")[:limit]
    return [(int(i), int(j)) for i, j in found[strongest]]


def slider_levels(record: RunRecord, edges: list[Edge]) -> list[float]:
    """Thresholds that the slider stops at, ascending."""
    strengths = [float(record.strengths[edge]) for edge in edges]
    if record.word == "score":
        return sorted(set(strengths)) or [0.0]
    lowest = min(strengths) if len(edges) == _most(record) else LOWEST
    return [k / 100 for k in range(int(np.ceil(100 * lowest)), 100)] or [lowest]


def shades(record: RunRecord) -> Array:  # (n, n) in [0, 1]
    """How dark to draw each edge: its probability, or its score on a logarithmic scale."""
    if record.word == "probability":
        return record.strengths
    logs = np.log1p(np.maximum(record.strengths - min(record.strengths.min(), 0.0), 0.0))
    return logs / max(float(logs.max()), 1e-12)


def short_label(name: str, limit: int = 18) -> str:
    """The name, or its two ends where it is long.

    Example:
        >>> short_label("systolic blood pressure, morning")
        'systolic b…morning'
    """
    flat = " ".join(name.split()) or "·"
    return flat if len(flat) <= limit else f"{flat[: limit - 8]}…{flat[-7:]}"


def _start(record: RunRecord, edges: list[Edge], levels: list[float]) -> int:
    """The slider's first position: what is learned, or as many edges as can be told apart."""
    legible = _legible(record)
    wanted = record.threshold
    if len(edges) > legible and len(record.names) <= WIDE:
        wanted = max(wanted, float(record.strengths[edges[legible]]) + 1e-6)
    at = int(np.searchsorted(levels, wanted - 1e-9))
    return min(at, len(levels) - 1)


def _legible(record: RunRecord) -> int:
    """How many edges a drawing of so many nodes can hold."""
    return int(max(40, 2.0 * len(record.names)))


def _note(record: RunRecord, edges: list[Edge], *, raised: bool) -> str:
    learned = int(record.adjacency.sum())
    parts = []
    if len(record.names) > WIDE:
        parts.append(
            f"Of {len(record.names)} variables one is drawn with its neighbours, causes above and "
            "effects below: find another by its name, or click on one."
        )
    if raised and learned > _legible(record):
        parts.append(f"The learned graph has {learned} edges; the strongest are shown at first.")
    if len(edges) == _most(record):
        parts.append(f"Only the strongest {len(edges)} edges can be shown.")
    return " ".join(parts)


def _most(record: RunRecord) -> int:
    """How many edges the slider may show."""
    return MAX_LISTED if len(record.names) > WIDE else MAX_EDGES


def _labels(record: RunRecord) -> dict[str, Any]:
    """Labels and their widths in pixels; places are found where few are drawn."""
    many = 60 < len(record.names) <= WIDE
    font = 12 if many else 14
    labels = [short_label(name, 12 if many else 18) for name in record.names]
    wide = [round(max(44.0, 22 + 0.6 * font * _columns(label)), 1) for label in labels]
    return {"labels": labels, "wide": wide, "x": None, "y": None, "font": font, "size": [0, 0]}


def _place(record: RunRecord, edges: list[Edge]) -> dict[str, Any]:
    """Pixels of nodes, labels and bows."""
    many = len(record.names) > 60
    found = _labels(record)
    font, wide = found["font"], found["wide"]
    slot = max(wide) + 30
    grid = layered(_skeleton(record, edges), record.causal_order)
    n_rows = int(grid[:, 1].max()) + 1
    row = 64 if many else float(np.clip(480 / n_rows, 84, 130))
    points = grid * [slot, row]
    bow = bends(points, edges[:MAX_BENT], radius=(max(wide) / 2 + 3, font + 4))
    bow += [(0.0, 0.0)] * (len(edges) - len(bow))
    low, high = _extent(points, edges, bow, wide)
    points += [18 - low, font + 14]
    return {
        **found,
        "x": points[:, 0].round(1).tolist(),
        "y": points[:, 1].round(1).tolist(),
        "size": [round(high - low + 36, 1), round(float(points[:, 1].max()) + font + 14, 1)],
        "bends": bow,
    }


def _skeleton(record: RunRecord, edges: list[Edge]) -> NDArray[np.bool_]:  # -> (n, n)
    """The learned edges that decide where nodes stand: all, or the strongest of very many."""
    kept = np.zeros(record.adjacency.shape, dtype=bool)
    for i, j in [edge for edge in edges if record.adjacency[edge]][: _legible(record)]:
        kept[i, j] = True
    return kept


def _extent(
    points: Array, edges: list[Edge], bow: list[tuple[float, float]], wide: list[float]
) -> tuple[float, float]:
    """Leftmost and rightmost pixel of nodes and of bows."""
    half = np.array(wide) / 2
    ends = [points[:, 0] - half, points[:, 0] + half]
    if edges:
        a, b = points[np.array(edges).T]
        off, skew = np.array(bow).T
        middle = (a[:, 0] + b[:, 0]) / 2 + skew * (b[:, 0] - a[:, 0]) / 2
        ends.append(middle + 1.1 * off * (a[:, 1] - b[:, 1]))
    every = np.concatenate(ends)
    return float(every.min()), float(every.max())


def _columns(label: str) -> int:
    """Width in letters; East Asian characters take about two."""
    return sum(2 if ord(letter) > 0x2E80 else 1 for letter in label)


def _curves(record: RunRecord, wanted: set[Edge]) -> dict[str, Any]:
    return {
        f"{curve.source},{curve.target}": [_rounded(curve.grid, 5), _rounded(curve.values, 5)]
        for curve in record.curves
        if (curve.source, curve.target) in wanted
    }


def _quality(record: RunRecord) -> dict[str, Any] | None:
    """What the graph and graphs of chance explain, and the share of every column; best first."""
    found = record.quality
    if found is None or not record.adjacency.any():
        return None
    learned = record.adjacency.sum(0).tolist()
    shares = [
        [short_label(one["column"]), _rounded(one["explained"], 3), int(one["misfit"] > MISFIT)]
        for one, has_causes in zip(found["columns"], learned)
        if has_causes
    ]
    shares.sort(key=lambda one: -one[1])
    return {
        "own": _rounded(found["by_curves"]),
        "random": _rounded(found["random_graphs"]),
        "shares": shares,
    }


def training(record: RunRecord) -> dict[str, Any] | None:
    """The training curve as one panel per column, a line per replica; None without epochs."""
    columns = {
        name: values
        for name, values in record.history.items()
        if values and all(v is None or isinstance(v, (int, float)) for v in values)
    }
    if "epoch" not in columns:  # a search is over when it is over
        return None
    frame = pd.DataFrame(columns)
    start = next((name for name in ("replica", "restart", "resample") if name in columns), None)
    lines = [frame] if start is None else [own for _, own in frame.groupby(start)]
    lines = [own[:: max(1, -(-len(own) // MAX_STEPS))] for own in lines]
    panels = []
    for name in frame.columns.difference(["epoch", start], sort=False):
        drawn = [own[own[name].notna()] for own in lines]
        if any(len(own) > 1 for own in drawn):
            points = [[own["epoch"].tolist(), _rounded(own[name].to_numpy(), 5)] for own in drawn]
            panels.append({"title": PANELS.get(name, name), "lines": points})
    return {"axis": "epoch", "panels": panels} if panels else None


def _rounded(value: Any, digits: int = 4) -> Any:
    """Floats with so many significant digits, however deep they are nested."""
    if value is None:
        return None
    if isinstance(value, np.ndarray):
        return _rounded(value.tolist(), digits)
    if isinstance(value, list):
        return [_rounded(item, digits) for item in value]
    return float(f"{value:.{digits}g}")
