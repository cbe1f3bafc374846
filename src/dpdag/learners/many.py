"""Many fits of VI-DP-DAG as one batch: data sets × seeds × settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import torch
from sklearn.base import clone
from torch import Tensor

from ..distributions import Constraints
from ..training import ProgressBar
from .parameters import check_parameters, is_trained
from .settings import design_of, hypers_of, start_orders
from .variational import Design, fit_replicas
from .vi_dp_dag import VIDPDAG

__all__ = ["PAPER_GRID", "Fit", "fit_many", "grid_search"]

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
    estimator: VIDPDAG


class _Job(NamedTuple):
    fit: Fit
    x: Tensor  # (rows, n)
    constraints: Constraints
    orders: Tensor | None  # (restarts, n)


def fit_many(
    datasets: Sequence[Any],
    *,
    seeds: Sequence[int] = (0,),
    grid: Mapping[str, Sequence[Any]] | None = None,
    estimator: VIDPDAG | None = None,
) -> list[Fit]:
    """Fit every data set with every seed and every combination of settings, as few batches.

    Fits train side by side wherever they share the shape of the data and the settings that shape
    the computation (permutation, width, epochs, …); learning rates, λ, prior, seed and data may
    differ within a batch. Each result is what the same estimator would have found alone.

    Arguments:
        datasets: DataFrames or arrays (rows, n).
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
    template = VIDPDAG.paper() if estimator is None else estimator
    grid = {} if grid is None else dict(grid)
    batches: dict[Any, list[_Job]] = defaultdict(list)
    fits = []
    for (index, X), seed, values in product(enumerate(datasets), seeds, product(*grid.values())):
        settings = dict(zip(grid, values))
        one = clone(template).set_params(random_state=seed, **settings)
        fit = Fit(index, seed, settings, one)
        fits.append(fit)
        if not is_trained(one.mechanism):  # nothing to train side by side
            one.fit(X)
            continue
        job = _prepare(fit, X)
        batches[_signature(job, design_of(one))].append(job)
    with ProgressBar(enabled=bool(template.verbose)) as bar:
        for (design, *_), jobs in batches.items():
            _run(jobs, design, bar)
    return fits


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


def _prepare(fit: Fit, X: Any) -> _Job:
    """Check and standardise as ``fit`` does."""
    one = fit.estimator
    check_parameters(one)
    x = one._standardise(one._validate(X, reset=True))
    constraints = one._select(x, one._constraints())
    return _Job(fit, x, constraints, start_orders(one, x, constraints))


def _signature(job: _Job, design: Design) -> tuple[Any, ...]:
    """What fits must share to train as one batch."""
    masks = (job.constraints.allowed, job.constraints.required, job.constraints.before)
    return (
        design,
        tuple(job.x.shape),
        job.orders is None,
        *(mask.numpy().tobytes() for mask in masks),
    )


def _run(jobs: Sequence[_Job], design: Design, bar: ProgressBar) -> None:
    hypers = [hypers_of(job.fit.estimator) for job in jobs]
    x = torch.stack([job.x.float() for job, own in zip(jobs, hypers) for _ in own])
    orders = [job.orders for job in jobs if job.orders is not None]
    replicas = fit_replicas(
        x,
        [hyper for own in hypers for hyper in own],
        design=design,
        constraints=jobs[0].constraints,
        orders=torch.cat(orders) if orders else None,
        callbacks=[bar],
    )
    start = 0
    for job, own in zip(jobs, hypers):
        one = job.fit.estimator
        solution = one._adopt(replicas.take(slice(start, start + len(own))))
        one._finish(job.x, one._prune(job.x, solution, job.constraints))
        start += len(own)
