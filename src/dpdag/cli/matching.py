"""A table beside a model: its columns in the model's terms, and the model's in its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from .. import datasets
from ..columns import ColumnType, level_text
from ..records import listed
from ..registry import suggest
from ..scm import Observed
from .table import Table, code_hint, text_examples

__all__ = ["filled", "matching", "whole_numbers"]

LARGEST = 2**53  # whole numbers beyond are not exact in floating point


def matching(table: Table, names: Sequence[Any], types: Sequence[ColumnType]) -> pd.DataFrame:
    """The columns that a model was fitted to, in its order, from a table with these or more.

    Arguments:
        table: With the columns.
        names: Of the model's columns.
        types: Of the model's columns; labels that they do not know are refused.
    """
    data, frame = table.origin.source, table.frame
    names = list(map(str, names))
    for name in names:
        if name not in frame:
            hint = suggest(name, [str(other) for other in frame])
            raise ValueError(f"{data} lacks the column {name!r} of the model.{hint}")
    labels = {name: own for name, own in zip(names, types) if own.labelled}
    for name, own in labels.items():
        if strange := own.unknown(frame[name]):
            raise ValueError(
                f"{data} has {listed([repr(level) for level in strange])} in {name!r}, of which "
                f"the model knows only {', '.join(map(level_text, own.levels))}; leave such rows "
                "out or fit again with them."
            )
    numbers = datasets.floats(frame[[name for name in names if name not in labels]])
    if text := datasets.text_columns(numbers):
        raise ValueError(
            f"{data} has text in {text_examples(numbers, text)}, where the model has numbers."
            f"{code_hint(numbers[text])}"
        )
    return frame[names].assign(**numbers)


def filled(frame: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """A table with its gaps filled from a model's columns, all else as it is."""
    gaps = [name for name in frame.columns[frame.isna().any()] if name in own]
    return frame.assign(**{name: own[name] for name in gaps})


def whole_numbers(
    frame: pd.DataFrame, observed: Observed | None, held: Mapping[Any, Any]
) -> pd.DataFrame:
    """Round columns in which only whole numbers were observed, but those held at other values."""
    if observed is None:
        return frame
    rounded = {
        str(name): frame[name].round().astype("int64")
        for name, whole in zip(frame, observed.whole, strict=True)
        if whole and frame[name].dtype == float and frame[name].abs().max() < LARGEST
        if float(held.get(name, 0)).is_integer()
    }
    return frame.assign(**rounded)
