"""The cheapest edges whose removal lets a new edge in without a cycle."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from .pairs import Pairs

__all__ = ["Network"]

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
