"""A table as evidences read it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from .transforms import standardise

_FIRST = 100  # rows by which columns are told apart
_OFTEN, _SHARE = 5, 0.02  # rows, and share of them, that make a value frequent
_SPIKE = 3.0  # times the density around it, that make it a spike
_WIDTH, _GRID = 1.0, 1000  # of smoothed densities, over the fifth root of the rows


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
    of 0 and 1 or of rounded amounts compares with any other. Where some values return much more
    often than those around them (amounts that are mostly zero, numbers rounded now and then), the
    whole column is given the quantiles of its smoothed density. Otherwise columns without causes,
    whose densities may have any shape, would be paid for spikes that no function of causes has,
    and such columns would be causes in every graph. Values that were set from outside have no
    density and stay as they are, however often they return.

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


def effective_values(
    x: Tensor,  # (N, n)
    was_set: Tensor,  # (N, n) bool
) -> Tensor:  # -> (n,)
    r"""How many equally frequent values would return as often as those of each column.

    .. math:: K = \Bigl(\sum_v \frac{N_v (N_v - 1)}{N (N - 1)}\Bigr)^{-1}

    with the number of rows of every value that was not set, whatever the number of rows; infinite
    where none returns.

    Example:
        >>> x = torch.arange(1000.0)
        >>> x = torch.stack([x, x % 50, x % 2], -1)
        >>> effective_values(x, torch.zeros_like(x).bool()).round()
        tensor([inf, 53., 2.], dtype=torch.float64)
    """
    found = []
    for column, known in zip(x.T, was_set.T):
        _, times = column[~known].unique(return_counts=True)
        rows, times = times.sum().double(), times.double()
        found.append(rows * (rows - 1) / (times * (times - 1)).sum())
    return torch.stack(found)


def _spread_seen(column: Tensor, was_set: Tensor) -> Tensor:  # (N,), (N,) bool -> (N,)
    """Spread what was not set, in units in which it has variance one."""
    spread, own = column.clone(), column[~was_set]
    plain, width = standardise(own[:, None])
    spread[~was_set] = own + width * (_spread(plain[:, 0]) - plain[:, 0])
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
    spread = torch.where(counts[which] > 1, spread, column)
    often = counts >= max(_OFTEN, len(column) * _SHARE)
    smooth = _density(values[often], spread)
    if not bool((counts / (high - low) / len(column))[often].gt(_SPIKE * smooth).any()):
        return spread
    rank = torch.empty_like(which).scatter_(0, order, torch.arange(len(column)))
    return _quantiles(column, (rank + 0.5) / len(column))


def _density(at: Tensor, column: Tensor) -> Tensor:  # (k,), (N,) -> (k,)
    """Of a column of variance one, smoothed."""
    width = _WIDTH * len(column) ** -0.2
    z = (at[:, None] - column) / width
    return (-0.5 * z.square()).exp().mean(-1) / (width * math.sqrt(2 * math.pi))


def _quantiles(column: Tensor, level: Tensor) -> Tensor:  # (N,), (N,) -> (N,)
    """Of the smoothed density of a column."""
    width = _WIDTH * len(column) ** -0.2
    low, high = float(column.min()) - 4 * width, float(column.max()) + 4 * width
    grid = torch.linspace(low, high, _GRID, dtype=torch.float64)
    below = torch.special.ndtr((grid[:, None] - column) / width).mean(-1)
    right = torch.searchsorted(below, level).clamp(1, _GRID - 1)
    share = (level - below[right - 1]) / (below[right] - below[right - 1]).clamp_min(1e-12)
    return grid[right - 1] + share * (grid[1] - grid[0])


def order_by_values(x: Tensor) -> Tensor:  # (N, n) -> (n,)
    """Columns by their values in the first rows: the same order however a table lists them.

    Example:
        >>> order_by_values(torch.tensor([[2.0, 1.0, 1.0], [0.0, 5.0, 3.0]]))
        tensor([2, 1, 0])
    """
    first = x[:_FIRST].cpu().numpy()
    return torch.from_numpy(np.lexsort(first[::-1]).copy())
