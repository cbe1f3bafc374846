"""Learning from data with missing values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from ..columns import ColumnType
from ..scm import Observed
from ..seeding import torch_generator
from .base import Array, DAGLearner
from .validation import refuse_empty, validated

__all__ = ["fit_with_missing"]

_ROUNDS = 2  # of drawing missing values
_CANDIDATES = 20  # draws from causes alone
_ENOUGH = 20  # rows without gaps per column


def fit_with_missing(learner: DAGLearner, X: Any, fit: Callable[[Any], Any]) -> None:
    r"""Alternate between learning from filled data and drawing values from what was learned.

    Missing values z of a row are drawn given all that is known of it, its effects as well as its
    causes, so that filling in adds no certainty and takes none away:

    .. math:: p(z \mid x) \propto \prod_v p(x_v \mid x_{\mathrm{pa}(v)}), \qquad
        v \text{ of known and missing columns}

    by several draws from causes alone, of which one is kept by the probability of what is known.
    The first fit is to rows without gaps where there are enough, else to usual values.

    Arguments:
        fit: Fits the learner to data without missing values.
    """
    values = validated(learner, X, reset=True, min_rows=learner.min_rows)
    missing = np.isnan(values)
    refuse_empty(missing, learner._names(values.shape[1]))
    complete = values[~missing.any(1)]
    if len(complete) >= _ENOUGH * values.shape[1] and _same_values(complete, values, learner):
        filled = complete
    else:
        kinds = learner.types_ or [ColumnType("continuous")] * values.shape[1]
        usual = [_usual(column[~np.isnan(column)], own) for column, own in zip(values.T, kinds)]
        filled = np.where(missing, usual, values)
    for draw in range(_ROUNDS if missing.any() else 0):
        fit(_table(filled, X))
        generator = torch_generator(learner.random_state, "missing", draw)
        filled = np.where(missing, learner._settled(_drawn(learner, values, generator)), values)
    fit(_table(filled, X))
    learner.observed_ = Observed.of(values)


def _drawn(learner: Any, values: Array, generator: torch.Generator) -> Tensor:  # (m, n) -> (m, n)
    """Rows with missing values drawn given the others."""
    model, x = learner.model_, learner._model_units(values)
    known = ~x.isnan()
    rows, weights = [], []
    for _ in range(_CANDIDATES):
        noise = model.noise(len(x), generator=generator)
        rows.append(model.propagate(noise, fixed=known, values=x))
        weights.append(model.log_likelihood(rows[-1]).where(known, 0.0).sum(-1))
    chance = torch.stack(weights, -1).softmax(-1)
    kept = torch.multinomial(chance, 1, generator=generator)  # (m, 1)
    return torch.stack(rows, 1)[torch.arange(len(x)), kept[:, 0]]


def _table(values: Array, X: Any) -> Any:
    """Numbers under the names of ``X``, if it has some."""
    return pd.DataFrame(values, columns=X.columns) if isinstance(X, pd.DataFrame) else values


def _same_values(complete: Array, values: Array, learner: DAGLearner) -> bool:
    """Whether all levels of discrete columns are among the rows without gaps."""
    kinds = learner.types_ or ()
    seen = [(complete[:, k], values[:, k]) for k, own in enumerate(kinds) if own.levels]
    return all(set(all_[~np.isnan(all_)]) == set(some) for some, all_ in seen)


def _usual(known: Array, own: ColumnType) -> float:
    """The mean, of two values and of categories the most frequent one."""
    values, counts = np.unique(known, return_counts=True)
    if own.kind in ("binary", "category"):
        return float(values[counts.argmax()])
    return float(own.settle(known.mean(keepdims=True))[0])
