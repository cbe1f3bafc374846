"""The cheapest edges whose removal lets a new edge in without a cycle."""

from __future__ import annotations

from collections import deque

import numpy as np

__all__ = ["minimum_cut"]

_SPENT = 1e-9  # nats


def minimum_cut(
    capacity: np.ndarray,  # (n, n) float, zero where there is no edge
    source: int,
    target: int,
) -> list[tuple[int, int]]:
    r"""The edges of least total capacity without which no path leads from source to target.

    By shortest augmenting paths (Edmonds and Karp, 1972), in plain Python: the graphs are small
    and sparse, and a library's set-up would take ten times as long.

    Example:
        >>> capacity = np.zeros((4, 4))
        >>> capacity[0, 1], capacity[1, 3], capacity[0, 2], capacity[2, 3] = 5, 1, 2, 9
        >>> minimum_cut(capacity, 0, 3)
        [(0, 2), (1, 3)]
    """
    rows, columns = (where.tolist() for where in np.nonzero(capacity > 0))
    left: dict[int, dict[int, float]] = {node: {} for node in range(len(capacity))}
    for i, j, value in zip(rows, columns, capacity[rows, columns].tolist()):
        left[i][j] = left[i].get(j, 0.0) + max(value, 2 * _SPENT)
        left[j].setdefault(i, 0.0)
    while target in (came := _reached(left, source, target)):
        path = [target]
        while path[-1] != source:
            path.append(came[path[-1]])
        steps = list(zip(path[1:], path[:-1]))
        flow = min(left[i][j] for i, j in steps)
        for i, j in steps:
            left[i][j] -= flow
            left[j][i] += flow
    return [(i, j) for i, j in zip(rows, columns) if i in came and j not in came]


def _reached(left: dict[int, dict[int, float]], source: int, target: int) -> dict[int, int]:
    """Nodes that can be reached and where from, breadth first, until the target is."""
    came, queue = {source: source}, deque([source])
    while queue and target not in came:
        node = queue.popleft()
        for other, value in left[node].items():
            if value > _SPENT and other not in came:
                came[other] = node
                queue.append(other)
    return came
