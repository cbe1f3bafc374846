"""Whether the data gives the causal order away by its scales: diagnostics of benchmarks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..ops.named_graphs import Names, align_graph
from ..ops.regression import explained_by_others
from .prediction import observations

FloatArray = NDArray[np.float64]


class Sortability(NamedTuple):
    """How far variances and predictability order the nodes causally, and what that means.

    Attributes:
        varsortability: 1 when the variance grows along every path, ½ when it tells nothing.
        r2_sortability: The same for the R² of each node given all others; it is the one that
            standardising the columns does not remove.
        verdict: Two sentences in plain language.
    """

    varsortability: float
    r2_sortability: float
    verdict: str


def varsortability(X: Any, truth: Any, *, names: Names = None) -> float:
    r"""Fraction of directed paths along which the marginal variance grows.

    .. math:: \frac{\sum_k \sum_{i \to j \in A^k} \operatorname{inc}(v_i, v_j)}
        {\sum_k \sum_{i \to j \in A^k} 1}, \quad
        \operatorname{inc}(a, b) = [a < b] + \tfrac12 [a = b],

    the inner sums over pairs joined by a path of k edges.

    Arguments:
        X: (rows, nodes) observations; a DataFrame is aligned with a named truth.
        truth: True DAG.
        names: Names of the columns of a bare array.

    References:
        | Beware of the simulated DAG! (Reisach, Seiler & Weichwald, 2021)

    Example:
        >>> X = np.random.default_rng(0).standard_normal((100, 1)) * [1.0, 2.0, 3.0]
        >>> varsortability(X, [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
        1.0
    """
    values, A = _columns(X, truth, names)
    return _path_order(values.var(0), A)


def r2_sortability(X: Any, truth: Any, *, names: Names = None) -> float:
    r"""Fraction of directed paths along which R² grows; unchanged by rescaling columns.

    .. math:: R^2_i = 1 - 1 / (C^{-1})_{ii}, \quad C = \text{correlation matrix of } X

    is how well a linear function of all other nodes predicts node i.

    Arguments as for :func:`varsortability`.

    References:
        | A scale-invariant sorting criterion to find a causal order in additive noise models
          (Reisach et al., 2023)

    Example:
        >>> rng = np.random.default_rng(0)
        >>> a, b, noise = rng.standard_normal((3, 1000))
        >>> X = np.stack([a, b, a + b + noise], axis=1)  # a → c ← b
        >>> r2_sortability(X * [9.0, 9.0, 1.0], [[0, 0, 1], [0, 0, 1], [0, 0, 0]])
        1.0
    """
    values, A = _columns(X, truth, names)
    return _path_order(explained_by_others(values), A)


def sortability(X: Any, truth: Any, *, names: Names = None) -> Sortability:
    r"""Both criteria with a verdict on whether results on these data can be trusted.

    Arguments as for :func:`varsortability`.

    Example:
        >>> X = np.random.default_rng(0).standard_normal((100, 2)) * [1.0, 5.0]
        >>> print(sortability(X, [[0, 1], [0, 0]]).verdict)
        Varsortability 1.00: the raw scales give the causal order away, to any method that sees
        ... R²-sortability 0.50: ...
    """
    values, A = _columns(X, truth, names)
    scales, fit = _path_order(values.var(0), A), _path_order(explained_by_others(values), A)
    verdict = (
        f"Varsortability {scales:.2f}: {_verdict(scales, 'scales')} "
        f"R²-sortability {fit:.2f}: {_verdict(fit, 'fit')}"
    )
    return Sortability(scales, fit, verdict)


# What a criterion says of the causal order, from little to much.
VERDICTS = {
    "scales": (
        "the raw scales tell little about the causal order.",
        "the raw scales hint at the causal order{}, until standardised.",
        "the raw scales give the causal order away{}, to any method that sees columns before they "
        "are standardised.",
    ),
    "fit": (
        "how well a node is predicted by the others tells little about the order.",
        "how well a node is predicted by the others hints at the order{}.",
        "how well a node is predicted by the others gives the order away{}, even after "
        "standardising; compare with a method that only sorts by R².",
    ),
}


def _verdict(value: float, of: str) -> str:
    strength = np.searchsorted([0.15, 0.3], abs(value - 0.5), side="right")
    return VERDICTS[of][strength].format(" backwards" if value < 0.5 else "")


def _columns(X: Any, truth: Any, names: Names) -> tuple[FloatArray, NDArray[np.int64]]:
    values = observations(X, "X")
    true = align_graph(truth, list(X.columns) if hasattr(X, "columns") else names, what="truth")
    if not true.ordered:
        raise ValueError("'truth' has names and 'X' has none; pass names=[…] of the columns of X.")
    A = true.values
    if values.shape[1] != len(A) or len(values) < 2:
        raise ValueError(
            f"'X' must be (rows, {len(A)}) with at least 2 rows; got shape {values.shape}."
        )
    if not A.any():
        raise ValueError("'truth' has no edges: sortability is undefined.")
    return values, A


def _path_order(value: FloatArray, A: NDArray[np.int64]) -> float:
    a, b = value[:, None], value[None, :]
    tied = np.isclose(a, b, rtol=1e-6, atol=0)  # columns standardised in single precision tie
    increasing = np.where(tied, 0.5, (a < b).astype(float))
    right = total = 0.0
    joined = A.astype(bool)
    while joined.any():  # pairs joined by a path of 1, 2, … edges; at most n − 1 in a DAG
        right += float(increasing[joined].sum())
        total += float(joined.sum())
        joined = (joined.astype(np.float64) @ A) > 0
    return right / total
