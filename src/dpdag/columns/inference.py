"""Types of columns: one rule, and the user's word above it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..ops.columns import is_number, stray_words
from ..registry import suggest
from .types import TYPES, ColumnType, as_numbers, level_text

_FEW = 10  # values of a scale such as 1 to 5
_RETURNS = 5  # rows per value before few values are a scale rather than a small sample
_MOST = 50  # categories of a column of labels


def column_types(X: Any, types: Mapping[Any, str] | None = None) -> tuple[ColumnType, ...]:
    """The type of every column of a DataFrame or array, inferred but where it is given.

    Arguments:
        X: (rows, n); missing values are left out of account.
        types: Given types by name, or by place where columns have no names.

    Example:
        >>> frame = pd.DataFrame({"visits": [0, 2, 1, 0] * 5, "ill": [True, False] * 10})
        >>> [str(one) for one in column_types(frame, {"visits": "ordinal"})]
        ['ordinal of 3: 0, 1, 2', 'False/True']
        >>> column_types(frame, {"visit": "count"})
        Traceback (most recent call last):
        ValueError: 'types' names the column 'visit', which X does not have. Did you mean 'visits'?
    """
    if types is not None and not isinstance(types, Mapping):
        raise ValueError(
            "'types' must be a mapping from names of columns to types, such as "
            f"{{'visits': 'count'}}; got {types!r}."
        )
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
    given = dict(types or {})
    for name, kind in given.items():
        if name not in frame.columns:
            hint = suggest(name, [str(column) for column in frame.columns])
            raise ValueError(f"'types' names the column {name!r}, which X does not have.{hint}")
        if kind not in TYPES:
            hint = suggest(kind, list(TYPES))
            raise ValueError(
                f"'types' gives {name!r} the unknown type {kind!r}.{hint} "
                f"Known: {', '.join(TYPES)}."
            )
    return tuple(
        _given(frame[name], name, given[name]) if name in given else infer_type(frame[name])
        for name in frame.columns
    )


def infer_type(column: pd.Series[Any]) -> ColumnType:
    """The type that dtype and values suggest.

    Two values are binary. Ordered pandas categories are ordinal, others and text a category. Whole
    numbers from 0 that return are counts; other numbers of at most ten values, that are whole or
    of which each returns, are ordinal. All else is continuous.

    Example:
        >>> [infer_type(pd.Series(values * 20)).kind for values in (
        ...     [0, 1], ["a", "b", "c"], [1, 2, 5], [0, 3, 1, 12])]
        ['binary', 'category', 'ordinal', 'count']
        >>> infer_type(pd.Series(np.linspace(0, 1, 60))).kind
        'continuous'
    """
    if is_label(column):
        return _of_labels(column)
    seen = as_numbers(column).dropna()
    values, times = np.unique(seen.to_numpy(np.float64), return_counts=True)
    form = "whole" if pd.api.types.is_integer_dtype(column.dtype) else ""
    if len(values) == 2:
        return ColumnType("binary", tuple(values.tolist()), form)
    rows, few = len(seen), len(values) <= _FEW
    if len(values) > 2 and values[0] == 0 and _whole(values) and 2 * len(values) <= rows:
        return ColumnType("count", form=form)
    scale = few and _RETURNS * len(values) <= rows and (_whole(values) or times.min() > 1)
    if len(values) > 2 and scale:
        return ColumnType("ordinal", tuple(values.tolist()), form)
    return ColumnType("continuous")


def is_label(column: pd.Series[Any]) -> bool:
    """Whether a column holds labels: categories, truth values or text that is not all numbers.

    Example:
        >>> [is_label(pd.Series(values)) for values in ([True, False], ["a", "1"], ["2", "1"])]
        [True, True, False]
    """
    kinds = pd.api.types
    if isinstance(column.dtype, pd.CategoricalDtype) or kinds.is_bool_dtype(column.dtype):
        return True
    if kinds.is_numeric_dtype(column.dtype):
        return False
    seen = column.dropna()
    numbers = seen.map(is_number)
    return not bool(numbers.all()) or bool(seen.map(lambda one: isinstance(one, bool)).any())


def _of_labels(column: pd.Series[Any], *, mixed: bool = False) -> ColumnType:
    """Of categories, truth values or text; words among numbers must be asked for as ``mixed``."""
    seen = column.dropna()
    if isinstance(column.dtype, pd.CategoricalDtype):
        used = set(seen)
        levels = [level for level in column.dtype.categories if level in used]
        ordered = bool(column.dtype.ordered)
        kind, form = ("ordinal", "ordered") if ordered else ("category", "category")
    elif seen.map(lambda one: isinstance(one, (bool, np.bool_))).all():
        kind, form, levels = "category", "bool", sorted(map(bool, seen.unique()))
    else:
        if not seen.map(lambda one: isinstance(one, (str, int, float, np.number))).all():
            raise ValueError(
                f"Column {column.name!r} holds {type(seen.iloc[0]).__name__} values, neither "
                "numbers nor text; turn dates into numbers, such as days, or drop it."
            )
        if not mixed:
            _refuse_codes(column)
        kind, form, levels = "category", "text", sorted(seen.unique(), key=str)
    if len(levels) > max(2, min(_MOST, len(seen) // 2)):
        raise ValueError(
            f"Column {column.name!r} holds {len(levels)} different texts in {len(seen)} rows, more "
            "like an id than a category; drop it or merge some of them."
        )
    plain = (str, bool, int, float)  # what files can hold; others are known by their text
    levels = [level if isinstance(level, plain) else level_text(level) for level in levels]
    return ColumnType("binary" if len(levels) == 2 else kind, tuple(levels), form)


def _refuse_codes(column: pd.Series[Any]) -> None:
    """Words among numbers are missing values rather than categories."""
    if words := stray_words(column.to_frame()):
        raise ValueError(
            f"Column {column.name!r} holds numbers but for {', '.join(map(repr, words))}: put NaN "
            f"where they stand for missing values, or say types={{{column.name!r}: 'category'}}."
        )


def _given(column: pd.Series[Any], name: Any, kind: str) -> ColumnType:
    """The type the user gave, where the values allow it."""
    if kind in ("continuous", "count"):
        if is_label(column) and not pd.api.types.is_bool_dtype(column.dtype):
            raise ValueError(f"Column {name!r} cannot be {kind}: it does not hold numbers.")
        values = as_numbers(column).dropna().to_numpy(np.float64)
        if kind == "count" and not (_whole(values) and (values >= 0).all()):
            raise ValueError(f"Column {name!r} cannot be a count: it holds other than 0, 1, 2, …")
        return ColumnType(kind)
    own = _of_labels(column, mixed=kind == "category") if is_label(column) else infer_type(column)
    if kind == "ordinal" and own.labelled and own.kind != "ordinal":
        raise ValueError(
            f"Column {name!r} cannot be ordinal: nothing says in which order its labels are. Make "
            "it an ordered pandas category, or numbers."
        )
    levels = own.levels or tuple(np.unique(as_numbers(column).dropna()).tolist())
    if kind == "binary" and len(levels) != 2:
        raise ValueError(f"Column {name!r} cannot be binary: it has {len(levels)} values, not 2.")
    return ColumnType(kind, levels, own.form)


def _whole(values: NDArray[np.float64]) -> bool:
    return bool((values == np.round(values)).all())
