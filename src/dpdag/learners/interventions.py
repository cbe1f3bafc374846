"""Interventions at the public border: values of a column's own kind, by its name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from ..columns import ColumnType, level_text
from ..registry import suggest


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
        return _place(name, value, own)
    if not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"'do' must hold finite numbers; got {value!r} for {name!r}.")
    if own.kind == "count" and (value < 0 or not float(value).is_integer()):
        raise ValueError(f"{name!r} counts: 'do' must set it to 0, 1, 2, …; got {value!r}.")
    return float(value)


def _place(name: Any, value: Any, own: ColumnType) -> float:
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
