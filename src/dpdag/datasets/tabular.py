"""Read a table of one's own into a DataFrame of named numeric columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .record import default_names

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read"]

PACKED = (".gz", ".xz", ".bz2")


def read(path: str | Path) -> pd.DataFrame:
    r"""Read a CSV, TSV, Parquet or npy file: rows are observations, columns are variables.

    Text files need a header with the names of the columns, and may be compressed (``.csv.gz``).
    Columns of an npy file are called x0, x1, … Empty cells are NaN. Text columns, duplicate or
    missing names, infinite values and files without rows are refused.

    Arguments:
        path: File ending in .csv, .tsv, .parquet or .npy.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "two.csv"
        >>> _ = file.write_text("a,b\n1,2.5\n3,4\n")
        >>> read(file)["b"].tolist()
        [2.5, 4.0]
    """
    file = Path(path)
    kind = (file.with_suffix("") if file.suffix.lower() in PACKED else file).suffix.lower()
    readers: dict[str, Callable[[Path], pd.DataFrame]] = {
        ".csv": partial(_text, separator=","),
        ".tsv": partial(_text, separator="\t"),
        ".parquet": _parquet,
        ".npy": _npy,
    }
    if kind not in readers:
        raise ValueError(f"{file} must end in .csv, .tsv, .parquet or .npy; got {kind!r}.")
    if not file.is_file():
        raise FileNotFoundError(f"{file} does not exist or is not a file.")
    return _numeric(readers[kind](file), file)


def _text(file: Path, separator: str) -> pd.DataFrame:
    import pandas as pd

    options: dict[str, Any] = {"sep": separator, "header": None, "encoding": "utf-8-sig"}
    try:
        header = pd.read_csv(file, nrows=1, dtype=str, keep_default_na=False, **options)
        names = [str(cell).strip() for cell in header.iloc[0]]
        _check_header(names, file, separator)
        frame = pd.read_csv(file, skiprows=1, low_memory=False, skipinitialspace=True, **options)
    except pd.errors.EmptyDataError:
        raise ValueError(f"{file} has no rows of data below a header.") from None
    except (pd.errors.ParserError, UnicodeDecodeError, EOFError, OSError) as error:
        raise ValueError(f"{file} cannot be read: {_line(error)}") from error
    if frame.shape[1] != len(names):
        raise ValueError(
            f"{file} has {len(names)} names in its header but {frame.shape[1]} columns of data."
        )
    return frame.set_axis(names, axis=1)


def _check_header(names: list[str], file: Path, separator: str) -> None:
    other = {",": ";", "\t": ","}[separator]
    if len(names) == 1 and other in names[0]:
        raise ValueError(f"{file} has the separator {other!r}; it must be {separator!r}.")
    counted = [[str(k + first) for k in range(len(names))] for first in (0, 1)]
    if names not in counted and all(_is_number(name) for name in names):
        raise ValueError(
            f"{file} seems to have no header: its first line is {', '.join(names[:5])}. "
            "Add a line with the names of the columns."
        )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _parquet(file: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError(
            f"{file} needs the package pyarrow: pip install 'dpdag[parquet]'."
        ) from error
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
    import pandas as pd

    try:
        with file.open("rb") as stream:
            values = np.lib.format.read_array(stream, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{file} is no npy file of numbers, or is damaged.") from error
    if values.ndim != 2:
        raise ValueError(f"{file} must hold a (rows, columns) array; got shape {values.shape}.")
    return pd.DataFrame(values, columns=default_names(values.shape[1]))


def _numeric(frame: pd.DataFrame, file: Path) -> pd.DataFrame:
    names = [str(name) for name in frame.columns]
    _check_names(names, file)
    if 0 in frame.shape:
        raise ValueError(f"{file} has no data: {frame.shape[0]} rows, {frame.shape[1]} columns.")
    text = [name for name, kind in zip(names, frame.dtypes) if not _is_numeric(kind)]
    if text:
        raise ValueError(f"{file} must hold numbers only; drop or encode the columns {text}.")
    numbers = frame.astype(np.float64)
    infinite = [name for name in names if np.isinf(numbers[name]).any()]
    if infinite:
        raise ValueError(f"{file} has infinite values in the columns {infinite}.")
    return numbers


def _check_names(names: Sequence[str], file: Path) -> None:
    if any(not name for name in names):
        column = next(k for k, name in enumerate(names, start=1) if not name)
        raise ValueError(
            f"{file} has no name for column {column}; if it is a row number, remove it "
            "(pandas: to_csv(index=False))."
        )
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise ValueError(f"{file} has the column names {twice} more than once.")


def _is_numeric(kind: Any) -> bool:
    import pandas as pd

    return pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_complex_dtype(kind)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
