"""Make a table of one's own fit for learning: columns without information named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..ops.columns import standard_columns


def text_columns(frame: pd.DataFrame) -> list[Any]:
    """Columns that hold no numbers."""
    kinds = pd.api.types
    return [
        name
        for name in frame.columns
        if not kinds.is_numeric_dtype(frame[name]) or kinds.is_complex_dtype(frame[name])
    ]


def floats(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with every column of numbers as floating point, missing ones NaN."""
    text = set(text_columns(frame))
    return frame.astype({name: np.float64 for name in frame.columns if name not in text})


def uninformative(frame: pd.DataFrame) -> dict[Any, str]:
    """Columns from which nothing can be learned, and why; of text, the order of values counts.

    Example:
        >>> import pandas as pd
        >>> table = pd.DataFrame({"°C": [1.0, 2, 4], "one": [1.0] * 3, "°F": [33.8, 35.6, 39.2]})
        >>> uninformative(table)
        {'one': 'constant', '°F': "a copy of '°C' up to shift and scale"}
    """
    names = list(frame.columns)
    text = text_columns(frame)
    columns = [_codes(frame[name]) if name in text else frame[name] for name in names]
    values = np.column_stack([column.to_numpy(np.float64, na_value=np.nan) for column in columns])
    known = ~np.isnan(values)
    z, constant = standard_columns(values)
    found = {}
    for k, name in enumerate(names):
        if constant[k]:
            found[name] = "constant" if known[:, k].any() else "all values missing"
    copies = np.triu(np.abs(z.T @ z / len(z)) > 1 - 1e-12, k=1)
    for i, j in np.argwhere(copies).tolist():
        same_gaps = bool((known[:, i] == known[:, j]).all())
        if same_gaps and names[i] not in found and names[j] not in found:
            found[names[j]] = f"a copy of {names[i]!r} up to shift and scale"
    return {name: found[name] for name in names if name in found}


def _codes(values: pd.Series[Any]) -> pd.Series[Any]:
    """Places of values among all, NaN for missing ones."""
    return values.astype(str).where(values.notna()).rank(method="dense")
