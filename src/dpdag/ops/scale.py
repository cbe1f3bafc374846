"""Columns in standard units."""

from __future__ import annotations

import torch
from torch import Tensor

_ROUNDING = 1000.0  # times the precision of numbers, below which a spread is none


def standard_units(x: Tensor, *, size: float | None = None) -> Tensor:  # (N, *) -> (N, *)
    """Columns of mean zero and variance one; those that are constant up to rounding are zero.

    Arguments:
        size: Of the numbers that a column was computed from and whose rounding it may be; its
            largest value by default.

    Example:
        >>> x = torch.tensor([[0.1, 1.0], [0.1, 3.0], [0.1, 2.0]], dtype=torch.float64)
        >>> x[0, 0] += 1e-16
        >>> standard_units(x).T.round(decimals=3).tolist()
        [[0.0, 0.0, 0.0], [-1.225, 1.225, 0.0]]
    """
    largest = x.abs().amax(0) if size is None else size
    centred = x - x.mean(0)
    deviation = centred.square().mean(0).sqrt()
    varies = deviation > _ROUNDING * torch.finfo(x.dtype).eps * largest
    return torch.where(varies, centred / torch.where(varies, deviation, 1.0), 0.0)
