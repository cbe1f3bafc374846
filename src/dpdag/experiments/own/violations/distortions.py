"""What is seen of a table (rows, n), where measurement or arithmetic stand in between."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def standard(x: Array) -> Array:
    """Columns of mean zero and variance one."""
    return np.asarray((x - x.mean(0)) / x.std(0))


def measured(X: Array, rng: np.random.Generator) -> Array:
    """Every column is measured with an error."""
    return X + 0.4 * X.std(0) * rng.normal(size=X.shape)


def stained(X: Array, rng: np.random.Generator) -> Array:
    """Every column is measured with an error that grows with it."""
    return X * np.exp(0.1 * rng.normal(size=X.shape))


def composed(X: Array, rng: np.random.Generator) -> Array:
    """Shares of a whole: every row sums to one."""
    parts = np.exp(0.5 * standard(X))
    return np.asarray(parts / parts.sum(1, keepdims=True))


def batched(X: Array, rng: np.random.Generator) -> Array:
    """Rows of five laboratories, each with a scale and a zero of its own."""
    laboratory = rng.integers(5, size=len(X))
    scale, zero = 1 + 0.3 * rng.normal(size=(5, X.shape[1])), rng.normal(size=(5, X.shape[1]))
    return np.asarray(X * scale[laboratory] + 0.5 * X.std(0) * zero[laboratory])


def drifted(X: Array, rng: np.random.Generator) -> Array:
    """Half of the instruments drift slowly, all together, while the table is being filled."""
    drift = np.sin(np.linspace(0, rng.uniform(2, 12), len(X)) + rng.uniform(0, 6))
    return X + 0.7 * X.std(0) * drift[:, None] * (rng.random(X.shape[1]) < 0.5)


def heaped(X: Array, rng: np.random.Generator) -> Array:
    """Half of the columns are read off to the nearest mark of a coarse scale, most of the time."""
    step = X.std(0) * rng.uniform(0.3, 0.8, X.shape[1])
    careless = rng.random(X.shape) < 0.8 * (rng.random(X.shape[1]) < 0.5)
    return np.where(careless, np.round(X / step) * step, X)


def saturated(X: Array, rng: np.random.Generator) -> Array:
    """Every sensor ends at a lowest and a highest value."""
    return np.clip(X, *np.quantile(X, [0.1, 0.85], axis=0))


def rounded(X: Array, rng: np.random.Generator) -> Array:
    """Every column is rounded to five levels."""
    low, high = np.quantile(X, [0.02, 0.98], axis=0)
    return np.clip(np.round(4 * (X - low) / (high - low)), 0, 4)
