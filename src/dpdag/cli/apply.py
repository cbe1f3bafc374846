"""dpdag sample, predict and impute: what a saved model answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .fit import DataArgument, DecimalOption, EncodingOption, OverwriteOption, SeparatorOption
from .output import new_file

if TYPE_CHECKING:
    import pandas as pd

    from ..learners import DAGLearner
    from .table import Table

__all__ = ["impute", "predict", "sample"]

ModelArgument = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="Folder written by 'dpdag fit', or its model/.", show_default=False
    ),
]
OutOption = Annotated[
    Path, typer.Option("--out", "-o", help="File to write: .csv, .tsv, .parquet or .npy.")
]


def sample(
    model: ModelArgument,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="File to write: .npz for graphs, .csv and such for rows."),
    ],
    k: Annotated[int, typer.Option("-k", min=1, help="How many graphs or rows.")] = 100,
    do: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Rows with a column set to a value; repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same draws.")] = 0,
    overwrite: OverwriteOption = False,
) -> None:
    """Draw graphs from the posterior of a model, or rows of data from its learned functions.

    A .npz file holds 'dags' (k, n, n), where dags[s, i, j] = 1 means i → j, and 'names' (n,).

    [bold]Examples[/]

      dpdag sample run/ -k 100 --out dags.npz

      dpdag sample run/ -k 1000 --do PKC=50 --out rows.csv
    """
    learner: Any = _model(model)
    if out.suffix != ".npz":
        rows = learner.sample(k, _interventions(do or []), seed)
        _write(_frame(rows, learner), out, overwrite=overwrite)
        return
    if do:
        raise ValueError(f"--do is for rows, not for graphs; let {out} end in .csv or such.")
    if not hasattr(learner, "sample_dags"):
        kind = type(learner).__name__
        raise ValueError(f"{model} was fitted by {kind}, which has no posterior over graphs.")
    import numpy as np

    with new_file(out, overwrite=overwrite) as partial:
        names = np.array(_names(learner), dtype=np.str_)
        np.savez_compressed(partial, dags=learner.sample_dags(k, seed).astype(np.int8), names=names)
    typer.echo(f"{k} graphs in {out}")


def _answering(answer: Callable[[DAGLearner, Table], pd.DataFrame], words: str) -> Any:
    """A command that writes what a model answers about a table."""

    def command(
        model: ModelArgument,
        data: DataArgument,
        out: OutOption,
        separator: SeparatorOption = None,
        decimal: DecimalOption = ".",
        encoding: EncodingOption = "utf-8",
        overwrite: OverwriteOption = False,
    ) -> None:
        from .table import Reading, read

        table = read(data, Reading(separator, decimal, encoding))
        _write(answer(_model(model), table), out, overwrite=overwrite)

    command.__doc__ = words
    return command


def _predicted(learner: DAGLearner, table: Table) -> pd.DataFrame:
    from .table import gaps

    own = _matching(table, learner)
    if own.isna().any(axis=None):
        names = _names(learner)
        used = dict.fromkeys(n if n in table.frame else n.rpartition("=")[0] for n in names)
        where = gaps(table.frame[list(used)])
        raise ValueError(
            f"{table.source} misses values in {where}; fill them first with 'dpdag impute'."
        )
    return _frame(learner.predict(_as_fitted(own, learner)), learner)


def _imputed(learner: DAGLearner, table: Table) -> pd.DataFrame:
    """The table as it came, gaps filled in columns that the model knows."""
    from .table import filled

    own = _matching(table, learner)
    return filled(table.frame, _frame(learner.impute(_as_fitted(own, learner)), learner))


predict = _answering(
    _predicted,
    """Predict every column that was learned from, from its learned causes.

    [bold]Example[/]

      dpdag predict run/ new.csv --out predicted.csv
    """,
)
impute = _answering(
    _imputed,
    """Fill missing values from the learned causes; all else stays as it is.

    Columns that were not learned from are passed on.

    [bold]Example[/]

      dpdag impute run/ gaps.csv --out filled.csv
    """,
)


def _model(folder: Path) -> DAGLearner:
    from ..learners import load

    return load(folder)


def _names(learner: DAGLearner) -> list[str]:
    names = getattr(learner, "feature_names_in_", None)
    return [f"x{k}" for k in range(learner.n_features_in_)] if names is None else list(names)


def _matching(table: Table, learner: DAGLearner) -> pd.DataFrame:
    from .table import matching

    return matching(table, _names(learner))


def _as_fitted(own: pd.DataFrame, learner: DAGLearner) -> Any:
    """With names, or without."""
    return own if hasattr(learner, "feature_names_in_") else own.to_numpy()


def _frame(rows: Any, learner: DAGLearner) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows, columns=_names(learner))


def _interventions(words: Sequence[str]) -> dict[str, Any]:
    """Numbers, or categories, by the name before the last "="."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.rpartition("=")
        if not equals:
            raise ValueError(f"--do takes name=value, such as dose=1.5; got {word!r}.")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            found[name.strip()] = value.strip()
    return found


def _write(frame: pd.DataFrame, out: Path, *, overwrite: bool) -> None:
    import numpy as np

    from .table import gaps

    writers: dict[str, Any] = {
        ".csv": lambda file: frame.to_csv(file, index=False),
        ".tsv": lambda file: frame.to_csv(file, index=False, sep="\t"),
        ".parquet": lambda file: frame.to_parquet(file),
        ".npy": lambda file: np.save(file, frame.to_numpy(np.float64)),
    }
    if out.suffix not in writers:
        raise ValueError(f"{out} must end in {', '.join(writers)}; got {out.suffix!r}.")
    if out.suffix == ".npy" and frame.shape[1] > frame.select_dtypes("number").shape[1]:
        raise ValueError(f"{out} cannot hold text; let it end in .csv, .tsv or .parquet.")
    with new_file(out, overwrite=overwrite) as partial:
        writers[out.suffix](partial)
    left = gaps(frame)
    typer.echo(
        f"{frame.shape[0]} rows × {frame.shape[1]} columns in {out}"
        + (f"; still missing: {left}" if left else "")
    )
