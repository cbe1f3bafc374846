"""How well columns explain each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

RELATED = 1e-12  # squared part in a linear relation, beneath which it is rounding


def explained_by_others(X: NDArray[Any]) -> NDArray[np.float64]:  # (rows, n) -> (n,)
    r"""R² of the linear regression of every column on all others.

    .. math:: R_j^2 = 1 - 1 / (C^{+})_{jj}, \qquad 1 \text{ where } C v = 0,\ v_j \ne 0

    with C the matrix of correlations: a column that a linear relation holds is explained by the
    others of that relation. A constant column has nothing to explain.

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
    size, direction = np.linalg.eigh(correlation)
    null = size <= len(size) * np.finfo(float).eps * size[-1]
    share = np.square(direction)  # (column, direction)
    related = share[:, null].sum(1) > RELATED
    precision = (share[:, ~null] / size[~null]).sum(1)
    return np.where(related, 1.0, 1 - 1 / np.where(related, 1.0, precision))
