"""Observations at the public border: checked once, labels coded, answers decoded."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from ..columns import ColumnType, column_types, level_text
from ..ops.columns import MISSING_WAY_OUT, is_number, numbers_rows, stray_words
from ..ops.labels import Label, are_positions, label_array
from .checks import warn_caller

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
    refuse_twice(X)
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
            f"X must hold numbers; columns {text} do not{reason}: drop them, or give a DataFrame, "
            "whose columns of text are categories."
            + (f" Put NaN where {words} stand for missing values." if words else "")
            + (f" It also has NaN in columns {gaps}; {MISSING_WAY_OUT}" if gaps else "")
        ) from None
    return np.array(values, dtype=np.float64)


def refuse_twice(X: Any) -> None:
    """Refuse columns of a DataFrame that share a name, or have none."""
    names = column_labels(X) or []
    if nameless := [k for k, name in enumerate(names) if name is None or name != name]:
        raise ValueError(f"X has no name for the columns in places {nameless}; give them names.")
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"X has the columns {twice} more than once; rename or drop them.")


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
            warn_caller(f"X has feature names, but {kind} was fitted without feature names")
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
    return [name for name in frame if not frame[name].map(_number_or_missing).all()]


def _gaps(X: Any, *, besides: Sequence[Any]) -> list[Any]:
    frame = pd.DataFrame(X).drop(columns=list(besides))
    return [name for name in frame if frame[name].isna().any()]


def _number_or_missing(value: Any) -> bool:
    return value is None or value is pd.NA or is_number(value)


def warn_of_row_numbers(X: Any) -> None:
    """Warn of columns of a DataFrame that only number its rows."""
    if not isinstance(X, pd.DataFrame):
        return
    found = [
        name
        for name, column in X.items()
        if column.dtype.kind in "iuf"  # integers and floats
        and numbers_rows(column.to_numpy(np.float64, na_value=np.nan))
    ]
    if found:
        warn_caller(
            f"Columns {found} number the rows: drop ids, which cause nothing; a time or an order "
            "may stay, in the first tier of 'knowledge'."
        )


def refuse_empty(missing: np.ndarray, names: Sequence[Any]) -> None:  # (rows, n) bool
    """A column without any value cannot be imputed."""
    empty = [name for k, name in enumerate(names) if missing[:, k].all()]
    if empty:
        raise ValueError(f"X has no value at all in columns {empty}; drop them.")


def as_frame(X: Any) -> Any:
    """A pandas DataFrame for a table of another library, such as polars; else what came."""
    if isinstance(X, pd.DataFrame) or not hasattr(X, "to_pandas"):
        return X
    try:
        return X.to_pandas()
    except ImportError:  # polars needs pyarrow for it
        return pd.DataFrame({name: X[name].to_list() for name in X.columns})


def plain_types(X: Any, learner: str) -> tuple[ColumnType, ...]:
    """Types for learners of numbers: two values and ordered labels are known, all else numbers."""
    types = column_types(X)
    for name, own in zip(X.columns if hasattr(X, "columns") else range(len(types)), types):
        if own.kind == "category" and len(own.levels) > 2:
            raise ValueError(
                f"Column {name!r} is a {own}; {learner} takes numbers, two values and ordered "
                "categories. Use DAGPosterior, drop it, or give it an order."
            )
    return tuple(
        own if own.labelled or own.kind == "binary" else ColumnType("continuous") for own in types
    )


def coded(X: Any, types: Sequence[ColumnType]) -> Any:
    """Labels of a DataFrame as numbers, unknown ones refused by name; other tables as they are."""
    if not isinstance(X, pd.DataFrame) or not any(own.labelled for own in types):
        return X
    columns = [X.iloc[:, k] for k in range(X.shape[1])]
    for own, column in zip(types, columns):
        if strange := own.unknown(column):
            said = ", ".join(repr(value) for value in strange[:5])
            known = ", ".join(map(level_text, own.levels))
            raise ValueError(
                f"X has {said} in column {column.name!r}, of which the model knows only {known}; "
                "leave such rows out or fit again with them."
            )
    parts = [
        pd.Series(own.encode(column), index=X.index) if own.labelled else column
        for own, column in zip(types, columns)
    ]
    return pd.concat(parts, axis=1).set_axis(X.columns, axis=1)


def decoded(values: Array, labels: pd.Index[Any], types: Sequence[ColumnType]) -> pd.DataFrame:
    """A DataFrame of what numbers (m, n) stand for."""
    columns = [own.decode(column) for own, column in zip(types, values.T)]
    return pd.DataFrame(dict(enumerate(columns))).set_axis(labels, axis=1)


def fitted_columns(estimator: Any, X: Any) -> Any:
    """The columns that were fitted, in their order and as numbers, of a DataFrame with them all."""
    X = as_frame(X)
    if not isinstance(X, pd.DataFrame):
        return X
    names = list(getattr(estimator, "feature_names_in_", range(estimator.n_features_in_)))
    return coded(X[names], estimator.types_ or ()) if set(names) <= set(X.columns) else X


def like_input(
    values: Array, own: Any, given: Any, types: Sequence[ColumnType] = ()
) -> Any:  # (m, n)
    """Numbers as a table of the kind they answer, in the order of its columns.

    Arguments:
        values: (m, n) in the order of the columns of ``own``.
        own: What was answered: ``given``, or its :func:`fitted_columns`.
        given: What the user gave.
        types: Of columns whose numbers stand for other values.
    """
    if not hasattr(own, "columns"):
        return values
    if types:
        frame = decoded(values, own.columns, types).set_axis(own.index, axis=0)
    else:
        frame = pd.DataFrame(values, columns=own.columns, index=own.index)
    frame.attrs.update(own.attrs)
    frame = frame[[name for name in given.columns if name in frame]]
    if isinstance(given, pd.DataFrame) or not hasattr(given, "to_pandas"):
        return frame
    return type(given)({str(name): frame[name].tolist() for name in frame})  # polars and its like
