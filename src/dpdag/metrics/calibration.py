"""Whether edge probabilities mean what they say."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..ops.named_graphs import Names, scores_and_truth

FloatArray = NDArray[np.float64]


class ReliabilityCurve(NamedTuple):
    """Stated against observed frequency of edges, in bins of equal width over [0, 1].

    Attributes:
        probability: Mean stated probability in each bin; NaN where the bin is empty.
        frequency: Fraction of true edges in each bin; NaN where the bin is empty.
        counts: Number of possible edges in each bin.
    """

    probability: FloatArray
    frequency: FloatArray
    counts: NDArray[np.int64]


def brier(probabilities: Any, truth: Any, *, names: Names = None) -> float:
    r"""Brier score: mean squared distance of edge probabilities to the truth.

    .. math:: \frac{1}{n(n-1)} \sum_{i \ne j} (p_{ij} - A^*_{ij})^2

    Arguments:
        probabilities: (n, n) edge probabilities; the diagonal is ignored.
        truth: True DAG.
        names: Names of the nodes of matrices that have none.

    Example:
        >>> brier([[0, 0.5], [0.5, 0]], [[0, 1], [0, 0]])
        0.25
    """
    p, edge = _off_diagonal(probabilities, truth, names)
    return float(np.square(p - edge).mean())


def reliability_curve(
    probabilities: Any, truth: Any, *, bins: int = 10, names: Names = None
) -> ReliabilityCurve:
    r"""How often edges of each stated probability exist.

    Arguments:
        probabilities: (n, n) edge probabilities; the diagonal is ignored.
        truth: True DAG.
        bins: Number of bins of equal width; a value on a boundary belongs to the upper bin.
        names: Names of the nodes of matrices that have none.

    Example:
        >>> curve = reliability_curve([[0, 0.9], [0.2, 0]], [[0, 1], [0, 0]], bins=2)
        >>> curve.probability.tolist(), curve.frequency.tolist(), curve.counts.tolist()
        ([0.2, 0.9], [0.0, 1.0], [1, 1])
    """
    if not isinstance(bins, (int, np.integer)) or bins < 1:
        raise ValueError(f"'bins' must be a whole number from 1; got {bins!r}.")
    p, edge = _off_diagonal(probabilities, truth, names)
    bin_of = np.minimum((p * bins).astype(int), bins - 1)
    counts = np.bincount(bin_of, minlength=bins)
    total = np.where(counts > 0, counts, np.nan)
    return ReliabilityCurve(
        probability=np.bincount(bin_of, weights=p, minlength=bins) / total,
        frequency=np.bincount(bin_of, weights=edge, minlength=bins) / total,
        counts=counts,
    )


def expected_calibration_error(
    probabilities: Any, truth: Any, *, bins: int = 10, names: Names = None
) -> float:
    r"""Mean gap between stated probability and observed frequency over bins.

    .. math:: \textstyle\sum_b \frac{n_b}{n(n-1)} |\bar p_b - \bar A^*_b|

    Arguments as for :func:`reliability_curve`.

    Example:
        >>> round(expected_calibration_error([[0, 0.9], [0.2, 0]], [[0, 1], [0, 0]]), 3)
        0.15
    """
    curve = reliability_curve(probabilities, truth, bins=bins, names=names)
    gap = np.abs(curve.probability - curve.frequency)
    return float(np.nansum(curve.counts * gap) / curve.counts.sum())


def _off_diagonal(probabilities: Any, truth: Any, names: Names) -> tuple[FloatArray, FloatArray]:
    P, A = scores_and_truth(probabilities, truth, names, what="probabilities")
    if len(A) < 2:
        raise ValueError("'truth' must have at least 2 nodes; one node has no possible edges.")
    off = ~np.eye(len(A), dtype=bool)
    p = P[off]
    if p.min() < 0 or p.max() > 1:
        raise ValueError(
            f"'probabilities' must be in [0, 1]; they range from {p.min():g} to {p.max():g}."
        )
    return p, A[off].astype(np.float64)
