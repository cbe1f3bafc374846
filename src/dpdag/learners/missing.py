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


def fit_with_missing(learner: DAGLearner, X: Any, fit: Callable[[Any], Any]) -> None:
    """Alternate between learning from filled data and drawing missing values from what was learned.

    A missing value is drawn from its learned parents and the noise of its column, so that filling
    in adds no certainty that the data do not have; the first time it is the column's usual value.

    Arguments:
        fit: Fits the learner to data without missing values.
    """
    values = validated(learner, X, reset=True, min_rows=learner.min_rows)
    missing = np.isnan(values)
    refuse_empty(missing, learner._names(values.shape[1]))
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
    learner.observed_ = Observed.of(values)


def _usual(known: Array, own: ColumnType) -> float:
    """The mean, of two values and of categories the most frequent one."""
    values, counts = np.unique(known, return_counts=True)
    if own.kind in ("binary", "category"):
        return float(values[counts.argmax()])
    return float(own.settle(known.mean(keepdims=True))[0])
