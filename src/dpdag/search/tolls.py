"""What letting an edge in costs at least, where others must be cut for it."""

from __future__ import annotations

import heapq
import math

import numpy as np

from .climb import Climb
from .pairs import Pairs

__all__ = ["least_tolls"]


def least_tolls(
    climb: Climb, pairs: Pairs, gain: np.ndarray, bar: float
) -> np.ndarray:  # (m,), (m,) -> (m,)
    r"""The least that letting i → j in can cost, by the edges whose loss is known for sure.

    .. math:: \max\Bigl(\max_{j \to \dots \to i} \min_e \ell_e,\;
        \ell_{ji} + \sum_k \min(\ell_{jk}, \ell_{ki})\Bigr)

    Every cut holds an edge of each path from j to i: of the one whose cheapest edge is dearest, and
    of all those by way of a single other node. The first is only looked for where the second leaves
    more than ``bar`` of the ``gain``.
    """
    known = climb.present[climb.present.read(climb.exact)]
    loss = np.maximum(-known.read(climb.change) - climb.penalty, 0.0)
    toll = _short_ways(known, loss, pairs)
    leaves, enters = (np.bincount(ends, minlength=known.n) for ends in (known.source, known.child))
    linked = (leaves[pairs.child] > 0) & (enters[pairs.source] > 0)
    open_ = np.flatnonzero((gain - toll > bar) & linked).tolist()
    after: list[dict[int, float]] = [{} for _ in climb.edges] if open_ else []
    for (i, j), value in zip(known.edges() if open_ else [], loss.tolist()):
        after[i][j] = value
    for k in open_:
        i, j = pairs.edge(k)
        toll[k] = max(toll[k], _width(after, j, i))
    return toll


def _short_ways(known: Pairs, loss: np.ndarray, pairs: Pairs) -> np.ndarray:  # (e,), (m,) -> (m,)
    """What an edge from j to i costs, and the cheaper halves of all ways by one other node."""
    n, source, child = known.n, known.source, known.child
    first = np.searchsorted(source, np.arange(n + 1))  # of each node's edges
    count = np.diff(first)[child]
    one = np.repeat(np.arange(len(loss)), count)  # an edge, once for each that goes on from it
    two = np.arange(len(one)) + np.repeat(first[child] - np.cumsum(count) + count, count)
    ends, way = np.unique(source[one] * n + child[two], return_inverse=True)
    halves = np.bincount(way, np.minimum(loss[one], loss[two]), len(ends))
    back = pairs.child * n + pairs.source
    return _at(back, known.index, loss) + _at(back, ends, halves)


def _at(asked: np.ndarray, index: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Values at ascending places, zero elsewhere."""  # (m,), (e,), (e,) -> (m,)
    if not len(index):
        return np.zeros(len(asked))
    place = np.searchsorted(index, asked).clip(max=len(index) - 1)
    return np.where(index[place] == asked, value[place], 0.0)


def _width(after: list[dict[int, float]], source: int, target: int) -> float:
    """The cheapest edge of the path on which that is dearest."""
    widest, waiting = {source: math.inf}, [(-math.inf, source)]
    while waiting:
        width, node = heapq.heappop(waiting)
        if node == target:
            return -width
        for other, value in after[node].items():
            own = min(-width, value)
            if own > widest.get(other, 0.0):
                widest[other] = own
                heapq.heappush(waiting, (-own, other))
    return 0.0
