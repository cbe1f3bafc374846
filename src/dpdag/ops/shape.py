"""The shape of distributions, from samples."""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch import Tensor

from .constants import constants

__all__ = ["left_out_density", "negentropy", "shape_gain"]

_REACH = 8.0  # standard deviations that the kernel estimate covers
_BINS = 320
_BANDWIDTHS = (1.0, 0.6, 0.35, 0.2)  # times N^(-1/5), which is right for a Gaussian
_FAR, _FINE = 1000, 4  # bandwidths covered where those are small, grid points in each
_STRAY = 0.01  # share of the rows that may lie anywhere
_FREEDOM = 1.0, 4.0  # degrees of freedom of Student's distributions
_STEPS = 5  # in which their place and size are found


def negentropy(u: Tensor) -> Tensor:  # (*, N) of mean zero and variance one -> (*)
    r"""How far a distribution is from a Gaussian, roughly in nats, by two of its moments.

    .. math:: J(u) \approx 79.047\, (\mathrm{E} \log \cosh u - 0.37457)^2
              + 7.4129\, (\mathrm{E}\, u e^{-u^2 / 2})^2

    The first sees heavy or light tails, the second asymmetry. An index rather than an entropy:
    the Laplace distribution has 0.10 (and 0.07 nats in truth), the uniform one 0.06 (0.18).

    Reference:
        Hyvärinen, *New approximations of differential entropy* (1998).

    Example:
        >>> u = torch.rand(10_000, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        >>> bool(negentropy((u - 0.5) * 12**0.5) > 0.05)
        True
    """
    size = u.abs()
    log_cosh = (size + torch.log1p(torch.exp(-2 * size)) - math.log(2)).mean(-1)
    skew = (u * torch.exp(-u.square() / 2)).mean(-1)
    return 79.047 * (log_cosh - 0.37457).square() + 7.4129 * skew.square()


def shape_gain(u: Tensor) -> Tensor:  # (b, N) of mean zero and variance one -> (b)
    r"""Nats by which samples prefer a distribution of any shape to the Gaussian one.

    .. math:: \sum_r \log \bigl(0.99\, \hat p_{-r}(u_r) + 0.01\, c(u_r)\bigr)
              + \tfrac N2 \log 2 \pi e

    with :math:`\hat p_{-r}` a kernel density estimate from all rows but r on a fine grid and c the
    Cauchy density, for strays. Each value is predicted by the others, so the gain is negative where
    the distribution is Gaussian after all. Averaged over four bandwidths and two of Student's
    distributions: from few rows no kernel learns a heavy tail, and what a density lacks there,
    causes seem to bring by going along with single values far out.

    Example:
        >>> u = torch.rand(1, 1000, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        >>> bool(shape_gain((u - 0.5) * 12**0.5) > 100)
        True
    """
    count = u.shape[-1]
    bins, left, share = _binned(u, _REACH, _BINS)
    inside = u.abs() < _REACH
    strays = _STRAY / (math.pi * (1 + u.square()))
    kernel, spectrum = _kernels(count, u.device)  # (k, 2 bins), (k, bins + 1)
    wide = kernel.shape[-1]
    smooth = torch.fft.irfft(torch.fft.rfft(bins, wide) * spectrum[:, None], wide)[..., : _BINS + 1]
    every = left.expand(len(kernel), -1, -1)
    peak, beside = kernel[:, :1, None], kernel[:, 1:2, None]
    density = _without_own(smooth, every, share, peak, beside)  # (k, b, N)
    others = (density / (count - 1)).clamp_min_(0.0).mul_(inside)
    totals = others.mul_(1 - _STRAY).add_(strays).log_().sum(-1)
    totals = torch.cat([totals, _log_student(u)])
    average = totals.logsumexp(0) - math.log(len(totals))
    return average + 0.5 * count * (1 + math.log(2 * math.pi))


