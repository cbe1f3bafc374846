"""How well columns explain each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["explained_by_others"]


def explained_by_others(X: NDArray[Any]) -> NDArray[np.float64]:  # (rows, n) -> (n,)
    r"""R² of the linear regression of every column on all others.

    .. math:: R_j^2 = 1 - 1 / (C^{-1})_{jj}

    with C the matrix of correlations.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> a, b = rng.normal(size=(2, 1000))
        >>> explained_by_others(np.stack([a, b, a + 0.1 * b], axis=1)).round(2).tolist()
        [1.0, 1.0, 1.0]
    """
    scale = X.std(0)
    Z = (X - X.mean(0)) / np.where(scale > 0, scale, 1.0)
    correlation = Z.T @ Z / len(Z)
    correlation[np.diag_indices_from(correlation)] = 1.0
    if np.linalg.matrix_rank(correlation, hermitian=True) < len(correlation):
        return _by_regression(Z)
    return 1 - 1 / np.linalg.inv(correlation).diagonal()


def _by_regression(Z: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same for columns that are linearly dependent."""
    r2 = np.zeros(Z.shape[1])  # a constant column has nothing to explain
    for node in np.flatnonzero(Z.any(0)):
        others = np.delete(Z, node, axis=1)
        weights = np.linalg.lstsq(others, Z[:, node], rcond=None)[0]
        r2[node] = 1 - np.square(Z[:, node] - others @ weights).mean()
    return r2
