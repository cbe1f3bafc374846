"""What a saved model answers, as tables and graphs on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import datasets
from ..experiments import listed
from ..learners import DAGLearner, ModelLearner, load
from ..ops.labels import label_index, label_texts
from .matching import filled, matching, whole_numbers
from .output import new_file
from .streams import say
from .table import Table, gaps

__all__ = ["drawn", "imputed", "load", "predicted", "write", "write_graphs"]


def drawn(learner: DAGLearner, k: int, do: Sequence[str], seed: int) -> pd.DataFrame:
    """Rows of the learned model, as the table it learned from could have them.

    Arguments:
        do: Interventions, "name=value" each.
    """
    _require_functions(learner)
    columns = _columns(learner)
    held = interventions(do, columns)
    rows = _frame(learner.sample(k, held, seed), learner)
    by_name = {name: held[column] for name, column in columns.items() if column in held}
    return _decoded(whole_numbers(rows, learner.observed_, by_name), learner)


def predicted(learner: DAGLearner, table: Table, *, std: bool = False) -> pd.DataFrame:
    """Every column of the model from its learned parents, categories by name.

    Arguments:
        std: Whether columns "name_std" follow, with the standard deviations of all numbers.
    """
    _require_functions(learner)
    names = _names(learner)
    own = matching(table, names, learner.levels_ or {})
    if own.isna().any(axis=None):
        used = dict.fromkeys(n if n in table.frame else n.rpartition("=")[0] for n in names)
        where = gaps(table.frame[list(used)])
        raise ValueError(
            f"{table.origin.source} misses values in {where}; fill them first with 'dpdag impute'."
        )
    rows = _as_fitted(own, learner)
    if not std:
        return _decoded(_frame(learner.predict(rows), learner), learner)
    mean, spread = learner.predict(rows, return_std=True)
    values = _decoded(_frame(mean, learner), learner)
    return values.join(_spreads(_frame(spread, learner), values))


def _spreads(spread: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """The columns of ``spread`` that ``values`` has too, under names of their own."""
    own = spread[[name for name in spread if name in values]].add_suffix("_std")
    taken = [name for name in own if name in values]
    if taken:
        raise ValueError(
            f"--std writes {listed(taken)}, but the model has columns of that name; rename them "
            "and fit again."
        )
    return own


def imputed(learner: DAGLearner, table: Table) -> pd.DataFrame:
    """The table as it came, gaps filled in columns that the model knows."""
    _require_functions(learner)
    levels = learner.levels_ or {}
    own = _as_fitted(matching(table, _names(learner), levels), learner)
    return filled(table.frame, _frame(learner.impute(own), learner), levels)


def interventions(words: Sequence[str], columns: Mapping[str, Any]) -> dict[Any, Any]:
    """Numbers by column, or categories by variable, as learners take them.

    Arguments:
        words: "name=value" each; the name ends at the last "=".
        columns: What a learner calls its columns, by name.

    Example:
        >>> interventions(["dose=1.5", "site=2"], {"dose": "dose", "site=2": "site=2"})
        {'dose': 1.5, 'site': '2'}
    """
    found: dict[Any, Any] = {}
    for word in words:
        name, equals, value = (part.strip() for part in word.rpartition("="))
        if not equals:
            raise ValueError(f"--do takes name=value, such as dose=1.5; got {word!r}.")
        found[columns.get(name, name)] = _number(value) if name in columns else value
    return found


def _number(value: str) -> float | str:
    try:
        return float(value)
    except ValueError:
        return value


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
    say(
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
    say(f"{k} graphs in {out}")


def _require_functions(learner: DAGLearner) -> None:
    if not isinstance(learner, ModelLearner):
        raise ValueError(
            f"The model was fitted by {type(learner).__name__}, which has no functions from causes "
            "to effects. Fit some on its graph: dpdag fit DATA --out OTHER --learner "
            "GroundTruthDAG --set adjacency=MODEL."
        )


def _columns(learner: DAGLearner) -> dict[str, Any]:
    """What the learner calls its columns, by name: numbers after a fit to an array."""
    if hasattr(learner, "feature_names_in_"):
        labels = learner.feature_names_in_
        return dict(zip(label_texts(labels), labels))
    return {f"x{k}": k for k in range(learner.n_features_in_)}


def _names(learner: DAGLearner) -> list[str]:
    return list(_columns(learner))


def _as_fitted(own: pd.DataFrame, learner: DAGLearner) -> Any:
    """With the learner's own labels, or without."""
    if not hasattr(learner, "feature_names_in_"):
        return own.to_numpy()
    return own.set_axis(label_index(learner.feature_names_in_), axis=1)


def _frame(rows: Any, learner: DAGLearner) -> pd.DataFrame:
    return pd.DataFrame(np.asarray(rows), columns=_names(learner))


def _decoded(frame: pd.DataFrame, learner: DAGLearner) -> pd.DataFrame:
    """With columns of categories where the learner knows all of them."""
    return datasets.from_one_hot(frame, learner.levels_ or {})
