"""Distances between graphs: structural Hamming distance, edge counts, orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..ops.named_graphs import (
    Names,
    align_graph,
    graph_pair,
    places,
    read_graph,
    read_graphs,
    scores_and_truth,
)


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
    one, other = graph_pair(a, b, names, what=("a", "b"), acyclic=(False, False))
    return int(_shd(one, other, reversals))


def _shd(
    a: NDArray[Any], b: NDArray[Any], reversals: str
) -> NDArray[np.int64]:  # (*, n, n), (*, n, n) -> (*)
    if reversals not in ("once", "twice"):
        raise ValueError(f"'reversals' must be 'once' or 'twice'; got {reversals!r}.")
    wrong = a != b
    if reversals == "once":
        wrong = np.triu(wrong | np.swapaxes(wrong, -1, -2))
    return wrong.sum((-1, -2))


def expected_shd(
    samples: Any, truth: Any, *, reversals: str = "once", names: Names = None
) -> float:
    r"""Mean structural Hamming distance of sampled graphs to the truth.

    .. math:: \tfrac1k \textstyle\sum_s \operatorname{SHD}(A^{(s)}, A^*)

    Arguments:
        samples: (k, n, n) graphs, or a list of graphs in any form.
        truth: True DAG.
        reversals: As for :func:`shd`.
        names: Names of the nodes of matrices that have none.

    Example:
        >>> edge, none = [[0, 1], [0, 0]], [[0, 0], [0, 0]]
        >>> expected_shd([edge, none, none, none], edge)
        0.75
    """
    true = read_graph(truth, "truth", acyclic=True)
    graphs = read_graphs(samples, true, names)
    return float(_shd(graphs, true.values, reversals).mean())


class ThresholdCurve(NamedTuple):
    """SHD of thresholded scores, from the sparsest graph to the densest.

    Attributes:
        thresholds: Scores above which an edge counts, falling.
        shd: Distance to the truth at each.
        edges: Number of edges at each.
    """

    thresholds: NDArray[np.float64]
    shd: NDArray[np.int64]
    edges: NDArray[np.int64]


def shd_over_thresholds(
    scores: Any, truth: Any, *, thresholds: Sequence[float] | None = None, names: Names = None
) -> ThresholdCurve:
    r"""SHD between the truth and the edges with a score above t, for many t.

    .. math:: t \mapsto \operatorname{SHD}([S_{ij} > t]_{i \ne j}, A^*)

    Arguments:
        scores: (n, n) scores; the diagonal is ignored.
        truth: True DAG.
        thresholds: Values of t; 0.95, 0.90, …, 0.05 when not given, which suits probabilities.
        names: Names of the nodes of matrices that have none.

    Example:
        >>> curve = shd_over_thresholds([[0, 0.8], [0.3, 0]], [[0, 1], [0, 0]],
        ...     thresholds=[0.9, 0.5, 0.1])
        >>> curve.shd.tolist(), curve.edges.tolist()
        ([1, 0, 1], [0, 1, 2])
    """
    S, A = scores_and_truth(scores, truth, names)
    t = np.linspace(0.95, 0.05, 19) if thresholds is None else np.asarray(thresholds, dtype=float)
    if t.ndim != 1 or t.size == 0 or not np.isfinite(t).all():
        raise ValueError(f"'thresholds' must be a list of finite numbers; got {thresholds!r}.")
    t = np.sort(t)[::-1]
    graphs = (t[:, None, None] < S) & ~np.eye(len(S), dtype=bool)
    return ThresholdCurve(t, _shd(graphs, A, "once"), graphs.sum((1, 2)))


class EdgeReport(NamedTuple):
    """Counts of right and wrong edges, and the rates that follow from them.

    Attributes:
        true_positives: Estimated edges that are in the truth.
        false_positives: Estimated edges that are not, reversed ones included.
        false_negatives: True edges that are not estimated, reversed ones included.
        reversed: True edges estimated in the other direction only.
        precision: TP / (TP + FP); 1 when nothing is estimated.
        recall: TP / (TP + FN), also called TPR; 1 when there is nothing to find.
        f1: 2 TP / (2 TP + FP + FN); 1 when both graphs are empty.
        fdr: FP / (TP + FP) = 1 − precision.
        fpr: FP / number of ordered pairs without a true edge; 0 when there are none.
    """

    true_positives: int
    false_positives: int
    false_negatives: int
    reversed: int
    precision: float
    recall: float
    f1: float
    fdr: float
    fpr: float


def edge_report(
    truth: Any, estimate: Any, *, directed: bool = True, names: Names = None
) -> EdgeReport:
    r"""Precision, recall, F1, TPR and FDR of estimated edges.

    Arguments:
        truth: True DAG.
        estimate: Directed graph over the same nodes; cycles are allowed.
        directed: Whether an edge must have the right direction; if False, both graphs are
            compared by their skeletons, each pair counting once.
        names: Names of the nodes of matrices that have none.

    Example:
        >>> truth = [[0, 1, 1], [0, 0, 0], [0, 0, 0]]
        >>> report = edge_report(truth, [[0, 1, 0], [0, 0, 0], [1, 0, 0]])
        >>> report.precision, report.recall, report.fdr, report.reversed
        (0.5, 0.5, 0.5, 1)
        >>> edge_report(truth, [[0, 1, 0], [0, 0, 0], [1, 0, 0]], directed=False).f1
        1.0
    """
    A, B = graph_pair(truth, estimate, names, what=("truth", "estimate"), acyclic=(True, False))
    n = len(A)
    pairs = n * (n - 1)
    if not directed:
        A, B = np.triu(A | A.T), np.triu(B | B.T)
        pairs //= 2
    tp = int((A & B).sum())
    fp, fn = int(B.sum()) - tp, int(A.sum()) - tp
    precision = _ratio(tp, tp + fp, otherwise=1.0)
    return EdgeReport(
        true_positives=tp,
        false_positives=fp,
        false_negatives=fn,
        reversed=int((A & (1 - B) & B.T).sum()) if directed else 0,
        precision=precision,
        recall=_ratio(tp, tp + fn, otherwise=1.0),
        f1=_ratio(2 * tp, 2 * tp + fp + fn, otherwise=1.0),
        fdr=_ratio(fp, tp + fp, otherwise=0.0),
        fpr=_ratio(fp, pairs - tp - fn, otherwise=0.0),
    )


def _ratio(part: int, whole: int, *, otherwise: float) -> float:
    return part / whole if whole else otherwise


def order_divergence(order: Sequence[Any], truth: Any, *, names: Names = None) -> int:
    r"""Number of true edges that point backwards in a causal order.

    .. math:: \textstyle\sum_{ij} A^*_{ij} [\operatorname{rank}(i) > \operatorname{rank}(j)]

    Arguments:
        order: All nodes, causes first, by name, or by index where that is no name.
        truth: True DAG.
        names: Names of the nodes where the truth is a bare matrix.

    References:
        | Score matching enables causal discovery of nonlinear additive noise models
          (Rolland et al., 2022)

    Example:
        >>> order_divergence([1, 0, 2], [[0, 1, 1], [0, 0, 1], [0, 0, 0]])
        1
    """
    true = align_graph(truth, names, what="truth")
    given, n = list(order), len(true.values)
    nodes = places(given, true.labels)
    # The numbers of a graph's nodes mean nothing where the graph has names only.
    if nodes is None and true.ordered:
        nodes = places(given, list(range(n)))
    if nodes is None or len(nodes) != n:
        raise ValueError(
            f"'order' must hold each of the {n} nodes of 'truth' once, by index or name; "
            f"got {given[:20]}."
        )
    rank = np.argsort(np.asarray(nodes, dtype=int))
    return int((true.values * (rank[:, None] > rank)).sum())
