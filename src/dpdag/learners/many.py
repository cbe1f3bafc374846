"""Many fits as few batches: data sets × seeds × settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from sklearn.base import clone

from .base import DAGLearner, Job
from .vi_dp_dag import VIDPDAG

# Appendix E of the paper; ranges are given there, these are points in them.
PAPER_GRID: dict[str, Sequence[Any]] = {
    "learning_rate": (1e-2, 3e-3, 1e-3),
    "hidden_units": (8, 16, 64),
    "permutation": ("topk", "sinkhorn"),
    "edge_prior": (1e-2, 1e-1),
    "kl_weight": (0.0, 1e-2, 1e-1),
}


class Fit(NamedTuple):
    """One of many fits."""

    dataset: int
    seed: int
    settings: dict[str, Any]
    estimator: Any


def fit_many(
    datasets: Sequence[Any],
    *,
    interventions: Sequence[Any] | None = None,
    seeds: Sequence[int] = (0,),
    grid: Mapping[str, Sequence[Any]] | None = None,
    estimator: DAGLearner | None = None,
) -> list[Fit]:
    """Fit every data set with every seed and every combination of settings, as few batches.

    Fits of a gradient learner train side by side wherever they share the shape of the data and
    the settings that shape the computation (permutation, width, epochs, …); seed and data may
    differ within a batch, for :class:`~dpdag.VIDPDAG` learning rates, λ and prior too. Other
    learners are fitted one by one. Each result is what the same estimator would have found alone.

    Arguments:
        datasets: DataFrames or arrays (rows, n).
        interventions: What was set in each of them, as in ``fit``.
        seeds: Values of ``random_state``.
        grid: Lists of values by parameter name.
        estimator: Where all other settings come from; ``VIDPDAG.paper()`` by default.

    Example:
        >>> import numpy as np
        >>> X = [np.random.default_rng(k).normal(size=(50, 3)) for k in range(2)]
        >>> small = VIDPDAG.paper(max_epochs=2)
        >>> fits = fit_many(X, seeds=[0, 1], grid={"kl_weight": [0.0, 0.1]}, estimator=small)
        >>> len(fits)
        8
    """
    given = [None] * len(datasets) if interventions is None else list(interventions)
    if len(given) != len(datasets):
        raise ValueError(
            f"'interventions' must have one entry for each of the {len(datasets)} data sets; "
            f"got {len(given)}."
        )
    template = VIDPDAG.paper() if estimator is None else estimator
    grid = {} if grid is None else dict(grid)
    fits = [
        Fit(index, seed, dict(zip(grid, values)), clone(template).set_params(random_state=seed))
        for index, seed, values in product(range(len(datasets)), seeds, product(*grid.values()))
    ]
    for fit in fits:
        fit.estimator.set_params(**fit.settings)
    fit_together([(fit.estimator, datasets[fit.dataset], given[fit.dataset]) for fit in fits])
    return fits


def fit_alone(learner: Any, X: Any, interventions: Any) -> None:
    """Fit to data and what was set in it; learners that know no interventions see none."""
    learner.fit(X) if interventions is None else learner.fit(X, interventions=interventions)


def fit_together(tasks: Sequence[tuple[DAGLearner, Any, Any]]) -> None:
    """Fit every learner to its own data (rows, n) and what was set in it, as few batches."""
    batches: dict[Any, list[Job]] = defaultdict(list)
    for one, X, interventions in tasks:
        key = one._companions()
        if key is None:  # nothing to train side by side
            fit_alone(one, X, interventions)
            continue
        job = one._prepare(one._coded(X), interventions)
        batches[key, job.x.shape, *job.constraints.key].append(job)
    for jobs in batches.values():
        solutions = jobs[0].learner._learn_together(jobs)
        for job, solution in zip(jobs, solutions):
            job.learner._finish(job, job.learner._prune(job, solution))


def grid_search(
    X: Any,
    *,
    grid: Mapping[str, Sequence[Any]] = PAPER_GRID,
    seeds: Sequence[int] = (0,),
    estimator: VIDPDAG | None = None,
) -> VIDPDAG:
    """The fit of lowest held-out reconstruction loss over a grid, by default the paper's."""
    fits = fit_many([X], seeds=seeds, grid=grid, estimator=estimator)
    return min(fits, key=lambda fit: fit.estimator.validation_loss_).estimator
