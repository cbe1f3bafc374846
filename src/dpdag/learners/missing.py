"""Learning from data with missing values."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..columns import ColumnType
from ..deadline import Deadline, OutOfTimeError
from ..scm import Observed
from ..seeding import torch_generator
from .base import Array, DAGLearner
from .targets import in_rows_of
from .validation import refuse_empty, validated

_ROUNDS = 2  # of drawing missing values
_CANDIDATES = 20  # draws from causes alone
_ENOUGH = 20  # rows without gaps per column


def fit_with_missing(
    learner: DAGLearner,
    X: Any,
    fit: Callable[[Any, Any, float], Any],
    interventions: Any,
    deadline: Deadline,
) -> None:
    r"""Alternate between learning from filled data and drawing values from what was learned.

    Missing values z of a row are drawn given all that is known of it, its effects as well as its
    causes, so that filling in adds no certainty and takes none away:

    .. math:: p(z \mid x) \propto \prod_v p(x_v \mid x_{\mathrm{pa}(v)}), \qquad
        v \text{ of known and missing columns}

    by several draws from causes alone, of which one is kept by the probability of what is known.
    The first fit is to rows without gaps where there are enough, else to usual values.

    Arguments:
        fit: Fits the learner to data without missing values and what was set in them, until a
            share of all time is spent.
        interventions: As in ``fit``; a value that was set cannot be missing.
        deadline: Of all fits and draws.
    """
    values = validated(learner, X, reset=True, min_rows=learner.min_rows)
    missing = np.isnan(values)
    names = learner._names(values.shape[1])
    was_set = learner._was_set(values, in_rows_of(X, interventions))
    refuse_empty(missing, names)
    _refuse_unknown_settings(missing & was_set, names)
    every = np.ones(len(values), dtype=bool)
    filled, rows = values, ~missing.any(1)
    if not _enough(values[rows], was_set[rows]) or not _same_values(values[rows], values, learner):
        kinds = learner.types_ or [ColumnType("continuous")] * values.shape[1]
        usual = [_usual(column[~np.isnan(column)], own) for column, own in zip(values.T, kinds)]
        filled, rows = np.where(missing, usual, values), every
    rounds = _ROUNDS if missing.any() else 0
    for draw in range(rounds):
        fit(_table(filled[rows], X), was_set[rows], (draw + 0.7) / (rounds + 1))
        generator = torch_generator(learner.random_state, "missing", draw)
        with deadline.stage("some draws of missing values", until=(draw + 1) / (rounds + 1)):
            drawn = _drawn(learner, values, was_set, generator, deadline)
        filled, rows = np.where(missing, learner._settled(drawn), values), every
    fit(_table(filled, X), was_set, 1.0)
    learner.observed_ = Observed.of(values, was_set)


def _refuse_unknown_settings(unknown: np.ndarray, names: list[Any]) -> None:  # (rows, n) bool
    """What was done in an experiment cannot be drawn from causes."""
    if unknown.any():
        columns = [names[k] for k in np.flatnonzero(unknown.any(0)).tolist()]
        raise ValueError(
            f"X misses values in columns {columns} in rows where 'interventions' says they were "
            "set; give the values that were set, or drop these rows."
        )


def _drawn(
    learner: Any,
    values: Array,
    was_set: NDArray[np.bool_],
    generator: torch.Generator,
    deadline: Deadline,
) -> Tensor:  # (m, n), (m, n) -> (m, n)
    """Missing values drawn given the others; what was set says nothing of its causes."""
    model, x = learner.model_, learner._units.to_model(values)
    gaps = x.isnan().any(-1)
    given = x[gaps]
    known = ~given.isnan()
    judged = known & ~torch.from_numpy(was_set)[gaps]
    drawn: list[Tensor] = []
    weights: list[Tensor] = []
    with suppress(OutOfTimeError):
        for _ in range(_CANDIDATES):
            noise = model.noise(len(x), generator=generator)[gaps]
            drawn.append(model.propagate(noise, fixed=known, values=given))
            weights.append(model.log_likelihood(drawn[-1]).where(judged, 0.0).sum(-1))
            deadline.check()
    chance = torch.ones(len(x), len(drawn), dtype=torch.float64)
    chance[gaps] = torch.stack(weights, -1).softmax(-1).double()
    kept = torch.multinomial(chance, 1, generator=generator)[gaps, 0]
    x[gaps] = torch.stack(drawn, 1)[torch.arange(len(kept)), kept]
    return x


def _table(values: Array, X: Any) -> Any:
    """Numbers under the names of ``X``, if it has some."""
    return pd.DataFrame(values, columns=X.columns) if isinstance(X, pd.DataFrame) else values


def _enough(complete: Array, was_set: NDArray[np.bool_]) -> bool:  # (m, n), (m, n)
    """Whether rows without gaps are many, those in which a column was not set too."""
    rows, n = complete.shape
    return rows >= _ENOUGH * n and bool(((~was_set).sum(0) >= _ENOUGH).all())


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
