"""How well scores rank the true edges, without any threshold."""

from __future__ import annotations

from typing import Any

from sklearn.metrics import average_precision_score, roc_auc_score

from ..ops.named_graphs import Names, scores_and_truth


def edge_auc(scores: Any, truth: Any, *, names: Names = None) -> dict[str, float]:
    r"""Areas under the precision–recall and the ROC curve, of directed and undirected edges.

    As the paper evaluates: all :math:`n^2` entries of the flattened matrix count, the diagonal
    included; directed scores S stand against A, undirected scores :math:`S + S^\top` against
    :math:`A + A^\top` (section 5.2). Precision is averaged over steps of recall, equal scores being
    one step; the area under the ROC curve is the probability that an edge scores above a pair that
    is none, equal scores counting half.

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
    found = {}
    for kind, scored, labels in (("Un", S + S.T, A + A.T), ("Dir", S, A)):
        found[f"{kind}-AUC-PR"] = float(average_precision_score(labels.ravel(), scored.ravel()))
        found[f"{kind}-AUC-ROC"] = float(roc_auc_score(labels.ravel(), scored.ravel()))
    return found
