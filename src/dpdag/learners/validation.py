"""Observations at the public border: checked once, with errors that name the columns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from ..ops.columns import LEVELS, MISSING_WAY_OUT, numbers_rows, stray_words
from ..ops.labels import Label, are_positions, label_array

__all__ = [
    "Rows",
    "fitted_columns",
    "known_levels",
    "like_input",
    "refuse_empty",
    "validated",
    "warn_of_row_numbers",
]

Array = NDArray[np.float64]
Rows = Array | pd.DataFrame


def validated(
    estimator: BaseEstimator, X: Any, *, reset: bool, min_rows: int = 1
) -> Array:  # -> (rows, n)
    """Numbers of a DataFrame or array, NaN allowed, with scikit-learn's names and counts set."""
    if isinstance(X, (str, PathLike)):
        raise TypeError(
            f"X must be a DataFrame or an array; got the path {str(X)!r}: read the file first, "
            "with dpdag.datasets.read(path) or pandas."
        )
    names = column_labels(X) or []
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"X has the columns {twice} more than once; rename or drop them.")
    try:
        values = _numbers(
            estimator,
            X,
            reset=reset,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=min_rows,
            ensure_min_features=2 if reset else 1,
        )
    except (TypeError, ValueError) as error:
        text = [] if str(error).startswith("The feature names") else _text_columns(X)
        if not text:
            raise
        asked = reset and getattr(estimator, "missing", "error") == "error"
        gaps = _gaps(X, besides=text) if asked else []
        plain = type(error) in (TypeError, ValueError)  # dates raise pages of numpy's own
        reason = f" ({error})" if plain else ""
        words = stray_words(pd.DataFrame(X)[text])
        raise (type(error) if plain else TypeError)(
            f"X must hold numbers; columns {text} do not{reason}: encode or drop them "
            "(dpdag.datasets.one_hot encodes categories)."
            + (f" Put NaN where {words} stand for missing values." if words else "")
            + (f" It also has NaN in columns {gaps}; {MISSING_WAY_OUT}" if gaps else "")
        ) from None
    return np.array(values, dtype=np.float64)


def column_labels(X: Any) -> list[Label] | None:
    """What a DataFrame calls its columns; None for arrays, and where pandas only counts them."""
    if not isinstance(X, pd.DataFrame) or are_positions(list(X.columns)):
        return None
    return list(X.columns)


def _numbers(estimator: BaseEstimator, X: Any, *, reset: bool, **rules: Any) -> Array:
    """What scikit-learn checks, and what it does not of labels that are not all text."""
    labels = column_labels(X)
    fitted = None if reset else getattr(estimator, "feature_names_in_", None)
    if labels is None or _all_text([*labels, *(() if fitted is None else fitted)]):
        values: Array = validate_data(estimator, X, reset=reset, **rules)
        return values
    bare = X.set_axis(range(len(labels)), axis=1)
    if fitted is None:
        if not reset:
            kind = type(estimator).__name__
            warnings.warn(
                f"X has feature names, but {kind} was fitted without feature names", stacklevel=4
            )
        values = validate_data(estimator, bare, reset=reset, **rules)
        if reset:
            estimator.feature_names_in_ = label_array(labels)
        return values
    if labels != list(fitted):
        raise ValueError(
            "The feature names should match those that were passed during fit, in their order: "
            f"{list(fitted)[:20]}; got {labels[:20]}."
        )
    return np.asarray(check_array(bare, **rules))


def _all_text(labels: Sequence[Label]) -> bool:
    return all(isinstance(label, str) for label in labels)


def _text_columns(X: Any) -> list[Any]:
    """Columns with entries that are neither numbers nor missing."""
    if getattr(X, "ndim", 2) != 2 or hasattr(X, "tocsr"):
        return []
    frame = pd.DataFrame(X)
    return [name for name in frame if not frame[name].map(_is_number).all()]


def _gaps(X: Any, *, besides: Sequence[Any]) -> list[Any]:
    frame = pd.DataFrame(X).drop(columns=list(besides))
    return [name for name in frame if frame[name].isna().any()]


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return value is None or value is pd.NA
    return True


def warn_of_row_numbers(X: Any) -> None:
    """Warn the caller's caller of columns of a DataFrame that only number its rows."""
    if not isinstance(X, pd.DataFrame):
        return
    found = [
        name
        for name, column in X.items()
        if column.dtype.kind in "iuf"  # integers and floats
        and numbers_rows(column.to_numpy(np.float64, na_value=np.nan))
    ]
    if found:
        warnings.warn(
            f"Columns {found} number the rows: drop ids, which cause nothing; a time or an order "
            "may stay, in the first tier of 'knowledge'.",
            UserWarning,
            stacklevel=3,
        )


def refuse_empty(holes: np.ndarray, names: Sequence[Any]) -> None:  # (rows, n) bool
    """A column without any value cannot be imputed."""
    empty = [name for k, name in enumerate(names) if holes[:, k].all()]
    if empty:
        raise ValueError(f"X has no value at all in columns {empty}; drop them.")


def fitted_columns(estimator: BaseEstimator, X: Any) -> Any:
    """The columns that were fitted, in their order, of a DataFrame that has them all."""
    if not isinstance(X, pd.DataFrame):
        return X
    names = list(getattr(estimator, "feature_names_in_", range(estimator.n_features_in_)))
    return X[names] if set(names) <= set(X.columns) else X


def known_levels(X: Any) -> dict[str, list[str]]:
    """All categories of the variables of a DataFrame that has all their 0/1 columns."""
    if not isinstance(X, pd.DataFrame):
        return {}
    names = list(X.columns)
    return {
        str(variable): [str(level) for level in levels]
        for variable, levels in X.attrs.get(LEVELS, {}).items()
        if {f"{variable}={level}" for level in levels[1:]}
        == {name for name in names if str(name).rpartition("=")[0] == str(variable)}
    }


def like_input(values: Array, own: Any, given: Any) -> Rows:
    """Numbers as a DataFrame, if they answer one, in the order of its columns.

    Arguments:
        values: (m, n) in the order of the columns of ``own``.
        own: What was answered: ``given``, or its :func:`fitted_columns`.
        given: What the user gave.
    """
    if not hasattr(own, "columns"):
        return values
    frame = pd.DataFrame(values, columns=own.columns, index=getattr(own, "index", None))
    frame.attrs.update(getattr(own, "attrs", {}))
    return frame[[name for name in given.columns if name in frame]]
