"""Interventions at the public border: by the names of columns, or of variables of categories."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from ..registry import suggest

__all__ = ["interventions"]


def interventions(
    do: Mapping[Any, Any] | None,
    names: Sequence[Any],
    groups: Sequence[Sequence[int]] = (),
    levels: Mapping[str, Sequence[str]] | None = None,
) -> dict[int, float]:
    """Values by index of column.

    Arguments:
        do: Numbers by name of column, or a category by name of variable.
        names: Of all columns.
        groups: Columns "variable=category" that exclude each other.
        levels: All categories of variables, the first being 0 in all columns, where known.

    Example:
        >>> names = ["age", "site=B", "site=C"]
        >>> interventions({"site": "C", "age": 50}, names, [(1, 2)])
        {1: 0.0, 2: 1.0, 0: 50.0}
        >>> interventions({"site": "A"}, names, [(1, 2)], {"site": ["A", "B", "C"]})
        {1: 0.0, 2: 0.0}
        >>> interventions({"site": "A"}, names, [(1, 2)])
        Traceback (most recent call last):
        ValueError: 'site' has no column for 'A' in 'do'; it has site=B, site=C. If that is its
        first category, set all of them to 0: do={'site=B': 0, 'site=C': 0}.
    """
    position = {name: k for k, name in enumerate(names)}
    held: dict[int, float] = {}
    for name, value in (do or {}).items():
        if name not in position:
            held |= _category(name, str(value), names, groups, (levels or {}).get(str(name), ()))
            continue
        if not isinstance(value, Real) or not math.isfinite(value):
            raise ValueError(f"'do' must hold finite numbers; got {value!r} for {name!r}.")
        k = position[name]
        group = next((group for group in groups if k in group), ())
        if group and value not in (0, 1):
            raise ValueError(f"{name!r} is a category: 'do' must set it to 0 or 1; got {value!r}.")
        if value == 1:
            held |= {j: 0.0 for j in group if names[j] not in (do or {})}
        held[k] = float(value)
    return held


def _category(
    name: Any,
    value: str,
    names: Sequence[Any],
    groups: Sequence[Sequence[int]],
    levels: Sequence[str],
) -> dict[int, float]:
    """The 0/1 columns of a variable under ``do={name: value}``."""
    variables = {k: str(names[k]).rpartition("=")[0] for group in groups for k in group}
    own = [k for k, variable in variables.items() if variable == str(name)]
    if not own:
        known = [*map(str, names), *variables.values()]
        raise ValueError(f"Unknown column {name!r} in 'do'.{suggest(name, known)}")
    held = {k: float(names[k] == f"{name}={value}") for k in own}
    if levels and value not in levels:
        hint = suggest(value, list(levels))
        raise ValueError(f"{name!r} has no category {value!r}.{hint} Known: {', '.join(levels)}.")
    if not levels and not any(held.values()):
        columns = [str(names[k]) for k in own]
        raise ValueError(
            f"{name!r} has no column for {value!r} in 'do'; it has {', '.join(columns)}. If that "
            f"is its first category, set all of them to 0: do={dict.fromkeys(columns, 0)}."
        )
    return held
