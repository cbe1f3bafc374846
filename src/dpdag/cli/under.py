"""Rows under intervention on the command line: a column of names, or files of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from ..records import listed
from ..registry import suggest

if TYPE_CHECKING:
    from .table import Table

Targets = tuple[str, ...]  # columns that were set in a row


class Under(NamedTuple):
    """A file of rows in which some columns were set."""

    targets: Targets
    file: str


def under_of(words: Iterable[str]) -> list[Under]:
    """Files from words ``column=file``, several columns separated by ``;``.

    Example:
        >>> under_of(["PKA=pka.csv", "Mek;Erk=both.csv"])[1]
        Under(targets=('Mek', 'Erk'), file='both.csv')
    """
    found = []
    for word in words:
        cuts = [k for k, letter in enumerate(word) if letter == "="]
        at = next((k for k in cuts if Path(word[k + 1 :].strip()).is_file()), (cuts or [0])[0])
        targets, file = _split(word[:at]), word[at + 1 :].strip()
        if not targets or not file:
            raise ValueError(
                f"--under takes column=file, such as PKA=pka.csv; got {word!r}. Several columns "
                "are separated by ';'."
            )
        found.append(Under(targets, file))
    return found


def targets_in(table: Table, column: str) -> Table:
    """The table without the column that names for each row what was set in it."""
    source, frame = table.origin.source, table.frame
    if column not in frame:
        hint = suggest(column, table.names)
        raise ValueError(f"{source} has no column {column!r} for --interventions-column.{hint}")
    said = [_split(_text(value)) for value in frame[column]]
    others = [name for name in table.names if name != column]
    for row, targets in enumerate(said, start=1):
        for name in targets:
            if name not in others:
                hint = suggest(name, others)
                raise ValueError(
                    f"{source} names {name!r} in row {row} of its column {column!r} "
                    f"(--interventions-column), but has no such column.{hint} Several names are "
                    "separated by ';'."
                )
    told = replace(table, targets=_joined(table.targets, said))
    return told.without({column: "says what was set"})


def with_rows(table: Table, other: Table, under: Under) -> Table:
    """The table with the rows of another, in which some columns were set."""
    source, names = table.origin.source, table.names
    for name in under.targets:
        if name not in names:
            raise ValueError(
                f"--under {';'.join(under.targets)}={under.file}: {source} has no column "
                f"{name!r}.{suggest(name, names)} It has {listed(names)}."
            )
    missing = [name for name in names if name not in other.frame]
    if missing:
        raise ValueError(
            f"{under.file} (--under) lacks the columns {listed([repr(m) for m in missing])} of "
            f"{source}; give it the same columns, or leave these out with --drop."
        )
    more = _joined(other.targets, [under.targets] * len(other.frame))
    frame = pd.concat([table.frame, other.frame[table.frame.columns]], ignore_index=True)
    note = f"{len(other.frame)} rows of {under.file} have {listed(under.targets)} set from outside."
    origin = replace(table.origin, rows=len(frame))
    targets = [*table.targets, *more]
    return replace(table, frame=frame, origin=origin, targets=targets).noting(note)


def _split(text: str) -> Targets:
    return tuple(name.strip() for name in text.split(";") if name.strip())


def _text(value: Any) -> str:
    if pd.isna(value):
        return ""
    whole = isinstance(value, float) and value.is_integer()  # names that are numbers
    return str(int(value) if whole else value)


def _joined(known: Sequence[Targets], said: Sequence[Targets]) -> list[Targets]:
    """What was set by both accounts."""
    return [tuple(dict.fromkeys([*one, *two])) for one, two in zip(known, said)]
