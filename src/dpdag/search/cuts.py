"""The cheapest edges whose removal lets a new edge in without a cycle, and what they cost."""

from __future__ import annotations

import heapq
import math
from collections import deque

import numpy as np

from .pairs import Pairs

__all__ = ["Network", "least_tolls"]

_SPENT = 1e-9  # nats


class Network:
    r"""Edges with capacities, to be cut at least cost.

    By shortest augmenting paths (Edmonds and Karp, 1972), in plain Python: the graphs are small
    and sparse, and a library's set-up would take ten times as long.

    Arguments:
        edges: All there are.
        capacity: (m,) of each.

    Example:
        >>> capacity = np.zeros((4, 4))
        >>> capacity[0, 1], capacity[1, 3], capacity[0, 2], capacity[2, 3] = 5, 1, 2, 9
        >>> edges = Pairs.of(capacity > 0)
        >>> Network(edges, edges.read(capacity)).cut(0, 3)
        [(0, 2), (1, 3)]
    """

    def __init__(self, edges: Pairs, capacity: np.ndarray) -> None:
        self._edges = edges.edges()
        self._left: list[dict[int, float]] = [{} for _ in range(edges.n)]
        for (i, j), value in zip(self._edges, capacity.tolist()):
            self._left[i][j] = self._left[i].get(j, 0.0) + max(value, 2 * _SPENT)
            self._left[j].setdefault(i, 0.0)

    def cut(
        self, source: int, target: int, *, most: float = math.inf
    ) -> list[tuple[int, int]] | None:
        """The edges of least total capacity without which no path leads from source to target.

        None where it is clear that all cuts cost more than ``most``.
        """
        left, paid = list(self._left), 0.0
        while target in (came := _reached(left, source, target)):
            path = [target]
            while path[-1] != source:
                path.append(came[path[-1]])
            steps = list(zip(path[1:], path[:-1]))
            flow = min(left[i][j] for i, j in steps)
            paid += flow
            if paid > most:
                return None
            for node in path:
                if left[node] is self._left[node]:  # most nodes never change
                    left[node] = left[node].copy()
            for i, j in steps:
                left[i][j] -= flow
                left[j][i] += flow
        return [(i, j) for i, j in self._edges if i in came and j not in came]


def _reached(left: list[dict[int, float]], source: int, target: int) -> dict[int, int]:
    """Nodes that can be reached and where from, breadth first, until the target is."""
    came, queue = {source: source}, deque([source])
    while queue and target not in came:
        node = queue.popleft()
        for other, value in left[node].items():
            if value > _SPENT and other not in came:
                came[other] = node
                queue.append(other)
    return came


def least_tolls(
    pairs: Pairs,
    gain: np.ndarray,  # (m,)
    known: Pairs,
    loss: np.ndarray,  # (e,)
    bar: float,
) -> np.ndarray:  # -> (m,)
    r"""The least that letting i → j in can cost, by the edges whose loss ℓ is ``known``.

    .. math:: \max\Bigl(\max_{j \to \dots \to i} \min_e \ell_e,\;
        \ell_{ji} + \sum_k \min(\ell_{jk}, \ell_{ki})\Bigr)

    Every cut holds an edge of each path from j to i: of the one whose cheapest edge is dearest, and
    of all those by way of a single other node. The first is only looked for where the second leaves
    more than ``bar`` of the ``gain``.
    """
    toll = _short_ways(known, loss, pairs)
    leaves, enters = (np.bincount(ends, minlength=known.n) for ends in (known.source, known.child))
    linked = (leaves[pairs.child] > 0) & (enters[pairs.source] > 0)
    open_ = np.flatnonzero((gain - toll > bar) & linked).tolist()
    after: list[dict[int, float]] = [{} for _ in range(known.n)] if open_ else []
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
