"""The cheapest edges whose removal lets a new edge in without a cycle."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

__all__ = ["minimum_cut"]

_UNITS = 100  # capacities are integers, a hundredth of a nat each
_LARGEST = 10**8


def minimum_cut(
    capacity: np.ndarray,  # (n, n) float, zero where there is no edge
    source: int,
    target: int,
) -> list[tuple[int, int]]:
    r"""The edges of least total capacity without which no path leads from source to target.

    Example:
        >>> capacity = np.zeros((4, 4))
        >>> capacity[0, 1], capacity[1, 3], capacity[0, 2], capacity[2, 3] = 5, 1, 2, 9
        >>> minimum_cut(capacity, 0, 3)
        [(0, 2), (1, 3)]
    """
    units = np.where(capacity > 0, np.clip(capacity * _UNITS, 1, _LARGEST), 0).astype(np.int32)
    flow = maximum_flow(csr_array(units), source, target).flow.toarray()
    residual = csr_array((units - flow > 0).astype(np.int8))
    inside = np.zeros(len(units), dtype=bool)
    inside[breadth_first_order(residual, source, return_predecessors=False)] = True
    return [(int(i), int(j)) for i, j in np.argwhere((units > 0) & inside[:, None] & ~inside)]
