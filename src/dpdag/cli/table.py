"""The user's data: read, made fit for learning, and what was done to it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .. import datasets
from ..columns import column_types
from ..ops.columns import (
    LARGEST,
    SMALLEST,
    detection_limits,
    extreme_columns,
    is_number,
    lone_value,
    mere_signs,
    numbers_rows,
    spellings,
    stray_words,
)
from ..records import Origin, listed
from ..registry import suggest
from ..seeding import numpy_generator
from .under import Targets, Under, targets_in, with_rows

MIN_ROWS = 5
FILE_ENDINGS = (".csv", ".tsv", ".parquet", ".npy", ".gz", ".xz", ".bz2", ".txt", ".xlsx")


class Reading(NamedTuple):
    """How to read a text file."""

    separator: str | None = None
    decimal: str = "."
    thousands: str | None = None
    encoding: str = "utf-8"
    na: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Table:
    """Observations to learn from.

    Attributes:
        frame: What is left of them.
        origin: Where they came from and what was done to them.
        targets: Names of the columns that were set in each row.
        truth: The data set with the true graph, where there is one.
    """

    frame: pd.DataFrame
    origin: Origin
    targets: Sequence[Targets]
    truth: datasets.Dataset | None = None

    @classmethod
    def of(cls, source: str, frame: pd.DataFrame, truth: datasets.Dataset | None = None) -> Table:
        """A table as it was read."""
        return cls(frame, Origin(source, *frame.shape), [()] * len(frame), truth)

    @property
    def names(self) -> list[str]:
        """Of the columns to learn from."""
        return [str(name) for name in self.frame.columns]

    @property
    def true_graph(self) -> Any:
        """Of just these columns, where it is known."""
        if self.truth is None or self.names != self.truth.names:
            return None
        return self.truth.adjacency

    @property
    def interventions(self) -> list[list[str]] | None:
        """What was set in each row, as learners take it, of the columns that are left."""
        if not any(self.targets):
            return None
        kept = set(self.names)
        return [[name for name in row if name in kept] for row in self.targets]

    def rows(self, places: list[int], *notes: str) -> Table:
        """Some of the rows, and why."""
        frame = self.frame.iloc[places].reset_index(drop=True)
        targets = [self.targets[k] for k in places]
        return replace(self, frame=frame, targets=targets).noting(*notes)

    def without(self, dropped: Mapping[str, str]) -> Table:
        """The table without some columns, and why."""
        origin = replace(self.origin, dropped={**self.origin.dropped, **dropped})
        return replace(self, frame=self.frame.drop(columns=list(dropped)), origin=origin)

    def noting(self, *notes: str) -> Table:
        """The same with what is to be said of it, a sentence each."""
        return replace(self, origin=replace(self.origin, notes=[*self.origin.notes, *notes]))


def load(
    data: str,
    reading: Reading,
    *,
    drop: Sequence[str] = (),
    drop_text: bool,
    types: Mapping[str, str],
    missing: str,
    max_rows: int,
    seed: int,
    interventions_column: str | None = None,
    under: Sequence[Under] = (),
) -> Table:
    """Read a file or a data set by name and prepare it for learning.

    Arguments:
        data: Path, or name of a data set where no such file exists.
        reading: How to read text files.
        drop: Columns to leave out.
        drop_text: Leave out columns of text; categories otherwise.
        types: Of columns, as the user gave them.
        missing: "error", "drop" rows with missing values, or "impute": leave them to the learner.
        max_rows: Draw so many rows at random from longer tables; 0 for all.
        seed: For that draw.
        interventions_column: Column that names what was set in each row.
        under: Files of rows in which columns were set.
    """
    whole = _without(_with_targets(data, reading, interventions_column, under), drop)
    if drop_text:
        whole = whole.without(dict.fromkeys(datasets.text_columns(whole.frame), "text"))
    table = whole.without(datasets.uninformative(whole.frame))
    _refuse(table, types, missing=missing)
    table = _complete(_noted(table), missing)
    _check_rows(table)
    table = _thinned(table, max_rows, seed)
    table = table.without(datasets.uninformative(table.frame))  # fewer rows may be all alike
    _check_columns(table)
    return table


def read(data: str, reading: Reading) -> Table:
    """A file, or a data set by name, as it is."""
    file = Path(data)
    if not file.is_file() and not file.name.lower().endswith(FILE_ENDINGS):
        try:
            known = datasets.load(data)
        except ValueError:
            hint = suggest(data, datasets.available())
            raise ValueError(
                f"{data} is neither a file nor a data set.{hint} See 'dpdag list datasets'."
            ) from None
        table = Table.of(data, known.frame, known)
        if known.mask is None:
            return table
        return replace(table, targets=[tuple(compress(known.names, row)) for row in known.mask])
    frame = datasets.read(file, **reading._asdict())
    if frame.shape[1] == 1:
        raise ValueError(
            f"{data} has one column, {str(frame.columns[0])!r}; a graph needs two. If it has "
            "more, name the character between them with --separator."
        )
    return Table.of(data, frame)


def _with_targets(data: str, reading: Reading, column: str | None, under: Sequence[Under]) -> Table:
    """A file or data set and what was set in its rows, with the rows of further files."""
    table = read(data, reading)
    table = table if column is None else targets_in(table, column)
    for own in under:
        other = read(own.file, reading)
        if column is not None and column in other.frame:
            other = targets_in(other, column)
        table = with_rows(table, other, own)
    return table


def _without(table: Table, drop: Sequence[str]) -> Table:
    names = table.names
    for name in drop:
        if name not in names:
            hint = suggest(name, names)
            raise ValueError(f"{table.origin.source} has no column {name!r} to --drop.{hint}")
    return table.without(dict.fromkeys(drop, "as asked"))


def _noted(table: Table) -> Table:
    """Note columns that number the rows, in whatever order, and values that may be wrong."""
    text = datasets.text_columns(table.frame)
    notes, some_set = [], any(table.targets)
    for name, column in datasets.floats(table.frame.drop(columns=text)).items():
        if numbers_rows(column.to_numpy()):
            notes.append(
                f"{name} numbers the rows: leave an id out with --drop {shlex.quote(str(name))}; a "
                "time or an order may stay, in the first of --tiers."
            )
        natural = column[[name not in row for row in table.targets]] if some_set else column
        if (code := lone_value(natural.to_numpy())) is not None:
            notes.append(
                f"{name} is {code:.15g} in {(natural == code).sum()} rows, far from all other "
                f"values: if it stands for a missing value, add --na {code:.15g}."
            )
    return table.noting(*notes, *_doubtful_labels(table.frame[text]))


def _doubtful_labels(frame: pd.DataFrame) -> list[str]:
    """Labels that may be missing values, or the same as others."""
    notes = []
    for name in frame:
        if found := mere_signs(frame[name]):
            notes.append(
                f"{name} has {listed(found)} among its labels: if it stands for a missing value, "
                "add --na."
            )
        notes += [
            f"{name} has {listed([repr(text) for text in texts])} among its labels, which differ "
            "only in case or blanks: write them alike if they mean the same."
            for texts in spellings(frame[name])
        ]
    return notes


def _refuse(table: Table, types: Mapping[str, str], *, missing: str) -> None:
    """Name all columns that need a decision, and the ways out, at once."""
    frame = table.frame
    text, missed = datasets.text_columns(frame), gaps(frame)
    reasons = []
    odd = [name for name in text if _no_category(frame[name], types)]
    for name in types:
        if name in odd and not _no_category(frame[name], {}):
            odd.remove(name)
            misfit = _misfit(frame[name], types)
            reasons.append(f"does not fit --type {name}={types[name]}: {misfit}")
    if odd:
        drops = " ".join(f"--drop {shlex.quote(str(name))}" for name in odd)
        reasons.append(
            f"has text in {text_examples(frame, odd)}, neither numbers nor a few categories; leave "
            f"such columns out with {drops}.{code_hint(frame[odd])}"
        )
        reasons[-1] += comma_hint(frame[odd])
        if dates := [name for name in odd if _has_dates(frame[name])]:
            reasons[-1] += f" Or turn dates into numbers, such as days: {listed(dates)}."
    if missed and missing == "error":
        reasons.append(
            f"misses values in {missed}; fill them while learning with --missing impute or leave "
            "such rows out with --missing drop."
        )
    numbers = datasets.floats(frame.drop(columns=text))
    far = extreme_columns(numbers.to_numpy(float), list(numbers))
    if far:
        reasons.append(
            f"has values too large or too small to compute with in {listed(far)}; choose a unit "
            f"with sizes from {SMALLEST:g} to {LARGEST:g}, leave such columns out with --drop, or "
            "name a number that stands for a missing value with --na."
        )
    if reasons:
        raise ValueError(f"{table.origin.source} {' It also '.join(reasons)}")


def _misfit(column: pd.Series[Any], types: Mapping[str, str]) -> str:
    """Why a column cannot be of the type that is given, or of any."""
    name = str(column.name)
    try:
        column_types(column.to_frame(), {name: types[name]} if name in types else {})
    except ValueError as error:
        return str(error)
    return ""


def _no_category(column: pd.Series[Any], types: Mapping[str, str]) -> bool:
    """Whether text has too many values for a category, or words among numbers."""
    if _misfit(column, types):
        return True
    commas = [text for text in _texts(column) if _has_comma(text)]
    rest = [text for text in _texts(column) if not _has_comma(text)]
    grouped = bool(commas) and all(map(_is_grouped, commas))
    return not rest or (grouped and all(map(is_number, rest)))


def _has_dates(column: pd.Series[Any]) -> bool:
    """Whether a column holds dates or spans of time, or text that looks like dates."""
    date = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T].*)?")
    return column.dtype.kind == "m" or all(map(date.fullmatch, _texts(column)))


def gaps(frame: pd.DataFrame) -> str:
    """Columns with missing values and how many; nothing where there are none."""
    counts = frame.isna().sum()
    return listed([f"{str(name)!r} ({count})" for name, count in counts.items() if count])


def _complete(table: Table, missing: str) -> Table:
    where = gaps(table.frame)
    if not where or missing == "impute":
        return table
    kept = np.flatnonzero(table.frame.notna().all(axis=1))
    lost = len(table.frame) - len(kept)
    note = f"Left out {lost} of {table.origin.rows} rows, which miss values in {where}."
    return table.rows(kept.tolist(), note)


def _check_rows(table: Table) -> None:
    rows = len(table.frame)
    if rows < MIN_ROWS:
        way_out = ", or use --missing impute instead of drop" if rows < table.origin.rows else ""
        raise ValueError(
            f"{table.origin.source} has {rows} usable {'row' if rows == 1 else 'rows'}; at least "
            f"{MIN_ROWS} are needed, and hundreds to learn anything: add observations{way_out}."
        )


def _check_columns(table: Table) -> None:
    names = table.names
    if len(names) < 2:
        gone = listed([f"{name!r} ({reason})" for name, reason in table.origin.dropped.items()])
        left = f"only the column {names[0]!r}" if names else "no columns"
        raise ValueError(
            f"{table.origin.source} has {left} to learn from; a graph needs two. Left out: {gone}."
        )


def _thinned(table: Table, max_rows: int, seed: int) -> Table:
    rows = len(table.frame)
    if not max_rows or rows <= max_rows:
        return table
    drawn = numpy_generator(seed, "rows").choice(rows, size=max_rows, replace=False)
    drawn.sort()
    note = (
        f"Learned from {max_rows} of {rows} rows, drawn at random; --max-rows 0 takes all, "
        "which takes longer."
    )
    return table.rows(drawn.tolist(), note)


def text_examples(frame: pd.DataFrame, columns: Sequence[str]) -> str:
    """Columns of text with the first entry that is no number."""
    found = []
    for name in columns:
        values = frame[name].dropna()
        odd = values[pd.to_numeric(values, errors="coerce").isna()]
        shown = odd if len(odd) else values
        found.append(f"{name!r} (such as {str(shown.iloc[0])[:30]!r} in row {shown.index[0] + 1})")
    return listed(found)


def code_hint(frame: pd.DataFrame) -> str:
    """How to read the words among numbers as missing values; nothing where there are none."""
    limits = detection_limits(text for name in frame for text in _texts(frame[name]))
    words = [word for word in stray_words(frame) if word not in limits]
    quoted = [f"'{word}'" if shlex.quote(word) == word else shlex.quote(word) for word in words]
    options = " ".join(f"--na {word}" for word in quoted)
    hint = f" For missing values given as {listed(quoted)} add {options}." if words else ""
    if limits:
        kind = "is a limit of detection" if len(limits) == 1 else "are limits of detection"
        hint += (
            f" {listed([repr(limit) for limit in limits])} {kind}: put a number there, such as "
            "half of it, rather than leave the cells empty."
        )
    return hint


def comma_hint(frame: pd.DataFrame) -> str:
    """How to read numbers with commas; nothing where there are none."""
    numbers = [text for name in frame for text in filter(_has_comma, _texts(frame[name]))]
    if not numbers:
        return ""
    option = "--thousands" if all(map(_is_grouped, numbers)) else "--decimal"
    return f" For numbers like {numbers[0]} add {option} ','."


def _texts(column: pd.Series[Any]) -> pd.Series[Any]:
    return column.dropna().astype(str).str.strip()


def _has_comma(text: str) -> bool:
    """Whether a text is a number with commas in it."""
    return re.fullmatch(r"[+-]?\d+(,\d+)+(\.\d*)?", text) is not None


def _is_grouped(text: str) -> bool:
    """Whether the commas of a number can stand between thousands."""
    return re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?", text) is not None
