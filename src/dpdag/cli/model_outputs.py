"""What a saved model gives for a table, as tables and graphs on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import datasets
from ..columns import ColumnType, level_text
from ..learners import DAGLearner, ModelLearner, load
from ..ops.columns import is_number
from ..ops.labels import label_index, label_texts
from ..records import listed
from ..registry import suggest
from ..scm import Observed
from .options import assignment
from .output import new_file
from .streams import say
from .table import Table, code_hint, gaps, text_examples

LARGEST = 2**53  # whole numbers beyond are not exact in floating point


def drawn(learner: ModelLearner, k: int, do: Sequence[str], seed: int) -> pd.DataFrame:
    """Rows of the learned model, as the table it learned from could have them.

    Arguments:
        do: Interventions, "name=value" each.
    """
    columns = _columns(learner)
    held = interventions(do, columns)
    rows = _frame(learner.sample(k, held, seed), learner)
    by_name = {name: held[column] for name, column in columns.items() if column in held}
    return whole_numbers(rows, learner.observed_, by_name)


def predicted(
    learner: ModelLearner, table: Table, *, std: bool, probabilities: bool
) -> pd.DataFrame:
    """Every column of the model from its learned parents, labels by name.

    Arguments:
        std: Whether columns "name_std" follow, with the standard deviations of all numbers.
        probabilities: Whether columns "name=level" follow, with the probabilities of all levels.
    """
    own = aligned(table, _names(learner), learner.types_ or ())
    if own.isna().any(axis=None):
        where = gaps(table.frame[list(own)])
        raise ValueError(
            f"{table.origin.source} misses values in {where}; fill them first with 'dpdag impute'."
        )
    rows = _as_fitted(own, learner)
    mean, spread = learner.predict(rows, return_std=True)
    values = _frame(mean, learner)
    if std:
        numbers = _frame(spread, learner).dropna(axis=1)
        values = _beside(values, numbers.add_suffix("_std"), "--std")
    if probabilities:
        names = {label: name for name, label in _columns(learner).items()}
        found = learner.predict_probabilities(rows)
        columns = {
            f"{names[label]}={level_text(level)}": share.to_numpy()
            for label, own in found.items()
            for level, share in own.items()
        }
        values = _beside(values, pd.DataFrame(columns), "--probabilities")
    return values


def _beside(values: pd.DataFrame, more: pd.DataFrame, option: str) -> pd.DataFrame:
    """Both tables as one, their names being different."""
    taken = [name for name in more if name in values]
    if taken:
        raise ValueError(
            f"{option} writes {listed(taken)}, but the model has columns of that name; rename them "
            "and fit again."
        )
    return values.join(more)


def imputed(learner: ModelLearner, table: Table) -> pd.DataFrame:
    """The table as it came, gaps filled in columns that the model knows."""
    own = _as_fitted(aligned(table, _names(learner), learner.types_ or ()), learner)
    return filled(table.frame, _frame(learner.impute(own), learner))


def interventions(words: Sequence[str], columns: Mapping[str, Any]) -> dict[Any, Any]:
    """Values by column, numbers where they are some, as learners take them.

    Arguments:
        words: "name=value" each; the name ends at the last "=".
        columns: What a learner calls its columns, by name.

    Example:
        >>> interventions(["dose=1.5", "site=B"], {"dose": "dose", "site": "site"})
        {'dose': 1.5, 'site': 'B'}
    """
    found: dict[Any, Any] = {}
    for word in words:
        name, value = assignment(word, "--do takes name=value, such as dose=1.5")
        column = columns.get(name, name)
        if column in found:
            raise ValueError(
                f"--do sets {name!r} twice; give it one value, and run again for others."
            )
        found[column] = float(value) if is_number(value) else value
    return found


def aligned(table: Table, names: Sequence[str], types: Sequence[ColumnType]) -> pd.DataFrame:
    """The columns that a model was fitted to, in its order, from a table with these or more.

    Arguments:
        table: With the columns.
        names: Of the model's columns.
        types: Of the model's columns; labels that they do not know are refused.
    """
    data, frame = table.origin.source, table.frame
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
    return frame[list(names)].assign(**numbers)


def filled(frame: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """A table with its gaps filled from a model's columns, all else as it is.

    Whole numbers, which gaps beside them have made floating ones, are whole again.
    """
    gaps = list(frame.columns[frame.isna().any()])
    columns = {name: own[name] if name in own else frame[name] for name in gaps}
    whole = {name: one.astype("Int64") for name, one in columns.items() if _all_whole(one)}
    return frame.assign(**columns | whole)


def _all_whole(column: pd.Series[Any]) -> bool:
    """Whether floating numbers are whole ones, gaps aside."""
    known = column.dropna()
    floating = known.dtype == float and len(known) > 0
    return floating and bool((known == known.round()).all() and known.abs().max() < LARGEST)


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


def write(frame: pd.DataFrame, out: Path, *, overwrite: bool) -> None:
    """Write a table in the format that the name of the file ends in."""
    writers: dict[str, Any] = {
        ".csv": lambda file: frame.to_csv(file, index=False),
        ".tsv": lambda file: frame.to_csv(file, index=False, sep="\t"),
        ".parquet": lambda file: frame.to_parquet(file),
        ".npy": lambda file: np.save(file, frame.to_numpy(np.float64, na_value=np.nan)),
    }
    if out.suffix not in writers:
        raise ValueError(f"{out} must end in {', '.join(writers)}; got {out.suffix!r}.")
    numbers = frame.select_dtypes(["number", "bool"])
    if out.suffix == ".npy" and frame.shape[1] > numbers.shape[1]:
        raise ValueError(f"{out} cannot hold text; let it end in .csv, .tsv or .parquet.")
    with new_file(out, overwrite=overwrite) as partial:
        writers[out.suffix](partial)
    left = gaps(frame)
    say(
        f"{frame.shape[0]} rows × {frame.shape[1]} columns in {out}"
        + (f"; still missing: {left}" if left else "")
    )


def write_graphs(model: Path, k: int, seed: int, out: Path, *, overwrite: bool) -> None:
    """Write graphs drawn from the posterior of a saved learner that has one."""
    learner = load(model)
    if not hasattr(learner, "sample_dags"):
        kind = type(learner).__name__
        raise ValueError(f"The model was fitted by {kind}, which has no posterior over graphs.")
    with new_file(out, overwrite=overwrite) as partial:
        names = np.array(_names(learner), dtype=np.str_)
        np.savez_compressed(partial, dags=learner.sample_dags(k, seed).astype(np.int8), names=names)
    say(f"{k} graphs in {out}")


def functions(folder: Path) -> ModelLearner:
    """The learner saved in a folder, if it has functions from causes to effects."""
    learner = load(folder)
    if not isinstance(learner, ModelLearner):
        raise ValueError(
            f"The model was fitted by {type(learner).__name__}, which has no functions from causes "
            "to effects. Fit some on its graph: dpdag fit DATA --out OTHER --learner "
            "GroundTruthDAG --set adjacency=MODEL."
        )
    return learner


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
    return pd.DataFrame(rows).set_axis(_names(learner), axis=1)
