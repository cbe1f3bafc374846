"""Learning from data with missing values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ..columns import ColumnType
from ..scm import Observed
from ..seeding import torch_generator
from .base import Array, DAGLearner
from .validation import like_input, refuse_empty, validated

__all__ = ["fit_with_missing"]

_ROUNDS = 2  # of drawing missing values


def fit_with_missing(
    learner: DAGLearner, X: Any, fit: Callable[[Any], Any], interventions: Any = None
) -> None:
    """Alternate between learning from filled data and drawing missing values from what was learned.

    A missing value is drawn from its learned parents and the noise of its column, so that filling
    in adds no certainty that the data do not have; the first time it is the column's usual value.

    Arguments:
        fit: Fits the learner to data without missing values.
        interventions: As in ``fit``; a value that was set cannot be missing.
    """
    values = validated(learner, X, reset=True, min_rows=learner.min_rows)
    missing = np.isnan(values)
    names, was_set = learner._names(values.shape[1]), learner._was_set(values, interventions)
    refuse_empty(missing, names)
    _refuse_unknown_settings(missing & was_set, names)
    kinds = learner.types_ or [ColumnType("continuous")] * values.shape[1]
    usual = [_usual(column[~np.isnan(column)], own) for column, own in zip(values.T, kinds)]
    filled = np.where(missing, usual, values)
    for draw in range(_ROUNDS if missing.any() else 0):
        fit(like_input(filled, X, X))
        x = learner._model_units(values)
        generator = torch_generator(learner.random_state, "missing", draw)
        noise = learner.model_.noise(len(x), generator=generator)
        drawn = learner.model_.propagate(noise, fixed=torch.from_numpy(~missing), values=x)
        filled = np.where(missing, learner._settled(drawn), values)
    fit(like_input(filled, X, X))
    learner.observed_ = Observed.of(values, was_set)


def _refuse_unknown_settings(unknown: np.ndarray, names: list[Any]) -> None:  # (rows, n) bool
    """What was done in an experiment cannot be drawn from causes."""
    if unknown.any():
        columns = [names[k] for k in np.flatnonzero(unknown.any(0)).tolist()]
        raise ValueError(
            f"X misses values in columns {columns} in rows where 'interventions' says they were "
            "set; give the values that were set, or drop these rows."
        )


def _usual(known: Array, own: ColumnType) -> float:
    """The mean, of two values and of categories the most frequent one."""
    values, counts = np.unique(known, return_counts=True)
    if own.kind in ("binary", "category"):
        return float(values[counts.argmax()])
    return float(own.settle(known.mean(keepdims=True))[0])
