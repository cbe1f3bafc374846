"""What kind of values a column holds, as numbers inside and as they came outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

TYPES = ("continuous", "binary", "category", "ordinal", "count")
_SHOWN = 4  # levels in a description


@dataclass(frozen=True)
class ColumnType:
    """The type of a column, and its values where they are levels.

    Arguments:
        kind: One of ``TYPES``.
        levels: Of a binary, category or ordinal column, the lowest first.
        form: What values look like outside: "" for numbers, "whole" for integers; "bool",
            "category", "ordered" and "text" for labels, whose numbers are their places among the
            levels.

    Example:
        >>> print(ColumnType("binary", (0.0, 1.0)))
        0/1
        >>> print(ColumnType("category", ("A", "B", "C"), "text"))
        category of 3: A, B, C
    """

    kind: str
    levels: tuple[Any, ...] = ()
    form: str = ""

    @property
    def discrete(self) -> bool:
        """Whether values have probabilities rather than densities."""
        return self.kind != "continuous"

    @property
    def labelled(self) -> bool:
        """Whether values are labels rather than numbers."""
        return self.form not in ("", "whole")

    @property
    def means(self) -> ColumnType:
        """The type of what is expected of a column: of whole numbers, numbers."""
        return self if self.labelled else ColumnType("continuous")

    def __str__(self) -> str:
        if not self.levels:
            return {"count": "counts"}.get(self.kind, self.kind)
        texts = [level_text(level) for level in self.levels]
        if self.kind == "binary":
            return "/".join(texts)
        shown = texts if len(texts) <= _SHOWN else [*texts[:2], "…", texts[-1]]
        return f"{self.kind} of {len(texts)}: {', '.join(shown)}"

    def encode(self, values: pd.Series[Any]) -> NDArray[np.float64]:  # (rows,) -> (rows,)
        """Numbers: places of labels, other values as they are; NaN for missing and unknown ones.

        Example:
            >>> ColumnType("category", ("A", "B"), "text").encode(pd.Series(["B", "A", None]))
            array([ 1.,  0., nan])
        """
        if not self.labelled:
            return as_numbers(values).to_numpy(np.float64, na_value=np.nan)
        place = {level_text(level): k for k, level in enumerate(self.levels)}
        texts = values.astype(object).map(level_text, na_action="ignore")
        codes = [place.get(text, np.nan) for text in texts]
        return np.array(codes, dtype=np.float64)

    def unknown(self, values: pd.Series[Any]) -> list[Any]:
        """Labels that are none of the levels, each once."""
        strange = values.notna().to_numpy() & np.isnan(self.encode(values))
        return list(values[strange].unique()) if self.labelled else []

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
        known = np.arange(len(self.levels)) if self.labelled else np.sort(self.levels)
        return known.astype(np.float64)[np.searchsorted((known[1:] + known[:-1]) / 2, values)]

    def decode(self, numbers: NDArray[np.float64]) -> Any:  # (rows,) -> (rows,)
        """Back from numbers that a column of this type can hold to what they look like outside.

        Example:
            >>> ColumnType("binary", (False, True), "bool").decode(np.array([1.0, 0.0]))
            array([ True, False])
        """
        if self.form == "whole":
            return numbers.astype(np.int64)
        if not self.labelled:
            return numbers
        places = numbers.astype(int)
        if self.form in ("category", "ordered"):
            known = pd.Index(self.levels, tupleize_cols=False)
            return pd.Categorical.from_codes(places, known, ordered=self.form == "ordered")
        kind = bool if self.form == "bool" else object
        return np.array(self.levels, dtype=kind)[places]


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

    @property
    def categories(self) -> tuple[int, ...]:
        """Which columns have more than two values in no order."""
        return tuple(k for k, kind in enumerate(self.kinds) if kind == "category")

    def values(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        """From standardised columns."""
        return x * self.scale + self.location

    def relabelled(self, order: Tensor) -> TypedColumns:  # (n,)
        """The same with column ``order[k]`` in place k."""
        kinds = tuple(self.kinds[k] for k in order.tolist())
        return TypedColumns(kinds, self.location[order], self.scale[order])


def level_text(level: Any) -> str:
    """A level as people write it.

    Example:
        >>> level_text(2.0), level_text("north"), level_text(True)
        ('2', 'north', 'True')
    """
    if isinstance(level, (float, np.floating)):
        return str(int(level)) if float(level).is_integer() else f"{level:g}"
    return str(level)


def as_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Numbers that may be given as text."""
    return column if pd.api.types.is_numeric_dtype(column.dtype) else pd.to_numeric(column)
