"""A table of one's own: read into a DataFrame of named columns, and what in it says nothing."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..ops.columns import is_number, standard_columns
from ..optional import optional
from .record import default_names

PACKED = (".gz", ".xz", ".bz2")
SEPARATORS = (",", ";", "\t", "|")
FIRST_SEPARATOR = {".csv": ",", ".tsv": "\t"}


def read(
    path: str | Path,
    *,
    separator: str | None = None,
    decimal: str = ".",
    thousands: str | None = None,
    encoding: str = "utf-8",
    na: Sequence[str] = (),
) -> pd.DataFrame:
    r"""Read a CSV, TSV, Parquet or npy file: rows are observations, columns are variables.

    Text files need a header with the names of the columns, and may be compressed (``.csv.gz``).
    Columns of an npy file are called x0, x1, … Empty cells are NaN. Truth values and text
    stay what they are: learners know them as such. Duplicate or missing names, infinite values and
    files without rows are refused.

    Arguments:
        path: File ending in .csv, .tsv, .parquet or .npy.
        separator: What stands between columns; found in the header when None.
        decimal: What stands before the fraction of a number.
        thousands: What stands between thousands, as in 1,244; None where nothing does.
        encoding: Of the text, such as "latin-1".
        na: What else stands for a missing value, such as ".", "?" or "-999"; NaN then.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "two.csv"
        >>> _ = file.write_text("a,b\n1,2.5\n3,4\n")
        >>> read(file)["b"].tolist()
        [2.5, 4.0]
    """
    file = Path(path)
    kind = (file.with_suffix("") if file.suffix.lower() in PACKED else file).suffix.lower()

    if isinstance(na, str):
        raise ValueError(f"'na' must be a list of codes, such as [{na!r}]; got {na!r}.")
    if thousands is not None and len(thousands) != 1:
        raise ValueError(f"'thousands' must be one character or None; got {thousands!r}.")
    if thousands == decimal:
        raise ValueError(f"'thousands' and 'decimal' must differ; got {decimal!r} for both.")
    if kind not in (*FIRST_SEPARATOR, ".parquet", ".npy"):
        raise ValueError(f"{file} must end in .csv, .tsv, .parquet or .npy; got {kind!r}.")
    if not file.is_file():
        raise FileNotFoundError(f"{file} does not exist or is not a file.")
    if kind not in FIRST_SEPARATOR:
        frame = _parquet(file) if kind == ".parquet" else _npy(file)
        return _checked(_without_codes(frame, na), file)
    separators = (FIRST_SEPARATOR[kind], *SEPARATORS) if separator is None else (separator,)
    reading = {"decimal": decimal, "thousands": thousands, "na_values": list(na)}
    return _checked(_text(file, separators=separators, encoding=encoding, **reading), file)


def _text(file: Path, *, separators: Sequence[str], encoding: str, **reading: Any) -> pd.DataFrame:
    options: dict[str, Any] = {
        "header": None,
        "encoding": "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding,
        "skipinitialspace": True,
    }
    try:
        names, found = _header(file, separators, options)
        _check_header(names, file)
        frame = pd.read_csv(file, sep=found, skiprows=1, low_memory=False, **options, **reading)
    except pd.errors.EmptyDataError:
        raise ValueError(f"{file} has no rows of data below a header.") from None
    except UnicodeError as error:
        likely = "utf-16" if _starts_as_utf_16(file) else "latin-1"
        raise ValueError(
            f"{file} is not text in {encoding} ({_line(error)}); save it so, or pass another "
            f"one, such as encoding={likely!r}."
        ) from error
    except (pd.errors.ParserError, EOFError, OSError) as error:
        raise ValueError(f"{file} cannot be read: {_reason(error)}") from error
    except LookupError:
        raise ValueError(f"'encoding' must be one that Python knows; got {encoding!r}.") from None
    if frame.shape[1] != len(names):
        raise ValueError(
            f"{file} has {len(names)} names in its header but {frame.shape[1]} columns of data."
        )
    return frame.set_axis(names, axis=1)


def _starts_as_utf_16(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _reason(error: Exception) -> str:
    """Why a text file cannot be read, and the way out of rows of different length."""
    ragged = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
    if ragged is None:
        return _line(error)
    expected, line, seen = ragged.groups()
    return (
        f"line {line} has {seen} cells where {expected} were expected; put text that holds a "
        "separator in quotes, or correct that line."
    )


def _header(
    file: Path, separators: Sequence[str], options: dict[str, Any]
) -> tuple[list[str], str]:
    """Names in the first line, and the separator that makes most of them, the first of equals."""
    options = {"nrows": 1, "dtype": str, "keep_default_na": False, **options}
    found: list[tuple[list[str], str]] = []
    for candidate in separators:
        cells = pd.read_csv(file, sep=candidate, **options).iloc[0]
        found.append(([str(cell).strip() for cell in cells], candidate))
    return max(found, key=lambda header: len(header[0]))


def _check_header(names: list[str], file: Path) -> None:
    counted = [[str(k + first) for k in range(len(names))] for first in (0, 1)]
    if names not in counted and all(is_number(name) for name in names):
        raise ValueError(
            f"{file} seems to have no header: its first line is {', '.join(names[:5])}. "
            "Add a line with the names of the columns."
        )


def _parquet(file: Path) -> pd.DataFrame:
    parquet = optional("pyarrow.parquet", needed_by=str(file), install="dpdag[parquet]")
    try:
        names = parquet.read_schema(file).names
    except (ValueError, OSError) as error:  # Arrow's errors are of these kinds
        raise ValueError(f"{file} cannot be read: {_line(error)}") from error
    _check_names(names, file)  # pandas would refuse duplicates without naming them
    try:
        return pd.read_parquet(file, engine="pyarrow")
    except (ValueError, OSError) as error:
        raise ValueError(f"{file} cannot be read: {_line(error)}") from error


def _npy(file: Path) -> pd.DataFrame:
    try:
        with file.open("rb") as stream:
            values = np.lib.format.read_array(stream, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{file} is no npy file of numbers, or is damaged.") from error
    if values.ndim != 2:
        raise ValueError(f"{file} must hold a (rows, columns) array; got shape {values.shape}.")
    return pd.DataFrame(values, columns=default_names(values.shape[1]))


def _without_codes(frame: pd.DataFrame, na: Sequence[str]) -> pd.DataFrame:
    """NaN for every text, and every number, that stands for a missing value."""
    numbers = [float(code) for code in na if is_number(code)]
    return frame.mask(frame.isin([*na, *numbers])) if na else frame


def _checked(frame: pd.DataFrame, file: Path) -> pd.DataFrame:
    names = [str(name) for name in frame.columns]
    _check_names(names, file)
    if 0 in frame.shape:
        raise ValueError(f"{file} has no data: {frame.shape[0]} rows, {frame.shape[1]} columns.")
    frame = frame.set_axis(names, axis=1)
    numbers = floats(frame).drop(columns=text_columns(frame))
    infinite = [name for name in numbers if np.isinf(numbers[name]).any()]
    if infinite:
        raise ValueError(
            f"{file} has infinite values in the columns {infinite}; correct them, or leave "
            "such cells empty if they are missing."
        )
    return frame


def _check_names(names: Sequence[str], file: Path) -> None:
    if any(not name for name in names):
        column = next(k for k, name in enumerate(names, start=1) if not name)
        raise ValueError(
            f"{file} has no name for column {column}; if it is a row number, remove it "
            "(pandas: to_csv(index=False))."
        )
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise ValueError(
            f"{file} has the column names {twice} more than once; rename or remove them."
        )


def _line(error: Exception) -> str:
    return " ".join(str(error).split())


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
            found[name] = _constant(known[:, k])
    copies = np.triu(np.abs(z.T @ z / len(z)) > 1 - 1e-12, k=1)
    for i, j in np.argwhere(copies).tolist():
        same_gaps = bool((known[:, i] == known[:, j]).all())
        if same_gaps and names[i] not in found and names[j] not in found:
            found[names[j]] = f"a copy of {names[i]!r} up to shift and scale"
    return {name: found[name] for name in names if name in found}


def _constant(known: NDArray[np.bool_]) -> str:  # (rows,)
    """What a column of one value is, by where it has it."""
    if not known.any():
        return "all values missing"
    empty = int((~known).sum())
    cells = "1 empty cell" if empty == 1 else f"{empty} empty cells"
    return (
        f"constant but for {cells}; fill them if they mean another value" if empty else "constant"
    )


def _codes(values: pd.Series[Any]) -> pd.Series[Any]:
    """Places of values among all, NaN for missing ones."""
    return values.astype(str).where(values.notna()).rank(method="dense")
