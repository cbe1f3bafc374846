"""Discrete values sorted into few cells, and what is left to say of them within their cells."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

_ORDERED = 10  # cells of ordered values at most
_POOLED = 8  # cells of categories at most


class Cells(NamedTuple):
    r"""A column as cells, a partition of its values.

    .. math:: \log p(y) = \log p(c) + \sum_c \log p(y_c \mid c)

    The second term is the same whatever the causes are.

    Attributes:
        code: (N,) the cell of every row, from 0; all of them occur.
        number: How many cells there are.
        log_within: Log probability of the values given their cells.
    """

    code: Tensor
    number: int
    log_within: float


def ordered_cells(values: Tensor, *, bounded: bool) -> Cells:  # (N,)
    """Values on their own up to ten, else neighbours together, about a tenth of the rows in each.

    Within a cell values are even, or all their probabilities equally likely; beyond the last cell
    of counts they fall off geometrically, at any rate.

    Arguments:
        values: Whole numbers.
        bounded: Whether there are no other values than those seen.

    Example:
        >>> ordered_cells(torch.tensor([0, 1, 1, 0, 2]), bounded=True)
        Cells(code=tensor([0, 1, 1, 0, 2]), number=3, log_within=...)
        >>> ordered_cells(torch.arange(100), bounded=False).number
        10
    """
    seen, which, times = values.unique(return_inverse=True, return_counts=True)
    tenth = (times.cumsum(0) - times) * _ORDERED // len(values)
    if len(seen) <= _ORDERED:
        tenth = torch.arange(len(seen))
    first = torch.cat([torch.ones(1, dtype=torch.bool), tenth.diff() > 0])
    cell = first.cumsum(0) - 1  # of every value seen
    starts, count = seen[first], int(first.sum())
    size = torch.bincount(cell)  # possible values by cell
    if not bounded:
        size[:-1] = starts.diff().long()
    total = 0.0
    for k in range(count - (not bounded)):
        total += _even_or_free(times[cell == k], int(size[k]))
    if not bounded:
        last = which[cell[which] == count - 1]
        excess = float((seen[last] - starts[-1]).sum())
        total += _log_beta(len(last) + 1.0, excess + 1.0)
    return Cells(cell[which], count, total)


def pooled_cells(values: Tensor) -> Cells:  # (N,)
    """Frequent categories on their own, the others together.

    Example:
        >>> pooled_cells(torch.tensor([0, 1, 1, 0, 2])).number
        3
        >>> pooled_cells(torch.arange(20).repeat(3)).number
        8
    """
    _, which, times = values.unique(return_inverse=True, return_counts=True)
    if len(times) <= _POOLED:
        return Cells(which, len(times), 0.0)
    rank = times.argsort(descending=True, stable=True).argsort()
    cell = rank.clamp(max=_POOLED - 1)
    rare = times[cell == _POOLED - 1]
    return Cells(cell[which], _POOLED, _even_or_free(rare, len(rare)))


def _even_or_free(times: Tensor, size: int) -> float:  # (values seen,)
    """Log probability of a sequence of values, even or of any probabilities, each by half."""
    rows = int(times.sum())
    free = (
        float(torch.lgamma(times.double() + 1).sum()) + math.lgamma(size) - math.lgamma(rows + size)
    )
    even = -rows * math.log(size)
    return max(free, even) + math.log1p(math.exp(-abs(free - even))) - math.log(2)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
