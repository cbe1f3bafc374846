"""Distances between two graphs: structural Hamming distance and edge counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from .inputs import Names, graph_pair

__all__ = ["shd"]


def shd(a: Any, b: Any, *, reversals: str = "once", names: Names = None) -> int:
    r"""Structural Hamming distance: how many edges to add, delete or reverse.

    .. math:: \sum_{i<j} [(a_{ij}, a_{ji}) \ne (b_{ij}, b_{ji})]
        \qquad\text{or}\qquad \sum_{ij} |a_{ij} - b_{ij}|

    Arguments:
        a: Directed graph; cycles are allowed, as thresholded scores may have them.
        b: Directed graph over the same nodes.
        reversals: "once": a reversed edge is one error (left formula; the paper and most of the
            literature); "twice": it is a missing and an extra edge (right formula).
        names: Names of the nodes of matrices that have none.

    Example:
        >>> shd([[0, 1], [0, 0]], [[0, 0], [1, 0]])
        1
        >>> shd([[0, 1], [0, 0]], [[0, 0], [1, 0]], reversals="twice")
        2
    """
    if reversals not in ("once", "twice"):
        raise ValueError(f"'reversals' must be 'once' or 'twice'; got {reversals!r}.")
    one, other = graph_pair(a, b, names, what=("a", "b"), acyclic=(False, False))
    wrong = one != other
    return int(np.triu(wrong | wrong.T).sum() if reversals == "once" else wrong.sum())
