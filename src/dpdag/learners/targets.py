"""Interventions at the public border: what was set in each row, and what is to be set."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..columns import ColumnType, level_text
from ..registry import suggest
from .checks import warn_caller

Mask = NDArray[np.bool_]


def what_was_set(interventions: Any, names: Sequence[Any], rows: int) -> Mask:  # -> (rows, n)
    """Where values were set from outside.

    Arguments:
        interventions: None; a (rows, n) mask; or for every row the name of the column that was
            set, a list or tuple of several, and None, "" or NaN for nothing.
        names: Of all columns.

    Example:
        >>> what_was_set(["PKA", None, ("PKA", "Akt")], ["Akt", "Raf", "PKA"], 3).astype(int)
        array([[0, 0, 1],
               [0, 0, 0],
               [1, 0, 1]])
        >>> what_was_set(["PKB", ""], ["Akt", "PKA"], 2)
        Traceback (most recent call last):
        ValueError: 'interventions' names 'PKB' in row 0, a column that X does not have. Did you
        mean 'PKA'?
    """
    shape = rows, len(names)
    if interventions is None:
        return np.zeros(shape, dtype=bool)
    framed = isinstance(interventions, pd.DataFrame)
    if not framed and _is_matrix(interventions):
        values = np.asarray(interventions)
        if values.shape != shape:
            raise ValueError(
                f"'interventions' must be a {shape} mask, as X is, or name for each row what was "
                f"set; got shape {values.shape}."
            )
        return _booleans(values)
    if isinstance(interventions, (str, bytes)) or not isinstance(interventions, Iterable):
        raise ValueError(
            f"'interventions' must be a {shape} mask, or name for each row what was set; got "
            f"{interventions!r}."
        )
    entries: Any = interventions if framed else list(interventions)
    if not framed and any(isinstance(entry, (bool, np.bool_)) for entry in entries):
        raise ValueError(
            f"'interventions' must be a {shape} mask, as X is; got a truth value per row. Or name "
            f"for each row what was set, as [{names[0]!r}, None, …]."
        )
    if len(entries) != rows:
        raise ValueError(
            f"'interventions' must have one entry for each of the {rows} rows of X; got "
            f"{len(entries)}."
        )
    return _of_frame(entries, names) if framed else _of_names(entries, names)


def in_rows_of(X: Any, interventions: Any) -> Any:
    """Interventions with labels of rows, in the order in which a DataFrame has them.

    Example:
        >>> X = pd.DataFrame({"PKA": [1.0, 2.0]}, index=["cell 1", "cell 2"])
        >>> in_rows_of(X, pd.Series(["PKA", ""], index=["cell 2", "cell 1"])).tolist()
        ['', 'PKA']
    """
    labelled = isinstance(X, pd.DataFrame) and isinstance(interventions, (pd.Series, pd.DataFrame))
    if not labelled or len(interventions) != len(X) or interventions.index.equals(X.index):
        return interventions
    way_out = "give both the same index, or the values alone (.to_numpy()) in the order of X."
    unknown = X.index[~X.index.isin(interventions.index)].tolist()
    twice = X.index[X.index.duplicated()].tolist()
    if unknown:
        raise ValueError(f"'interventions' has no row {unknown[0]!r}, which X has; {way_out}")
    if twice:
        raise ValueError(
            f"'interventions' has another index than X, and X has row {twice[0]!r} more than once; "
            f"{way_out}"
        )
    return interventions.reindex(X.index)


def set_by_design(
    values: NDArray[np.float64],  # (rows, n)
    was_set: Mask,  # (rows, n)
    names: Sequence[Any],
    *,
    min_rows: int,
) -> Mask:  # (n,)
    """Columns of which nothing natural is left to learn from: roots by design, with a warning."""
    own = [column[~mask] for column, mask in zip(values.T, was_set.T)]
    few = [len(seen) < min_rows or bool((seen == seen[0]).all()) for seen in own]
    found = np.array(few) & was_set.any(0)
    if found.all():
        raise ValueError(
            "'interventions' says that all columns were set in all rows, or nearly: there is "
            "nothing to learn from. A mask must be true where a value was set from outside."
        )
    if found.any():
        columns = [names[k] for k in np.flatnonzero(found).tolist()]
        warn_caller(
            f"Columns {columns} were set in all rows, or but for fewer than {min_rows} rows or a "
            "single value: nothing can be learned of their causes, so they get none."
        )
    return found


def told_apart(was_set: Mask) -> Mask:  # (rows, n) -> (n, n)
    """Pairs of columns of which some row has one set and not the other.

    Example:
        >>> told_apart(np.array([[True, False, False], [True, True, False]]))[1].tolist()
        [True, False, True]
    """
    values = was_set.astype(np.float64)
    alone = values.T @ (1 - values)
    return np.asarray((alone + alone.T) > 0)


def _is_matrix(given: Any) -> bool:
    if isinstance(given, np.ndarray) or hasattr(given, "__array__"):
        return np.ndim(given) == 2
    rows = given if isinstance(given, (list, tuple)) else ()
    return bool(rows) and all(
        isinstance(row, (list, tuple, np.ndarray))
        and len(row) > 0
        and all(isinstance(value, (bool, np.bool_)) for value in row)
        for row in rows
    )


def _booleans(values: Any) -> Mask:
    numbers = values.dtype.kind in "biuf"
    other = values[~np.isin(values, (0, 1))] if numbers else values[:1].ravel()
    if other.size:
        raise ValueError(
            "'interventions' as a mask must hold true and false, true where a value was set; "
            f"got {other.ravel()[:1].tolist()[0]!r}."
        )
    return np.asarray(values != 0)


def _of_frame(mask: pd.DataFrame, names: Sequence[Any]) -> Mask:
    found = np.zeros((len(mask), len(names)), dtype=bool)
    for name in mask.columns:
        found[:, _place(name, names, "")] |= _booleans(mask[name].to_numpy())
    return found


def _of_names(entries: list[Any], names: Sequence[Any]) -> Mask:
    found = np.zeros((len(entries), len(names)), dtype=bool)
    known: dict[Any, int] = {}
    for row, entry in enumerate(entries):
        for name in _listed(entry, names):
            if name not in known:
                known[name] = _place(name, names, f" in row {row}")
            found[row, known[name]] = True
    return found


def _listed(entry: Any, names: Sequence[Any]) -> list[Any]:
    """The names in an entry; labels may be tuples themselves."""
    several = isinstance(entry, (list, tuple, set, frozenset, np.ndarray))
    if several and not (isinstance(entry, tuple) and entry in names):
        return [name for part in entry for name in _listed(part, names)]
    nothing = entry is None or entry == "" or (not several and bool(pd.isna(entry)))
    return [] if nothing else [entry]


def _place(name: Any, names: Sequence[Any], where: str) -> int:
    own = [k for k, label in enumerate(names) if label == name and not isinstance(name, bool)]
    if not own:
        hint = suggest(name, [str(label) for label in names])
        raise ValueError(
            f"'interventions' names {name!r}{where}, a column that X does not have.{hint}"
        )
    return own[0]


def interventions(
    do: Mapping[Any, Any] | None, names: Sequence[Any], types: Sequence[ColumnType] = ()
) -> dict[int, float]:
    """Numbers by index of column.

    Arguments:
        do: Values by name of column.
        names: Of all columns.
        types: Of all columns; all continuous where none are given.

    Example:
        >>> types = ColumnType("continuous"), ColumnType("category", ("A", "B", "C"), "text")
        >>> interventions({"site": "C", "age": 50}, ["age", "site"], types)
        {1: 2.0, 0: 50.0}
        >>> interventions({"site": "a"}, ["age", "site"], types)
        Traceback (most recent call last):
        ValueError: 'site' has no value 'a' to set it to in 'do'. Did you mean 'A'? Known: A, B, C.
    """
    position = {name: k for k, name in enumerate(names)}
    held: dict[int, float] = {}
    for name, value in (do or {}).items():
        if name not in position:
            raise ValueError(f"Unknown column {name!r} in 'do'.{suggest(name, [*map(str, names)])}")
        k = position[name]
        held[k] = _number(name, value, types[k] if types else ColumnType("continuous"))
    return held


def _number(name: Any, value: Any, own: ColumnType) -> float:
    """What stands for a value that a column of this type can hold."""
    if own.levels:
        return _level(name, value, own)
    if not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"'do' must hold finite numbers; got {value!r} for {name!r}.")
    if own.kind == "count" and (value < 0 or not float(value).is_integer()):
        raise ValueError(f"{name!r} counts: 'do' must set it to 0, 1, 2, …; got {value!r}.")
    return float(value)


def _level(name: Any, value: Any, own: ColumnType) -> float:
    texts = [level_text(level) for level in own.levels]
    if isinstance(value, Real) and own.form == "bool" and value in (0, 1):
        value = bool(value)
    text = level_text(float(value) if isinstance(value, Real) and not own.labelled else value)
    if text not in texts:
        raise ValueError(
            f"{name!r} has no value {value!r} to set it to in 'do'.{suggest(text, texts)} "
            f"Known: {', '.join(texts)}."
        )
    place = texts.index(text)
    return float(place if own.labelled else own.levels[place])
