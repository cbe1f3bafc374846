"""Distances that count wrong causal conclusions: SID and adjustment identification distances."""

from __future__ import annotations

from typing import Any

from ..ops.named_graphs import Names, graph_pair
from ..optional import optional


def sid(truth: Any, estimate: Any, *, names: Names = None) -> int:
    r"""Structural intervention distance: pairs whose effect the estimate would get wrong.

    .. math:: \#\{(i, j), i \ne j : p(x_j \mid do(x_i)) \text{ by adjusting for the estimate's
        parents of } i \text{ is wrong in the truth}\}

    Arguments:
        truth: True DAG.
        estimate: Estimated DAG over the same nodes. The distance is not symmetric.
        names: Names of the nodes of matrices that have none.

    References:
        | Structural intervention distance for evaluating causal graphs (Peters & Bühlmann, 2015)
        | Adjustment identification distance (Henckel, Würtzen & Weichwald, 2024)

    Example:
        >>> sid([[0, 1], [0, 0]], [[0, 0], [1, 0]])
        2
        >>> sid([[0, 1], [0, 0]], [[0, 1], [0, 0]])
        0
    """
    return _distance("sid", truth, estimate, names)


def parent_aid(truth: Any, estimate: Any, *, names: Names = None) -> int:
    r"""Parent adjustment identification distance; between two DAGs it equals :func:`sid`.

    Arguments as for :func:`sid`.

    Example:
        >>> parent_aid([[0, 1], [0, 0]], [[0, 0], [0, 0]])
        1
    """
    return _distance("parent_aid", truth, estimate, names)


def ancestor_aid(truth: Any, estimate: Any, *, names: Names = None) -> int:
    r"""Ancestor adjustment identification distance: effects by adjusting for all ancestors.

    Where the estimate has no directed path from i to j it claims that there is no effect; else
    it adjusts for the ancestors of i. A pair is wrong when the truth contradicts the claim or
    makes the adjustment invalid. It judges the causal order more than single edges: a complete
    graph in a right order has distance zero.

    Arguments as for :func:`sid`.

    Example:
        >>> ancestor_aid([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [[0, 1, 1], [0, 0, 1], [0, 0, 0]])
        0
    """
    return _distance("ancestor_aid", truth, estimate, names)


def _distance(kind: str, truth: Any, estimate: Any, names: Names) -> int:
    A, B = graph_pair(truth, estimate, names, what=("truth", "estimate"), acyclic=(True, True))
    if len(A) < 2:
        return 0
    gadjid = optional("gadjid", needed_by=f"'{kind}'", install="dpdag[metrics]")
    distance = getattr(gadjid, kind)
    _, mistakes = distance(A.astype("int8"), B.astype("int8"), edge_direction="from row to column")
    return int(mistakes)
