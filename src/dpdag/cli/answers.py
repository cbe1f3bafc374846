"""What a saved model answers, as tables and graphs on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer

from ..experiments import RunRecord
from ..learners import DAGLearner, load
from ..registry import suggest
from .matching import filled, matching
from .output import new_file
from .table import Table, gaps

__all__ = ["ANSWERS", "categories", "drawn", "interventions", "load", "write", "write_graphs"]


def drawn(learner: DAGLearner, k: int, do: Mapping[str, Any], seed: int) -> pd.DataFrame:
    """Rows of the learned model under interventions."""
    return _frame(learner.sample(k, do, seed), learner)


def predicted(learner: DAGLearner, table: Table) -> pd.DataFrame:
    """Every column of the model from its learned parents."""
    names = _names(learner)
    own = matching(table, names)
    if own.isna().any(axis=None):
        used = dict.fromkeys(n if n in table.frame else n.rpartition("=")[0] for n in names)
        where = gaps(table.frame[list(used)])
        raise ValueError(
            f"{table.origin.source} misses values in {where}; fill them first with 'dpdag impute'."
        )
    return _frame(learner.predict(_as_fitted(own, learner)), learner)


def imputed(learner: DAGLearner, table: Table) -> pd.DataFrame:
    """The table as it came, gaps filled in columns that the model knows."""
    own = _as_fitted(matching(table, _names(learner)), learner)
    return filled(table.frame, _frame(learner.impute(own), learner))


ANSWERS: dict[str, Callable[[DAGLearner, Table], pd.DataFrame]] = {
    "predict": predicted,
    "impute": imputed,
}


def categories(model: Path) -> dict[str, list[str]]:
    """All categories by variable, from the record of the run; none where there is no record."""
    run = model.parent if model.name == "model" else model
    if not (run / "record.json").is_file():
        return {}
    origin = RunRecord.load(run / "record.json").origin
    return {} if origin is None else origin.levels


def interventions(
    words: Sequence[str], levels: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any]:
    """Numbers, or categories, by the name before the last "=".

    Arguments:
        words: "name=value" each.
        levels: Categories of variables; the first is what 0 in all their columns means.

    Example:
        >>> interventions(["dose=1.5", "site=B"])
        {'dose': 1.5, 'site': 'B'}
        >>> interventions(["site=A"], {"site": ["A", "B", "C"]})
        {'site=B': 0.0, 'site=C': 0.0}
    """
    found: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.rpartition("=")
        if not equals:
            raise ValueError(f"--do takes name=value, such as dose=1.5; got {word!r}.")
        name, value = name.strip(), value.strip()
        if levels and name in levels:
            found |= _category(name, value, levels[name])
            continue
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = value
    return found


def _category(name: str, value: str, levels: Sequence[str]) -> dict[str, float]:
    if value not in levels:
        hint = suggest(value, list(levels))
        raise ValueError(f"{name!r} has no category {value!r}.{hint} Known: {', '.join(levels)}.")
    return {f"{name}={level}": float(level == value) for level in levels[1:]}


def write(frame: pd.DataFrame, out: Path, *, overwrite: bool) -> None:
    """Write a table in the format that the name of the file ends in."""
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


def write_graphs(learner: Any, k: int, seed: int, out: Path, *, overwrite: bool) -> None:
    """Write graphs drawn from the posterior of a learner that has one."""
    if not hasattr(learner, "sample_dags"):
        kind = type(learner).__name__
        raise ValueError(f"The model was fitted by {kind}, which has no posterior over graphs.")
    with new_file(out, overwrite=overwrite) as partial:
        names = np.array(_names(learner), dtype=np.str_)
        np.savez_compressed(partial, dags=learner.sample_dags(k, seed).astype(np.int8), names=names)
    typer.echo(f"{k} graphs in {out}")


def _names(learner: DAGLearner) -> list[str]:
    names = getattr(learner, "feature_names_in_", None)
    return [f"x{k}" for k in range(learner.n_features_in_)] if names is None else list(names)


def _as_fitted(own: pd.DataFrame, learner: DAGLearner) -> Any:
    """With names, or without."""
    return own if hasattr(learner, "feature_names_in_") else own.to_numpy()


def _frame(rows: Any, learner: DAGLearner) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=_names(learner))
