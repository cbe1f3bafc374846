"""Columns of observations: refused by name where nothing can be learned, then standardised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MISSING_WAY_OUT = (
    "impute first or drop the rows (DAGPosterior can learn with NaN: missing='impute')."
)
FITTED_WAY_OUT = "fill them first with the fitted model's impute(X), or drop the rows."
MAX_CODES = 3  # words in a column that may each stand for a missing value
SMALLEST, LARGEST = 1e-100, 1e100  # sizes of columns, so that sums of squares are exact
MIN_OTHERS, MIN_RETURNS, FAR = 3, 3, 2.0  # other values, rows, and widths of the others away
MIN_NUMBERED = 20  # a few consecutive numbers may well be doses


def refuse_missing(
    values: Array,  # (rows, n)
    names: Sequence[Any],
    *,
    way_out: str = MISSING_WAY_OUT,
) -> None:
    """Raise where a column holds NaN, with the way out, or infinity."""
    for bad, what in ((np.isnan(values), "NaN"), (np.isinf(values), "infinity")):
        if bad.any():
            columns = [names[j] for j in np.flatnonzero(bad.any(0)).tolist()]
            hint = way_out if what == "NaN" else "drop or correct these rows."
            raise ValueError(f"X contains {what} in columns {columns}; {hint}")


def extreme_columns(values: Array, names: Sequence[Any]) -> list[str]:  # (rows, n)
    """Columns, with their size, whose squares are infinite or zero in floating point.

    Example:
        >>> extreme_columns(np.array([[1.0, 0.0, np.nan], [2.0, 3e300, 4e-300]]), ["a", "b", "c"])
        ["'b' (3e+300)", "'c' (4e-300)"]
    """
    size = np.abs(np.nan_to_num(values)).max(0)  # (n,)
    far = (size > LARGEST) | ((size > 0) & (size < SMALLEST))
    return [f"{names[j]!r} ({size[j]:.0e})" for j in np.flatnonzero(far).tolist()]


def refuse_degenerate(values: Array, names: Sequence[Any]) -> None:  # (rows, n)
    """Raise where a column is extreme, constant, or a copy of another up to shift and scale."""
    far = extreme_columns(values, names)
    if far:
        raise ValueError(
            f"X must have values of sizes from {SMALLEST:g} to {LARGEST:g}; got {', '.join(far)}: "
            "choose another unit, or put NaN where a number stands for a missing value."
        )
    z, constant = standard_columns(values)
    if constant.any():
        columns = [names[j] for j in np.flatnonzero(constant).tolist()]
        raise ValueError(f"X is constant in columns {columns}; drop them: they have no causes.")
    copies = np.triu(np.abs(z.T @ z / len(z)) > 1 - 1e-12, k=1)
    if copies.any():
        pairs = [(names[i], names[j]) for i, j in np.argwhere(copies).tolist()]
        raise ValueError(
            f"X holds copies, equal up to shift and scale, in columns {pairs}; keep one of each."
        )


def standard_columns(values: Array) -> tuple[Array, NDArray[np.bool_]]:  # (rows, n)
    """Columns in standard units, missing values at their mean, and which ones are constant."""
    known = ~np.isnan(values)
    scaled = np.where(known, values, 0.0)
    scaled = scaled / np.maximum(np.abs(scaled).max(0), np.finfo(float).tiny)
    count = np.maximum(known.sum(0), 1)
    centred = np.where(known, scaled - scaled.sum(0) / count, 0.0)
    spread = np.sqrt((centred**2).sum(0) / count)
    constant = spread < 1e-13
    z = np.where(constant, 0.0, centred / np.where(constant, 1.0, spread))
    return z * np.sqrt(len(values) / count), constant


def stray_words(frame: Any) -> list[str]:
    """The few words of each column that alone keep it from being numbers; often missing values.

    Example:
        >>> import pandas as pd
        >>> stray_words(pd.DataFrame({"dose": [1, ".", "2.5", "?"], "site": list("abca")}))
        ['.', '?']
    """
    found: dict[str, None] = {}
    for name in frame:
        texts = frame[name].dropna().astype(str).str.strip()
        words = [text for text in texts if not is_number(text.replace(",", ""))]
        few = list(dict.fromkeys(words))
        if len(words) < len(texts) and len(few) <= MAX_CODES:
            found |= dict.fromkeys(few)
    return list(found)


def mere_signs(column: Any) -> list[str]:
    """Texts of a column without a letter or a digit; often missing values.

    Example:
        >>> import pandas as pd
        >>> mere_signs(pd.Series(["A", "?", "B1", "?", None]))
        ['?']
    """
    texts = [value for value in column.dropna().unique() if isinstance(value, str)]
    return [text for text in texts if not any(map(str.isalnum, text))]


def detection_limits(texts: Any) -> list[str]:
    """Texts such as <0.3, each once: measurements that were too small, or too large, to tell.

    Example:
        >>> detection_limits(["<0.3", "0.5", "> 90", "<0.3", "<b>"])
        ['<0.3', '> 90']
    """
    return [text for text in dict.fromkeys(texts) if text[:1] in "<>" and is_number(text[1:])]


def spellings(column: Any) -> list[list[str]]:
    """Texts of a column that differ only in case or blanks.

    Example:
        >>> import pandas as pd
        >>> spellings(pd.Series(["yes", "no", "YES", "yes "]))
        [['YES', 'yes', 'yes ']]
    """
    found: dict[str, list[str]] = {}
    for text in sorted(one for one in column.dropna().unique() if isinstance(one, str)):
        found.setdefault(" ".join(text.split()).casefold(), []).append(text)
    return [texts for texts in found.values() if len(texts) > 1]


def lone_value(column: Array) -> float | None:  # (rows,)
    """The least or the largest value, where it returns far from all others; often a missing one.

    Example:
        >>> lone_value(np.array([3.0, -999.0, 5.0, 4.0, -999.0, np.nan, 7.0, -999.0]))
        -999.0
    """
    values, times = np.unique(column[np.isfinite(column)], return_counts=True)
    if len(values) < MIN_OTHERS + 1:
        return None
    for lone, near, far in ((0, 1, -1), (-1, -2, 0)):
        gap, width = abs(values[lone] - values[near]), abs(values[near] - values[far])
        if times[lone] >= MIN_RETURNS and gap > FAR * width:
            return float(values[lone])
    return None


def is_number(value: Any) -> bool:
    """Whether a value, or what a text says, is one."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def numbers_rows(column: Array) -> bool:  # (rows,)
    """Whether these are whole numbers in steps of one, each once, in whatever order.

    Example:
        >>> count = np.arange(50.0)
        >>> numbers_rows(count[::-1] + 7), numbers_rows(count / 2), numbers_rows(count // 2)
        (True, False, False)
    """
    if len(column) < MIN_NUMBERED or not np.isfinite(column).all():
        return False
    return bool((np.diff(np.sort(column)) == 1).all() and column[0] % 1 == 0)


def standardised(X: Any) -> Array:  # (rows, n) -> (rows, n)
    """Columns of a DataFrame or array with mean zero and variance one, bad ones refused by name.

    Example:
        >>> standardised([[1.0, 5.0], [3.0, 4.0], [5.0, 0.0]])[:, 0].round(3).tolist()
        [-1.225, 0.0, 1.225]
        >>> standardised([[1.0, 5.0], [1.0, 4.0]])
        Traceback (most recent call last):
        ValueError: X is constant in columns [0]; drop them: they have no causes.
    """
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or not values.size:
        raise ValueError(f"X must be (rows, columns) and not empty; got shape {values.shape}.")
    names = list(X.columns) if hasattr(X, "columns") else range(values.shape[1])
    refuse_missing(values, names)
    refuse_degenerate(values, names)
    scaled = values / np.abs(values).max(0)
    centred: Array = scaled - scaled.mean(0)
    return centred / centred.std(0)
