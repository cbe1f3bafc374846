"""Where to draw the nodes of a DAG: in layers, causes above effects, with few crossings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.isotonic import isotonic_regression

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

SWEEPS = 12
BENDS = (0.0, *(sign * bow for bow in (0.09, 0.16, 0.23, 0.3, 0.38) for sign in (1, -1)))
SKEWS = (0.0, 0.25, -0.25)


def layered(
    adjacency: Sequence[Sequence[int]] | NDArray[np.generic],  # (n, n)
    order: Sequence[int] | Ints,  # (n,)
    *,
    width: int | None = None,
) -> Array:  # (n, 2)
    r"""Positions (column, row) of the nodes: every edge leads down, and neighbours are near.

    Rows hold at most ``width`` nodes, at least one unit apart; nodes without edges stand in rows
    of their own at the bottom. Within the rows the order comes from the barycentre heuristic.

    Arguments:
        adjacency: A DAG.
        order: Nodes, causes first; any order in which the edges lead forward.
        width: About :math:`\sqrt{1.3 n}` by default.

    References:
        Sugiyama, Tagawa & Toda, *Methods for visual understanding of hierarchical system
        structures*, 1981.

    Example:
        >>> layered([[0, 1, 1], [0, 0, 0], [0, 0, 0]], [0, 1, 2]).tolist()
        [[0.0, 0.0], [0.5, 1.0], [-0.5, 1.0]]
    """
    edges = np.asarray(adjacency) != 0
    n = len(edges)
    if sorted(order) != list(range(n)):
        raise ValueError(f"'order' must hold each of the {n} nodes once; got {list(order)!r}.")
    width = max(3, int(np.ceil(np.sqrt(1.3 * n)))) if width is None else width
    joined = edges.any(0) | edges.any(1)
    layer = _layers(edges, [node for node in order if joined[node]], width)
    rows = [[v for v in order if layer[v] == k] for k in range(layer.max() + 1)]
    x = _columns(edges, rows, layer, width)
    alone = [node for node in order if not joined[node]]
    loose = [alone[k : k + width] for k in range(0, len(alone), width)]
    for depth, row in enumerate(loose, start=layer.max() + 1):
        layer[row] = depth
        x[row] = _centred(len(row))
    return np.stack([x, layer.astype(np.float64)], axis=1)


def bends(
    points: Array,  # (n, 2)
    edges: Sequence[tuple[int, int]],
    *,
    radius: float | tuple[float, float],
    skews: Sequence[float] = SKEWS,
) -> list[tuple[float, float]]:
    r"""How far to bow each edge so that it passes beside other nodes rather than through them.

    An edge from a to b with bow β and skew γ is the quadratic curve with control point
    :math:`\tfrac12 (a + b) + γ (b - a) + 2 β (b - a)^\perp`: its middle is off the line by β of
    its length. The second of two opposite edges keeps clear of the first.

    Arguments:
        points: Where the nodes are.
        edges: Pairs (source, target).
        radius: Half the size of a node, or half its width and height.
        skews: Which γ to try.

    Example:
        >>> bends(np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 2.0]]), [(0, 1), (0, 2)], radius=0.2)
        [(0.0, 0.0), (0.16, 0.0)]
    """
    size = np.broadcast_to(np.asarray(radius, dtype=np.float64), (2,))
    shapes = [(0.0, 0.0), *((bow, skew) for skew in skews for bow in BENDS if bow)]
    found: dict[tuple[int, int], tuple[float, float]] = {}
    for i, j in edges:
        opposite = found.get((j, i))
        straight = opposite is None or opposite[0] != 0
        if straight and _costs(points, i, j, shapes[:1], size)[0] == 0:
            found[i, j] = shapes[0]
            continue
        cost = _costs(points, i, j, shapes, size)
        if opposite is not None:
            cost[[bow == -opposite[0] for bow, _ in shapes]] = np.inf
        found[i, j] = shapes[int(cost.argmin())]
    return [found[i, j] for i, j in edges]


def _costs(
    points: Array, i: int, j: int, shapes: list[tuple[float, float]], size: Array
) -> Array:  # -> (shapes,)
    """How many nodes an edge of each shape runs into, and a little for being bent or far out."""
    bow, skew = np.array(shapes).T[..., None]  # (shapes, 1)
    t = np.linspace(0.04, 0.96, 24)[:, None]
    a, b = points[i], points[j]
    normal = np.array([a[1] - b[1], b[0] - a[0]])
    control = 0.5 * (a + b) + skew * (b - a) + 2 * bow * normal  # (shapes, 2)
    curve = (1 - t) ** 2 * a + t**2 * b + 2 * (t * (1 - t)) * control[:, None]  # (shapes, t, 2)
    others = np.delete(points, [i, j], axis=0)
    near = (np.abs(curve[:, :, None] - others) < size).all(-1)  # (shapes, t, others)
    low, high = points.min(0) - 1.5 * size, points.max(0) + 1.5 * size
    outside = ((curve < low) | (curve > high)).any((1, 2))
    bent = (0.15 * np.abs(bow) + 0.1 * np.abs(skew))[:, 0]
    return near.any(1).sum(1) + 0.8 * outside + bent


def _layers(edges: NDArray[np.bool_], order: list[int], width: int) -> Ints:
    """The first row with room below all parents; then nodes sink towards their first child."""
    layer = np.full(len(edges), -1)
    count: Counter[int] = Counter()
    for node in order:
        row = int(layer[edges[:, node]].max(initial=-1)) + 1
        while count[row] >= width:
            row += 1
        layer[node] = row
        count[row] += 1
    for node in reversed(order):
        if edges[node].sum() <= edges[:, node].sum():
            continue
        row = int(layer[edges[node]].min()) - 1
        while row > layer[node] and count[row] >= width:
            row -= 1
        count[int(layer[node])] -= 1
        layer[node] = row
        count[row] += 1
    layer[order] = np.unique(layer[order], return_inverse=True)[1]  # without empty rows
    return layer


def _columns(
    edges: NDArray[np.bool_], rows: list[list[int]], depth: Ints, width: int
) -> Array:  # -> (n,)
    """Sort rows by the mean column of parents, then of children, in turn; keep the best."""
    x = np.zeros(len(edges))
    for row in rows:
        x[row] = _centred(len(row))
    links = np.argwhere(edges)
    best, fewest = x.copy(), np.inf
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        weight = (edges if down else edges.T).astype(np.float64)  # (neighbour, node)
        for row in rows if down else rows[::-1]:
            wanted = _wanted(x, weight[:, row], row)
            row[:] = [row[k] for k in np.argsort(wanted, kind="stable")]
            x[row] = _centred(len(row))
        crossings = _crossings(x, depth, links)
        if crossings < fewest:
            best, fewest = x.copy(), crossings
    return _relaxed(_shortened(best, edges, depth, rows, width), edges, rows, width)


def _shortened(
    x: Array, edges: NDArray[np.bool_], depth: Ints, rows: list[list[int]], width: int
) -> Array:
    """Assign each row to places so that edges are short sideways, all other rows held."""
    slots = _centred(width)
    both = (edges | edges.T) / np.maximum(np.abs(depth[:, None] - depth), 1)
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 else rows[::-1]:
            cost = both[row] @ np.abs(x[:, None] - slots) + 1e-3 * np.abs(slots)  # (row, slots)
            x[np.array(row)] = slots[linear_sum_assignment(cost)[1]]
    return x


def _relaxed(x: Array, edges: NDArray[np.bool_], rows: list[list[int]], width: int) -> Array:
    """Pull nodes towards their neighbours without changing the order within a row."""
    both = (edges | edges.T).astype(np.float64)
    half = (width - 1) / 2
    for _ in range(SWEEPS):
        for row in rows:
            row.sort(key=lambda node: x[node])
            steps = np.arange(len(row))
            fitted = isotonic_regression(_wanted(x, both[:, row], row) - steps)
            x[row] = np.clip(fitted, -half, half - len(row) + 1) + steps
    placed = [node for row in rows for node in row]
    if placed:
        x[placed] -= (x[placed].min() + x[placed].max()) / 2
    return x


def _wanted(x: Array, weight: Array, row: list[int]) -> Array:  # (n,), (n, m) -> (m,)
    """The mean column of each node's neighbours, or where it is when it has none."""
    total = weight.sum(0)
    return np.where(total > 0, x @ weight / np.maximum(total, 1), x[row])


def _crossings(x: Array, depth: Ints, links: Ints) -> float:
    """How many pairs of edges, as straight lines between rows, cross."""
    if len(links) > 400:  # the picture is dense; the last sweep is as good as any
        return -float(x @ x)
    a, b = links.T
    top, bottom = depth[a], depth[b]
    same = (top[:, None] < bottom) & (top < bottom[:, None])  # the rows overlap
    height = np.maximum(top[:, None], top)  # compare where both have begun and before either ends
    end = np.minimum(bottom[:, None], bottom)
    slope = (x[b] - x[a]) / (bottom - top)

    def gap(at: Ints) -> Array:
        at_first = x[a][:, None] + slope[:, None] * (at - top[:, None])
        return at_first - (x[a] + slope * (at - top))

    return float((same & (gap(height) * gap(end) < -1e-9)).sum() / 2)


def _centred(count: int) -> Array:
    return np.arange(count, dtype=np.float64) - (count - 1) / 2
