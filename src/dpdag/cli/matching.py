"""A table beside a model: its columns in the model's terms, and the model's in its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from .. import datasets
from ..registry import suggest
from .table import Table, text_examples

__all__ = ["filled", "matching"]


def matching(table: Table, names: Sequence[Any]) -> pd.DataFrame:
    """The columns that a model was fitted to, in its order, from a table with these or more."""
    data, frame = table.origin.source, table.frame
    columns = {}
    for name in map(str, names):
        variable, equals, level = name.rpartition("=")
        if name in frame:
            columns[name] = frame[name]
        elif equals and variable in frame:
            columns[name] = datasets.encoded(frame[variable], level)
        else:
            hint = suggest(name, [str(other) for other in frame])
            raise ValueError(f"{data} lacks the column {name!r} of the model.{hint}")
    found = datasets.floats(pd.DataFrame(columns))
    text = datasets.text_columns(found)
    if text:
        raise ValueError(
            f"{data} has text in {text_examples(found, text)}, where the model has numbers."
        )
    return found


def filled(frame: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """A table with its gaps filled from a model's columns, all else as it is."""
    new = {}
    for name in frame.columns[frame.isna().any()]:
        levels = [column for column in own if str(column).rpartition("=")[0] == name]
        if name in own:
            new[name] = own[name]
        elif levels:
            new[name] = datasets.decoded(frame[name], own[levels])
    return frame.assign(**new)
