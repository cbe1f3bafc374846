"""A table beside a model: its columns in the model's terms, and the model's in its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from .. import datasets
from ..experiments import listed
from ..registry import suggest
from ..scm import Observed
from .table import Table, code_hint, text_examples

__all__ = ["filled", "matching", "whole_numbers"]

LARGEST = 2**53  # whole numbers beyond are not exact in floating point


def matching(
    table: Table, names: Sequence[Any], levels: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """The columns that a model was fitted to, in its order, from a table with these or more.

    Arguments:
        table: With the columns, or with columns of categories that they stand for.
        names: Of the model's columns.
        levels: All categories of variables where the model knows them; others are refused.
    """
    data, frame = table.origin.source, table.frame
    columns = {}
    for name in map(str, names):
        variable, equals, level = name.rpartition("=")
        if name in frame:
            columns[name] = frame[name]
        elif equals and variable in frame:
            if variable in levels:
                _check_levels(table, variable, levels[variable])
            columns[name] = datasets.encoded(frame[variable], level)
        else:
            hint = suggest(name, [str(other) for other in frame])
            raise ValueError(f"{data} lacks the column {name!r} of the model.{hint}")
    found = datasets.floats(pd.DataFrame(columns))
    text = datasets.text_columns(found)
    if text:
        raise ValueError(
            f"{data} has text in {text_examples(found, text)}, where the model has numbers."
            f"{code_hint(found[text])}"
        )
    return found


def _check_levels(table: Table, variable: str, known: Sequence[str]) -> None:
    unknown = [level for level in datasets.levels(table.frame[variable]) if level not in known]
    if unknown:
        raise ValueError(
            f"{table.origin.source} has {listed([repr(level) for level in unknown])} in "
            f"{variable!r}, of which the model knows only {', '.join(known)}; leave such rows out "
            "or fit again with them."
        )


def filled(
    frame: pd.DataFrame, own: pd.DataFrame, levels: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """A table with its gaps filled from a model's columns, all else as it is.

    Arguments:
        frame: The table.
        own: What the model says of its columns.
        levels: All categories of variables where the model knows them; else the first is the one
            that is in the table and has no column, and gaps stay where there are several.
    """
    new = {}
    for name in frame.columns[frame.isna().any()]:
        columns = [column for column in own if str(column).rpartition("=")[0] == name]
        if name in own:
            new[name] = own[name]
        elif columns:
            first = levels[name][0] if name in levels else _first(frame[name], columns)
            said = datasets.decoded(own[columns], first)
            new[name] = frame[name].where(frame[name].notna(), said)
    return frame.assign(**new)


def whole_numbers(
    frame: pd.DataFrame, observed: Observed | None, held: Mapping[Any, Any]
) -> pd.DataFrame:
    """Round columns in which only whole numbers were observed, but those held at other values."""
    if observed is None:
        return frame
    rounded = {
        str(name): frame[name].round().astype("int64")
        for name, whole in zip(frame, observed.whole, strict=True)
        if whole and frame[name].abs().max() < LARGEST and float(held.get(name, 0)).is_integer()
    }
    return frame.assign(**rounded)


def _first(values: pd.Series, columns: Sequence[Any]) -> str | None:
    """The one category of ``values`` without a column."""
    others = set(datasets.levels(values)) - {str(name).rpartition("=")[2] for name in columns}
    return others.pop() if len(others) == 1 else None