def _log_student(u: Tensor) -> Tensor:  # (b, N) -> (2, b)
    r"""Log densities of Student's distributions, their place and size as dear as a Gaussian's.

    .. math:: \max_{m, s} \sum_r \log t_\nu\Bigl(\frac{u_r - m}s\Bigr) - N \log s
              + \tfrac12 \log \frac{(\nu + 3)^2}{\nu (\nu + 1)}

    by expectation and maximisation. The last term is what rows tell less of both than they do of a
    Gaussian's.
    """
    powers = torch.stack([torch.ones_like(u), u, u.square()], 1).mT  # (b, N, 3)
    free, u = constants(_FREEDOM, u), u.unsqueeze(1)
    centre = u.new_zeros(len(u), len(free), 1)
    variance = torch.full_like(centre, 0.5)
    for _ in range(_STEPS):
        weight = (u - centre).square_().add_(free[:, None] * variance).reciprocal_()
        whole, first, second = (weight @ powers).split(1, -1)
        centre = first / whole
        variance = (second / whole - centre.square()).clamp_min_(1e-12)
    spread = (u - centre).square_().div_(free[:, None] * variance).log1p_().mean(-1)  # (b, 2)
    size = (free * math.pi * variance[..., 0]).log()
    constant = torch.lgamma((free + 1) / 2) - torch.lgamma(free / 2)
    each = constant - 0.5 * size - 0.5 * (free + 1) * spread
    less_told = 0.5 * torch.log((free + 3) ** 2 / (free * (free + 1)))
    return (u.shape[-1] * each + less_told).T


def left_out_density(u: Tensor) -> Tensor:  # (N, n) in units of the bandwidth -> (N, n)
    """A Gaussian kernel density estimate of every value from all others, on a fine grid.

    Zero for values beyond a thousand bandwidths.

    Example:
        >>> u = torch.linspace(-20, 20, 401, dtype=torch.float64)[:, None]
        >>> left_out_density(u)[200].round(decimals=4)
        tensor([0.0240], dtype=torch.float64)
    """
    values = u.T.contiguous()
    step = 1 / _FINE
    bins, left, share = _binned(values, _FAR, 2 * _FAR * _FINE)
    reach = torch.arange(-6 * _FINE, 6 * _FINE + 1, dtype=u.dtype, device=u.device) * step
    kernel = torch.exp(-0.5 * reach.square()) / math.sqrt(2 * math.pi)
    smooth = torch.nn.functional.conv1d(bins[:, None], kernel[None, None], padding="same")[:, 0]
    middle = len(reach) // 2
    density = _without_own(smooth, left, share, kernel[middle], kernel[middle + 1])
    return (density.clamp_min(0.0) * (values.abs() < _FAR) / (len(u) - 1)).T


def _binned(u: Tensor, reach: float, count: int) -> tuple[Tensor, Tensor, Tensor]:  # (b, N)
    """Values shared out between the two grid points next to them: (b, count + 1), left, share."""
    place = ((u + reach) * (count / (2 * reach))).clamp(0, count)
    left = place.long().clamp(max=count - 1)
    share = place - left
    bins = u.new_zeros(len(u), count + 1)
    return bins.scatter_add_(-1, left, 1 - share).scatter_add_(-1, left + 1, share), left, share


def _without_own(
    smooth: Tensor,  # (*, bins) sums of kernels at the grid points
    left: Tensor,  # (*, N)
    share: Tensor,  # (*, N)
    peak: Tensor,  # of the kernel
    beside: Tensor,  # one grid point further
) -> Tensor:  # (*, N)
    """Sums of kernels at every value, less its own."""
    total = torch.lerp(smooth.gather(-1, left), smooth.gather(-1, left + 1), share)
    return total - torch.lerp(peak, beside, 2 * share * (1 - share))


@lru_cache(maxsize=32)
def _kernels(count: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Gaussian kernels by the distance of bins, for samples of ``count``, and their spectra.

    The distances go around a circle twice as long as the grid, where its ends do not come nearer.
    """
    place = torch.arange(2 * _BINS, dtype=torch.float64, device=device)
    distance = torch.minimum(place, len(place) - place) * (2 * _REACH / _BINS)
    h = count**-0.2 * place.new_tensor(_BANDWIDTHS)[:, None]
    kernel = torch.exp(-0.5 * (distance / h).square()) / (h * math.sqrt(2 * math.pi))
    return kernel, torch.fft.rfft(kernel).real
