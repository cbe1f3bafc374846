"""Columns of two modes: a density with a valley in it."""

from __future__ import annotations

import torch
from torch import Tensor

_GRID = 256  # places at which densities are looked at
_WIDTH = 0.9  # of the kernel, over the fifth root of the rows (Silverman)
_DEEP = 0.5  # height of a valley, over that of the lower of its two peaks
_SHARE = 0.05  # of the rows, in the smaller mode at least


def upper_modes(x: Tensor) -> tuple[Tensor, Tensor]:  # (N, n) -> (n,) bool, (N, n) bool
    r"""Which columns have two modes, and which of their values lie in the upper one.

    The modes are parted where the density, smoothed, is lowest beside its peaks on either side:

    .. math:: \min_t \frac{\hat p(t)}{\min(\max_{s < t} \hat p(s), \max_{s > t} \hat p(s))}

    Example:
        >>> noise = torch.randn(400, generator=torch.Generator().manual_seed(0)).double()
        >>> on = torch.arange(400) % 2 == 0
        >>> two, above = upper_modes(torch.stack([noise, noise + 5 * on], -1))
        >>> two.tolist(), bool((above[:, 1] == on).double().mean() > 0.98)
        ([False, True], True)
    """
    low, high = x.quantile(torch.tensor([0.25, 0.75], dtype=x.dtype), dim=0)
    size = torch.minimum(x.std(0), (high - low) / 1.349)
    width = _WIDTH * size * len(x) ** -0.2
    values = x.T.contiguous().sort(-1).values
    first, step = values[:, :1], (values[:, -1:] - values[:, :1]) / (_GRID - 1)
    step = step.where(step > 0, 1.0)
    place = first + step * torch.arange(_GRID, dtype=x.dtype)
    density = _smoothed((values - first) / step, width / step[:, 0])
    below, above = density.cummax(-1).values, density.flip(-1).cummax(-1).values.flip(-1)
    depth = density / torch.minimum(below, above)
    # Valleys among strays part few values from the rest.
    share = torch.searchsorted(values, place, right=True) / len(x)
    depth = depth.where(torch.minimum(share, 1 - share) >= _SHARE, 1.0)
    deepest = depth.argmin(-1, keepdim=True)
    two = (depth.gather(-1, deepest)[:, 0] < _DEEP) & (size > 0)
    return two, x > place.gather(-1, deepest)[:, 0]


def _smoothed(at: Tensor, width: Tensor) -> Tensor:  # (n, N), (n,) -> (n, grid)
    """Sums of Gaussian kernels around values, at the places of a grid whose steps are the unit."""
    left = at.long().clamp(0, _GRID - 2)
    bins = at.new_zeros(len(at), _GRID).scatter_add_(-1, left, 1 + left - at)
    bins.scatter_add_(-1, left + 1, at - left)
    lag = torch.arange(2 * _GRID, dtype=at.dtype)
    lag = torch.minimum(lag, 2 * _GRID - lag)  # circular, as the products are
    kernel = torch.exp(-0.5 * (lag / width[:, None].clamp_min(1e-3)).square())
    product = torch.fft.rfft(bins, 2 * _GRID) * torch.fft.rfft(kernel)
    return torch.fft.irfft(product, 2 * _GRID)[:, :_GRID].clamp_min(1e-12)
