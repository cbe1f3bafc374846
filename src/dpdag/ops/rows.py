"""Some of the rows of a table, and those that inform each column."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class RowGroup(NamedTuple):
    """Columns with the same rows in which they were not set."""

    columns: Tensor  # (m,)
    rows: Tensor  # (k,)


def row_groups(was_set: Tensor) -> list[RowGroup]:  # (rows, n) bool
    """Columns by the rows that say something of their causes: those in which they were not set.

    Example:
        >>> was_set = torch.tensor([[0, 0, 0], [0, 1, 0], [0, 1, 0]]).bool()
        >>> [(group.columns.tolist(), group.rows.tolist()) for group in row_groups(was_set)]
        [([0, 2], [0, 1, 2]), ([1], [0])]
    """
    patterns, which = was_set.T.unique(dim=0, return_inverse=True)
    return [
        RowGroup((which == k).nonzero()[:, 0], (~pattern).nonzero()[:, 0])
        for k, pattern in enumerate(patterns)
    ]


def evenly_ordered(order: Tensor, was_set: Tensor) -> Tensor:  # (k,), (rows, n) bool -> (k,)
    """Rows in the given order, but so that the first ones hold every experiment equally often.

    Example:
        >>> was_set = torch.tensor([[0], [0], [0], [0], [1], [1]]).bool()
        >>> evenly_ordered(torch.tensor([3, 2, 1, 0, 5, 4]), was_set).tolist()
        [3, 5, 2, 4, 1, 0]
    """
    experiment = was_set[order].unique(dim=0, return_inverse=True)[1]
    by_experiment = experiment.argsort(stable=True)
    counts = experiment.bincount()
    first = (counts.cumsum(0) - counts)[experiment[by_experiment]]
    times = torch.empty_like(order)
    times[by_experiment] = torch.arange(len(order)) - first
    return order[times.argsort(stable=True)]


def drawn_rows(x: Tensor, was_set: Tensor, most: int) -> Tensor:  # (rows, n) twice -> (k,)
    """Rows drawn at random, the same ones each time, equally many of every experiment.

    No column that varies becomes constant.
    """
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    order = evenly_ordered(order, was_set) if bool(was_set.any()) else order
    return varied_rows(x, order[:most])


def spaced(x: Tensor, most: float) -> Tensor:  # (rows, n) -> (at most ``most``, n)
    """Rows spread evenly over all; no column that varies becomes constant.

    Example:
        >>> spaced(torch.arange(7)[:, None], 3)[:, 0].tolist()
        [0, 3, 6]
    """
    return x if len(x) <= most else x[spaced_rows(x, most).to(x.device)]


def spaced_rows(x: Tensor, most: float) -> Tensor:  # (rows, n) -> (at most ``most``,)
    """The numbers of these rows."""
    if len(x) <= most:
        return torch.arange(len(x))
    rows = torch.linspace(0, len(x) - 1, int(most), dtype=torch.float64).round().long()
    return varied_rows(x, rows)


def varied_rows(x: Tensor, rows: Tensor) -> Tensor:  # (N, n), (k,) -> (k,)
    """The given rows, the last exchanged for others where a column would be constant.

    Example:
        >>> x = torch.tensor([[1, 0], [2, 0], [3, 0], [4, 1]])
        >>> varied_rows(x, torch.tensor([0, 1, 2])).tolist()
        [0, 1, 3]
    """
    rows = rows.clone()
    varies = (x != x[:1]).any(0)
    for k in range(1, len(rows)):  # what was exchanged stays, so that it ends
        chosen = x[rows.to(x.device)]
        flat = varies & (chosen == chosen[0]).all(0)
        if not flat.any():
            break
        column = int(flat.nonzero()[0])
        rows[-k] = int((x[:, column] != chosen[0, column]).nonzero()[0])
    return rows
