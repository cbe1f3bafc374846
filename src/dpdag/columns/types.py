"""What kind of values a column holds: one rule, and the user's word above it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..registry import suggest

__all__ = ["TYPES", "ColumnType", "TypedColumns", "column_types", "infer_type"]

TYPES = ("continuous", "binary", "category", "ordinal", "count")
_FEW = 10  # values of a scale such as 1 to 5
_RETURNS = 5  # rows per value before few values are a scale rather than a small sample
_MOST = 50  # categories of a column of text
_SHOWN = 4  # levels in a description


@dataclass(frozen=True)
class ColumnType:
    """The type of a column, and its values where they are levels.

    Arguments:
        kind: One of ``TYPES``.
        levels: Of a binary, category or ordinal column, the lowest first; a level's place is its
            code.

    Example:
        >>> print(ColumnType("binary", (0.0, 1.0)))
        0/1
        >>> print(ColumnType("category", ("A", "B", "C")))
        category of 3: A, B, C
    """

    kind: str
    levels: tuple[Any, ...] = ()

    @property
    def discrete(self) -> bool:
        """Whether values have probabilities rather than densities."""
        return self.kind != "continuous"

    def __str__(self) -> str:
        if not self.levels:
            return {"count": "counts"}.get(self.kind, self.kind)
        texts = [_text(level) for level in self.levels]
        if self.kind == "binary":
            return "/".join(texts)
        shown = texts if len(texts) <= _SHOWN else [*texts[:2], "…", texts[-1]]
        return f"{self.kind} of {len(texts)}: {', '.join(shown)}"

    def codes(self, values: Any) -> NDArray[np.float64]:  # (rows,) -> (rows,)
        """Places of levels, other values as they are; NaN for missing and unknown ones.

        Example:
            >>> ColumnType("category", ("A", "B")).codes(["B", "A", None]).tolist()
            [1.0, 0.0, nan]
        """
        if not self.levels:
            return pd.Series(values).to_numpy(np.float64, na_value=np.nan)
        place = pd.Index(self.levels).get_indexer(pd.Index(pd.Series(values).to_numpy(object)))
        return np.where(place < 0, np.nan, place)

    def settle(self, values: NDArray[np.float64]) -> NDArray[np.float64]:  # (rows,) -> (rows,)
        """The nearest numbers that a column of this type can hold.

        Example:
            >>> ColumnType("count").settle(np.array([-0.2, 1.7])).tolist()
            [0.0, 2.0]
        """
        if self.kind == "count":
            return values.round().clip(min=0.0)
        if not self.levels:
            return values
        known = np.sort(np.asarray(self.levels, dtype=np.float64))
        return known[np.searchsorted((known[1:] + known[:-1]) / 2, values)]

    def decode(self, codes: NDArray[np.float64]) -> NDArray[Any]:  # (rows,) -> (rows,)
        """Back from codes to values."""
        return np.asarray(self.levels)[codes.astype(int)] if self.levels else codes


@dataclass(frozen=True)
class TypedColumns:
    """The types of standardised columns, and the way back to their values.

    Arguments:
        kinds: One of ``TYPES`` for every column.
        location, scale: (n,) of the values.
    """

    kinds: tuple[str, ...]
    location: Tensor
    scale: Tensor

    @property
    def discrete(self) -> Tensor:  # (n,) bool
        """Which columns are not continuous."""
        return torch.tensor([kind != "continuous" for kind in self.kinds])

    def values(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        """From standardised columns."""
        return x * self.scale + self.location

    def rescaled(self, centre: Tensor, width: Tensor) -> TypedColumns:  # (n,), (n,)
        """Of columns that have been standardised once more."""
        return TypedColumns(self.kinds, self.location + self.scale * centre, self.scale * width)

    def relabelled(self, order: Tensor) -> TypedColumns:  # (n,)
        """The same with column ``order[k]`` in place k."""
        kinds = tuple(self.kinds[k] for k in order.tolist())
        return TypedColumns(kinds, self.location[order], self.scale[order])


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
    numbers from 0 that return are counts; other numbers of at most ten values, each of which
    returns, are ordinal. All else is continuous.

    Example:
        >>> [infer_type(pd.Series(values * 20)).kind for values in (
        ...     [0, 1], ["a", "b", "c"], [1, 2, 5], [0, 3, 1, 12])]
        ['binary', 'category', 'ordinal', 'count']
        >>> infer_type(pd.Series(np.linspace(0, 1, 60))).kind
        'continuous'
    """
    seen = column.dropna()
    if isinstance(column.dtype, pd.CategoricalDtype):
        used = set(seen)
        levels = tuple(level for level in column.dtype.categories if level in used)
        return _of_levels("ordinal" if column.dtype.ordered else "category", levels)
    if not pd.api.types.is_numeric_dtype(column.dtype):
        return _of_text(seen)
    values, times = np.unique(seen.to_numpy(np.float64), return_counts=True)
    if len(values) == 2:
        return ColumnType("binary", tuple(seen.unique()[np.argsort(seen.unique())].tolist()))
    rows, few = len(seen), len(values) <= _FEW
    if len(values) > 2 and values[0] == 0 and _whole(values) and 2 * len(values) <= rows:
        return ColumnType("count")
    if len(values) > 2 and few and _RETURNS * len(values) <= rows and times.min() > 1:
        return ColumnType("ordinal", tuple(values.tolist()))
    return ColumnType("continuous")


def _of_text(seen: pd.Series[Any]) -> ColumnType:
    if seen.map(lambda value: isinstance(value, (bool, int, float, np.number))).all():
        return infer_type(pd.Series(seen.to_numpy(np.float64)))
    levels = tuple(sorted(seen.unique(), key=str))
    if len(levels) > max(2, min(_MOST, len(seen) // 2)):
        raise ValueError(
            f"Column {seen.name!r} holds {len(levels)} different texts in {len(seen)} rows, more "
            "like an id than a category; drop it or merge some of them."
        )
    return _of_levels("category", levels)


def _of_levels(kind: str, levels: tuple[Any, ...]) -> ColumnType:
    return ColumnType("binary" if len(levels) == 2 else kind, levels)


def _given(column: pd.Series[Any], name: Any, kind: str) -> ColumnType:
    """The type the user gave, where the values allow it."""
    seen = column.dropna()
    if kind in ("continuous", "count"):
        if not pd.api.types.is_numeric_dtype(column.dtype):
            raise ValueError(f"Column {name!r} cannot be {kind}: it does not hold numbers.")
        values = seen.to_numpy(np.float64)
        if kind == "count" and not (_whole(values) and (values >= 0).all()):
            raise ValueError(f"Column {name!r} cannot be a count: it holds other than 0, 1, 2, …")
        return ColumnType(kind)
    levels = infer_type(seen).levels or tuple(np.unique(seen.to_numpy()).tolist())
    if kind == "binary" and len(levels) != 2:
        raise ValueError(f"Column {name!r} cannot be binary: it has {len(levels)} values, not 2.")
    return ColumnType(kind, levels)


def _whole(values: NDArray[np.float64]) -> bool:
    return bool((values == np.round(values)).all())


def _text(level: Any) -> str:
    return f"{level:g}" if isinstance(level, float) else str(level)
