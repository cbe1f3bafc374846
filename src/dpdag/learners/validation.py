"""Observations at the public border: checked once, with errors that name the columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

__all__ = ["refuse_degenerate", "refuse_missing", "validated"]

Array = NDArray[np.float64]


def validated(
    estimator: BaseEstimator, X: Any, *, reset: bool, min_rows: int = 1
) -> Array:  # -> (rows, n)
    """Numbers of a DataFrame or array, NaN allowed, with scikit-learn's names and counts set."""
    try:
        values = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=min_rows,
            ensure_min_features=2,
        )
    except (TypeError, ValueError) as error:
        text = _text_columns(X)
        if not text:
            raise
        raise type(error)(
            f"X must hold numbers; columns {text} do not ({error}): encode or drop them."
        ) from None
    return np.array(values, dtype=np.float64)


def _text_columns(X: Any) -> list[Any]:
    """Columns with entries that are neither numbers nor missing."""
    if getattr(X, "ndim", 2) != 2 or hasattr(X, "tocsr"):
        return []
    frame = pd.DataFrame(X)
    return [name for name in frame if not frame[name].map(_is_number).all()]


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return value is None or value is pd.NA
    return True


def refuse_missing(values: Array, names: Sequence[Any]) -> None:
    """Raise where a column holds NaN or infinity."""
    for bad, what in ((np.isnan(values), "NaN"), (np.isinf(values), "infinity")):
        if bad.any():
            columns = [names[j] for j in np.flatnonzero(bad.any(0))]
            raise ValueError(f"X contains {what} in columns {columns}; impute first or drop the rows.")


def refuse_degenerate(values: Array, names: Sequence[Any]) -> None:
    """Raise where a column is constant, or a copy of another up to shift and scale."""
    scaled = values / np.maximum(np.abs(values).max(0), np.finfo(float).tiny)
    spread = scaled.std(0)
    constant = np.flatnonzero(spread < 1e-13)
    if len(constant):
        columns = [names[j] for j in constant]
        raise ValueError(f"X is constant in columns {columns}; drop them: they have no causes.")
    z = (scaled - scaled.mean(0)) / spread
    copies = np.triu(np.abs(z.T @ z / len(z)) > 1 - 1e-12, k=1)
    if copies.any():
        pairs = [(names[i], names[j]) for i, j in np.argwhere(copies)]
        raise ValueError(
            f"X holds copies, equal up to shift and scale, in columns {pairs}; keep one of each."
        )
