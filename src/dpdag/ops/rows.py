"""Rows of a table."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["spaced", "spaced_rows"]


def spaced_rows(count: int, most: float) -> Tensor:  # -> (at most ``most``,)
    """Indices spread evenly over 0 … count − 1.

    Example:
        >>> spaced_rows(7, 3).tolist()
        [0, 3, 6]
    """
    if count <= most:
        return torch.arange(count)
    return torch.linspace(0, count - 1, int(most), dtype=torch.float64).round().long()


def spaced(x: Tensor, most: float) -> Tensor:  # (rows, n) -> (at most ``most``, n)
    """Rows spread evenly over all."""
    return x if len(x) <= most else x[spaced_rows(len(x), most).to(x.device)]
