"""Resampling: the same search on many subsets of the rows."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..ops.graphs import topological_order

__all__ = ["consensus_order", "mean_scores", "subsamples"]

_SHARE = 0.75  # of the rows


def subsamples(
    n_rows: int,
    count: int,
    *,
    generator: torch.Generator,
    was_set: Tensor | None = None,  # (rows, n) bool
) -> Tensor:  # -> (count, ¾ rows)
    r"""Several times a random three quarters of the rows, of each experiment alike.

    Unlike in a bootstrap resample no row counts twice: to an evidence repeated rows are
    independent confirmations, and a search adds edges to fit them.

    Arguments:
        was_set: Where values were set; rows that are alike in that are of one experiment.

    References:
        Bühlmann & Yu, *Analyzing bagging*, 2002.

    Example:
        >>> subsamples(8, 3, generator=torch.Generator().manual_seed(0)).shape
        torch.Size([3, 6])
    """
    chance = torch.rand(count, n_rows, generator=generator)
    experiment = torch.zeros(n_rows, dtype=torch.long)
    if was_set is not None:
        experiment = was_set.unique(dim=0, return_inverse=True)[1]
    drawn = []
    for k in experiment.unique().tolist():
        rows = (experiment == k).nonzero()[:, 0]
        drawn.append(rows[chance[:, rows].argsort(-1)[:, : max(round(_SHARE * len(rows)), 1)]])
    return torch.cat(drawn, -1)


def mean_scores(scores: Sequence[Tensor]) -> Tensor:  # (n, n) each -> (n, n)
    """Geometric mean, so that no single search decides."""
    return torch.stack([one.log1p() for one in scores]).mean(0).expm1()


def consensus_order(scores: Tensor, found: Tensor, before: Tensor) -> Tensor:  # (n, n) each
    """One order from the graphs of many searches: their edges, the best first, without cycles.

    Arguments:
        scores: Of all edges.
        found: Which edges are in any of the graphs.
        before: Where i must come before j.
    """
    ranked = scores.where(found, -torch.inf).flatten().argsort(descending=True, stable=True)
    edges, reach = before.clone(), before.clone()
    for place in ranked[: int(found.sum())].tolist():
        source, target = divmod(place, len(edges))
        if not reach[target, source]:
            edges[source, target] = True
            above, below = reach[:, source].clone(), reach[target].clone()
            above[source] = below[target] = True
            reach |= above[:, None] & below
    return topological_order(edges)
