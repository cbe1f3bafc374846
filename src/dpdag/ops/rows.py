"""Rows of a table."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["spaced"]


def spaced(x: Tensor, most: float) -> Tensor:  # (rows, n) -> (at most ``most``, n)
    """Rows evenly spread over all.

    Example:
        >>> spaced(torch.arange(7)[:, None], 3)[:, 0].tolist()
        [0, 3, 6]
    """
    if len(x) <= most:
        return x
    return x[torch.linspace(0, len(x) - 1, int(most), dtype=torch.float64).round().long()]
