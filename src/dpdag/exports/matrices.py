"""Adjacency matrices in the orientations of other packages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["causallearn_matrix", "lingam_matrix"]


def lingam_matrix(adjacency: Any) -> NDArray[np.float64]:  # (n, n) -> (n, n)
    r"""The graph as the package lingam writes it: ``B[i, j] = 1`` means j → i.

    .. math:: B = A^\top

    lingam's own entries are linear effects; here they are 1, for the functions are not linear.

    Example:
        >>> lingam_matrix([[0, 1], [0, 0]]).tolist()  # 0 → 1
        [[0.0, 0.0], [1.0, 0.0]]
    """
    return (np.asarray(adjacency) != 0).T.astype(np.float64)


def causallearn_matrix(adjacency: Any) -> NDArray[np.int64]:  # (n, n) -> (n, n)
    r"""The graph as causal-learn writes it: ``G[i, j] = -1`` and ``G[j, i] = 1`` mean i → j.

    .. math:: G = A^\top - A

    An entry is the mark at the row's node: -1 a tail, 1 an arrow head.

    Example:
        >>> causallearn_matrix([[0, 1], [0, 0]]).tolist()  # 0 → 1
        [[0, -1], [1, 0]]
    """
    edges = (np.asarray(adjacency) != 0).astype(np.int64)
    return edges.T - edges
