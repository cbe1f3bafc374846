"""Columns of two modes: a density with a valley in it."""

from __future__ import annotations

import torch
from torch import Tensor

_GRID = 256  # places at which densities are looked at
_WIDTH = 0.9  # of the kernel, over the fifth root of the rows (Silverman)
_DEEP = 0.5  # height of a valley, over that of the lower of its two peaks
_SHARE = 0.05  # of the rows, in the smaller mode at least


def upper_mode(x: Tensor) -> Tensor | None:  # (N,) -> (N,) bool
    """Which values lie in the upper one of two modes; None where there are not two.

    The modes are parted where the density, smoothed, is lowest beside its peaks on either side.

    Example:
        >>> noise = torch.randn(400, generator=torch.Generator().manual_seed(0)).double()
        >>> on = torch.arange(400) % 2 == 0
        >>> bool((upper_mode(noise + 5 * on) == on).double().mean() > 0.98)
        True
        >>> upper_mode(noise) is None
        True
    """
    low, high = x.quantile(torch.tensor([0.25, 0.75], dtype=x.dtype))
    size = min(float(x.std()), float(high - low) / 1.349)
    if not size:
        return None
    width = _WIDTH * size * len(x) ** -0.2
    place = torch.linspace(float(x.min()), float(x.max()), _GRID, dtype=x.dtype)
    density = (-0.5 * ((place[:, None] - x) / width).square()).exp().sum(-1)
    below, above = density.cummax(0).values, density.flip(0).cummax(0).values.flip(0)
    depth = density / torch.minimum(below, above)
    # Valleys among strays part few values from the rest.
    share = (x[:, None] > place).double().mean(0)
    depth = depth.where(torch.minimum(share, 1 - share) >= _SHARE, 1.0)
    deepest = int(depth.argmin())
    return x > place[deepest] if float(depth[deepest]) < _DEEP else None
