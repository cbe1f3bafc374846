"""Make a table of one's own fit for learning: text encoded, columns without information named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.columns import LEVELS
from ..ops.labels import Label, label_index

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "decoded",
    "encoded",
    "floats",
    "from_one_hot",
    "levels",
    "one_hot",
    "text_columns",
    "uninformative",
]


def text_columns(frame: pd.DataFrame) -> list[Any]:
    """Columns that hold no numbers."""
    import pandas as pd

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


def one_hot(
    frame: pd.DataFrame, columns: Sequence[Label]
) -> tuple[pd.DataFrame, dict[Label, list[str]]]:
    """Replace columns of categories by 0/1 columns, one per category but the first.

    The first category is what all zeros mean; it is noted in the table's ``attrs``, from where
    learners know it by name. A missing category stays missing.

    Returns:
        The table, and the new columns of each old one.

    Example:
        >>> import pandas as pd
        >>> table, new = one_hot(pd.DataFrame({"site": ["C", "A", "B", "A"]}), ["site"])
        >>> new, table["site=B"].tolist()
        ({'site': ['site=B', 'site=C']}, [0.0, 0.0, 1.0, 0.0])
    """
    parts: dict[Label, pd.Series] = {}
    new: dict[Label, list[str]] = {}
    known = dict(frame.attrs.get(LEVELS, {}))
    for name in frame.columns:
        if name not in columns:
            parts[name] = frame[name]
            continue
        values = frame[name]
        known[name] = levels(values)
        new[name] = [f"{name}={level}" for level in known[name][1:]]
        for level, column in zip(known[name][1:], new[name], strict=True):
            parts[column] = encoded(values, level)
    table = _assembled(parts, frame)
    table.attrs[LEVELS] = known
    return table, new


def levels(values: pd.Series) -> list[str]:
    """The categories of a column, sorted."""
    return sorted(_words(values.dropna()).unique())


def encoded(values: pd.Series, level: str) -> pd.Series:
    """1 where a value is the category ``level``, 0 where another, NaN where missing."""
    return (_words(values) == level).astype(np.float64).where(values.notna())


def decoded(columns: pd.DataFrame, first: str | None) -> pd.Series:
    """The category of every row, the likeliest where its columns hold other numbers than 0 and 1.

    Arguments:
        columns: 0/1 columns "variable=category"; what a row leaves of 1 is for ``first``.
        first: The category without a column; rows of it are missing where it is None.

    Example:
        >>> import pandas as pd
        >>> columns = pd.DataFrame({"site=B": [0.0, 1.0, 0.4], "site=C": [0.0, 0.0, 0.5]})
        >>> decoded(columns, "A").tolist()
        ['A', 'B', 'C']
    """
    import pandas as pd

    names = [first, *(str(name).rpartition("=")[2] for name in columns)]
    shares = columns.to_numpy(np.float64)  # (rows, categories but the first)
    likeliest = np.column_stack([1 - shares.sum(1), shares]).argmax(1)
    said = pd.Series(np.array(names, dtype=object)[likeliest], index=columns.index)
    return said.where(columns.notna().all(axis=1))


def from_one_hot(frame: pd.DataFrame, levels: Mapping[Any, Sequence[str]]) -> pd.DataFrame:
    """Put columns of categories back in the place of their 0/1 columns.

    Arguments:
        frame: With the columns that :func:`one_hot` made.
        levels: All categories of these variables, the first being the one without a column.

    Example:
        >>> import pandas as pd
        >>> table = pd.DataFrame({"site": ["C", "A", "B"], "age": [40, 50, 60]})
        >>> from_one_hot(one_hot(table, ["site"])[0], {"site": ["A", "B", "C"]}).equals(table)
        True
    """
    groups = {name: [f"{name}={level}" for level in known[1:]] for name, known in levels.items()}
    variables = {column: name for name, columns in groups.items() for column in columns}
    parts: dict[Label, pd.Series] = {}
    for name in frame.columns:
        variable = variables.get(name)
        if variable is None:
            parts[name] = frame[name]
        elif variable not in parts:
            parts[variable] = decoded(frame[groups[variable]], levels[variable][0])
    return _assembled(parts, frame)


def uninformative(frame: pd.DataFrame) -> dict[Any, str]:
    """Columns of numbers from which nothing can be learned, and why.

    Example:
        >>> import pandas as pd
        >>> table = pd.DataFrame({"°C": [1.0, 2, 4], "one": [1.0] * 3, "°F": [33.8, 35.6, 39.2]})
        >>> uninformative(table)
        {'one': 'constant', '°F': "a copy of '°C' up to shift and scale"}
    """
    names = list(frame.columns)
    values = frame.to_numpy(np.float64)  # (rows, n)
    known = ~np.isnan(values)
    count = np.maximum(known.sum(0), 1)
    size = np.where(known, np.abs(values), 0.0).max(0, initial=0.0)
    scaled = np.where(known, values, 0.0) / np.where(size > 0, size, 1.0)
    centred = np.where(known, scaled - scaled.sum(0) / count, 0.0)
    spread = np.sqrt((centred**2).sum(0))
    found = {}
    for k, name in enumerate(names):
        if not known[:, k].any():
            found[name] = "all values missing"
        elif spread[k] < 1e-13 * np.sqrt(count[k]):
            found[name] = "constant"
    z = centred / np.where(spread > 0, spread, 1.0)
    copies = np.triu(np.abs(z.T @ z) > 1 - 1e-12, k=1)
    for i, j in np.argwhere(copies).tolist():
        same_gaps = bool((known[:, i] == known[:, j]).all())
        if same_gaps and names[i] not in found and names[j] not in found:
            found[names[j]] = f"a copy of {names[i]!r} up to shift and scale"
    return {name: found[name] for name in names if name in found}


def _assembled(parts: Mapping[Label, pd.Series], frame: pd.DataFrame) -> pd.DataFrame:
    """Columns by label, with the rows and the ``attrs`` of ``frame``."""
    import pandas as pd

    table = pd.DataFrame(dict(enumerate(parts.values())), index=frame.index)
    table.attrs.update(frame.attrs)
    return table.set_axis(label_index(parts), axis=1)


def _words(values: pd.Series) -> pd.Series:
    """Values as text; whole numbers without a fraction, which gaps among them bring about."""
    import pandas as pd

    if pd.api.types.is_float_dtype(values) and bool((values.dropna() % 1 == 0).all()):
        values = values.astype("Int64")
    return values.astype(str)
