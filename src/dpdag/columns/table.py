"""A table as evidences read it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from .transforms import standardise

__all__ = ["Table", "order_by_values", "table_of", "tied"]

_FIRST = 100  # rows by which columns are told apart


class Table(NamedTuple):
    """Standardised columns as causes and as effects: these are spread out where values are tied."""

    x: Tensor  # (N, n)
    y: Tensor  # (N, n)

    def first(self, rows: int) -> Table:
        """Its first rows."""
        return Table(self.x[:rows], self.y[:rows])


def table_of(x: Tensor, was_set: Tensor | None = None) -> Table:  # (N, n), (N, n) bool
    r"""Standardise, and spread tied values evenly over the cell that rounding may have taken.

    A density has nothing to say of a value that returns: it would be infinite there. Spread over
    its cell of width w, the density is the probability of the cell over w, and a column of counts,
    of 0 and 1 or of rounded amounts compares with any other. Values that were set from outside have
    no density and stay as they are, however often they return.

    Example:
        >>> table = table_of(torch.tensor([[0.0], [1.0], [0.0], [1.0]]).double())
        >>> table.x[:, 0].tolist()
        [-1.0, 1.0, -1.0, 1.0]
        >>> len(table.y.unique())
        4
    """
    plain, _ = standardise(x.double().cpu())
    if was_set is None or not bool(was_set.any()):
        columns = [_spread(column) for column in plain.T]
    else:
        columns = [_spread_seen(*both) for both in zip(plain.T, was_set.T)]
    return Table(plain, standardise(torch.stack(columns, -1))[0])


def tied(x: Tensor, share: float) -> Tensor:  # (N, n) -> (n,) bool
    """Whether one value has more than a share of the rows of a column."""
    values = x.sort(0).values
    step = max(1, round(share * len(x)))
    return (values[step:] == values[:-step]).any(0)


def _spread_seen(column: Tensor, was_set: Tensor) -> Tensor:  # (N,), (N,) bool -> (N,)
    spread = column.clone()
    spread[~was_set] = _spread(column[~was_set])
    return spread


def _spread(column: Tensor) -> Tensor:  # (N,) -> (N,)
    values, which, counts = column.unique(return_inverse=True, return_counts=True)
    if len(values) <= 1 or len(values) == len(column):
        return column
    middle = (values[1:] + values[:-1]) / 2
    low = torch.cat([2 * values[:1] - middle[:1], middle])
    high = torch.cat([middle, 2 * values[-1:] - middle[-1:]])
    # Within a cell evenly, in an order that has nothing to do with that of the rows.
    generator = torch.Generator().manual_seed(0)
    chance = torch.rand(len(column), generator=generator, dtype=torch.float64)
    order = torch.argsort(which + chance)
    first = counts.cumsum(0) - counts
    place = torch.empty_like(column)
    within = torch.arange(len(column)) - first[which[order]]
    place[order] = (within.double() + 0.5) / counts[which[order]]
    spread = low[which] + (high - low)[which] * place
    return torch.where(counts[which] > 1, spread, column)


def order_by_values(x: Tensor) -> Tensor:  # (N, n) -> (n,)
    """Columns by their values in the first rows: the same order however a table lists them.

    Example:
        >>> order_by_values(torch.tensor([[2.0, 1.0, 1.0], [0.0, 5.0, 3.0]]))
        tensor([2, 1, 0])
    """
    first = x[:_FIRST].cpu().numpy()
    return torch.from_numpy(np.lexsort(first[::-1]).copy())
