"""How well scores rank the true edges, without any threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ops.named_graphs import Names, scores_and_truth

__all__ = ["auc_pr", "auc_roc", "edge_auc"]


def edge_auc(scores: Any, truth: Any, *, names: Names = None) -> dict[str, float]:
    r"""Areas under the precision–recall and the ROC curve, of directed and undirected edges.

    As the paper evaluates: all :math:`n^2` entries of the flattened matrix count, the diagonal
    included; directed scores S stand against A, undirected scores :math:`S + S^\top` against
    :math:`A + A^\top` (section 5.2).

    Arguments:
        scores: (n, n) scores, larger = more certain.
        truth: True DAG.
        names: Names of the nodes of matrices that have none.

    Returns:
        "Un-AUC-PR", "Un-AUC-ROC", "Dir-AUC-PR" and "Dir-AUC-ROC", in [0, 1].

    Example:
        >>> edge_auc([[0, 0.9], [0.2, 0]], [[0, 1], [0, 0]])
        {'Un-AUC-PR': 1.0, 'Un-AUC-ROC': 1.0, 'Dir-AUC-PR': 1.0, 'Dir-AUC-ROC': 1.0}
    """
    S, A = scores_and_truth(scores, truth, names)
    if not A.any():
        raise ValueError("'truth' has no edges: areas under the curve are undefined.")
    directed, undirected = (S.ravel(), A.ravel()), ((S + S.T).ravel(), (A + A.T).ravel())
    return {
        "Un-AUC-PR": auc_pr(*undirected),
        "Un-AUC-ROC": auc_roc(*undirected),
        "Dir-AUC-PR": auc_pr(*directed),
        "Dir-AUC-ROC": auc_roc(*directed),
    }


def auc_pr(scores: NDArray[Any], labels: NDArray[Any]) -> float:  # (m,), (m,)
    r"""Average precision: the area under the precision–recall curve as a step function.

    .. math:: \sum_k (R_k - R_{k-1}) P_k

    over the distinct scores from the largest down; equal scores are one step.
    """
    true, false = _counts(scores, labels)
    recall_steps = np.diff(true, prepend=0) / true[-1]
    return float(recall_steps @ (true / (true + false)))


def auc_roc(scores: NDArray[Any], labels: NDArray[Any]) -> float:  # (m,), (m,)
    r"""Probability that a true entry scores above a false one, equal scores counting half.

    .. math:: \sum_k \tfrac12 (T_k + T_{k-1}) (F_k - F_{k-1}),

    the trapezoid area under true-positive rate T against false-positive rate F.
    """
    true, false = _counts(scores, labels)
    tpr = true / true[-1]
    middle = (tpr + np.concatenate([[0.0], tpr[:-1]])) / 2
    return float(middle @ np.diff(false, prepend=0) / false[-1])


def _counts(scores: NDArray[Any], labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """True and false entries with at least each distinct score, from the largest down."""
    order = np.argsort(-scores, kind="stable")
    positive = labels[order] > 0
    last_of_tie = np.flatnonzero(np.diff(scores[order], append=-np.inf) != 0)
    true = np.cumsum(positive, dtype=np.int64)[last_of_tie]
    false = last_of_tie + 1 - true
    if true[-1] == 0 or false[-1] == 0:
        raise ValueError("'labels' must hold both edges and non-edges: the area is undefined.")
    return true, false
