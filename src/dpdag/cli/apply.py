"""dpdag sample, predict and impute: what a saved model answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer

from ..learners import DAGLearner, load
from .fit import DataArgument, DecimalOption, EncodingOption, OverwriteOption, SeparatorOption
from .output import new_file
from .table import Reading, matching

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
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write: .npz.")],
    k: Annotated[int, typer.Option("-k", min=1, help="How many graphs.")] = 100,
    seed: Annotated[int, typer.Option(help="Same seed, same graphs.")] = 0,
    overwrite: OverwriteOption = False,
) -> None:
    """Draw graphs from the posterior of a model.

    The file holds 'dags' (k, n, n), where dags[s, i, j] = 1 means i → j, and 'names' (n,).

    [bold]Example[/]

      dpdag sample run/ -k 100 --out dags.npz
    """
    learner: Any = _model(model)
    if not hasattr(learner, "sample_dags"):
        kind = type(learner).__name__
        raise ValueError(f"{model} was fitted by {kind}, which has no posterior over graphs.")
    if out.suffix != ".npz":
        raise ValueError(f"{out} must end in .npz.")
    with new_file(out, overwrite=overwrite) as partial:
        names = np.array(_names(learner), dtype=np.str_)
        np.savez_compressed(partial, dags=learner.sample_dags(k, seed).astype(np.int8), names=names)
    typer.echo(f"{k} graphs in {out}")


def predict(
    model: ModelArgument,
    data: DataArgument,
    out: OutOption,
    separator: SeparatorOption = None,
    decimal: DecimalOption = ".",
    encoding: EncodingOption = "utf-8",
    overwrite: OverwriteOption = False,
) -> None:
    """Predict every column from its learned causes.

    [bold]Example[/]

      dpdag predict run/ new.csv --out predicted.csv
    """
    learner = _model(model)
    frame = matching(data, Reading(separator, decimal, encoding), _names(learner))
    gaps = [str(name) for name in frame if frame[name].isna().any()]
    if gaps:
        raise ValueError(f"{data} misses values in {gaps}; fill them first with 'dpdag impute'.")
    _write(learner.predict(frame), frame, out, overwrite=overwrite)


def impute(
    model: ModelArgument,
    data: DataArgument,
    out: OutOption,
    separator: SeparatorOption = None,
    decimal: DecimalOption = ".",
    encoding: EncodingOption = "utf-8",
    overwrite: OverwriteOption = False,
) -> None:
    """Fill missing values from the learned causes; other values are untouched.

    [bold]Example[/]

      dpdag impute run/ gaps.csv --out filled.csv
    """
    learner = _model(model)
    frame = matching(data, Reading(separator, decimal, encoding), _names(learner))
    _write(learner.impute(frame), frame, out, overwrite=overwrite)


def _model(folder: Path) -> DAGLearner:
    return load(folder / "model" if (folder / "model").is_dir() else folder)


def _names(learner: DAGLearner) -> list[str]:
    names = getattr(learner, "feature_names_in_", None)
    return [f"x{k}" for k in range(learner.n_features_in_)] if names is None else list(names)


def _write(values: Any, like: pd.DataFrame, out: Path, *, overwrite: bool) -> None:
    frame = pd.DataFrame(values, columns=like.columns)
    writers: dict[str, Any] = {
        ".csv": lambda file: frame.to_csv(file, index=False),
        ".tsv": lambda file: frame.to_csv(file, index=False, sep="\t"),
        ".parquet": lambda file: frame.to_parquet(file),
        ".npy": lambda file: np.save(file, frame.to_numpy()),
    }
    if out.suffix not in writers:
        raise ValueError(f"{out} must end in {', '.join(writers)}; got {out.suffix!r}.")
    with new_file(out, overwrite=overwrite) as partial:
        writers[out.suffix](partial)
    typer.echo(f"{frame.shape[0]} rows × {frame.shape[1]} columns in {out}")
