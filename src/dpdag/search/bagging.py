"""Resampling: the same search on many subsets of the rows, all in step."""

from __future__ import annotations

import torch
from torch import Tensor

from ..ops.graphs import topological_order
from .greedy import SearchResult
from .state import connect

__all__ = ["consensus_order", "mean_scores", "subsamples"]


def subsamples(
    n_rows: int,
    n_replicas: int,
    *,
    generator: torch.Generator,
    fraction: float = 0.75,
    was_set: Tensor | None = None,  # (rows, n) bool
) -> Tensor:  # -> (replicas, rows)
    r"""Weights of replicas that each hold a random ``fraction`` of the rows of each experiment.

    Unlike in a bootstrap resample no row counts twice: to an evidence repeated rows are
    independent confirmations, and a search adds edges to fit them.

    An evidence built with these weights holds all replicas, and one call of
    :func:`~dpdag.search.greedy` finds all their graphs and orders as one batch.

    Arguments:
        was_set: Where values were set; rows that are alike in that are of one experiment.

    References:
        Bühlmann & Yu, *Analyzing bagging*, 2002.

    Example:
        >>> weights = subsamples(8, 3, generator=torch.Generator().manual_seed(0))
        >>> weights.sum(-1).tolist()
        [6.0, 6.0, 6.0]
    """
    chance = torch.rand(n_replicas, n_rows, generator=generator)
    experiment = torch.zeros(n_rows, dtype=torch.long)
    if was_set is not None:
        experiment = was_set.unique(dim=0, return_inverse=True)[1]
    weights = torch.zeros(n_replicas, n_rows, dtype=torch.float64)
    for k in experiment.unique().tolist():
        rows = (experiment == k).nonzero()[:, 0]
        place = chance[:, rows].argsort(-1).argsort(-1)
        weights[:, rows] = (place < max(round(fraction * len(rows)), 1)).double()
    return weights


def mean_scores(found: SearchResult) -> Tensor:  # (r, n, n) -> (n, n)
    """Geometric mean over replicas, so that no single replica decides."""
    return found.edge_scores.log1p().mean(0).expm1()


def consensus_order(found: SearchResult, *, before: Tensor) -> Tensor:  # (n, n) -> (n,)
    """One order from the graphs of many replicas: their edges, the best first, without cycles."""
    scores = torch.where(found.adjacency.any(0), mean_scores(found), -torch.inf)
    ranked = scores.flatten().argsort(descending=True, stable=True)
    edges, reach = before.clone(), before.clone()
    for place in ranked[: int(scores.isfinite().sum())].tolist():
        source, target = divmod(place, len(edges))
        if not reach[target, source]:
            edges[source, target] = True
            connect(reach, source, target)
    return topological_order(edges)
