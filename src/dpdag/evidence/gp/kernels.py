"""Covariance functions of Gaussian processes: smooth curves, and infinitely wide networks."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from ...registry import Registry

_MOST = 1 - 1e-6  # of a sine; float32 tells it from one
_NOISE = (0.01, 0.25, 64.0)  # noise variance over amplitude; float32 is safe from 0.01


class Covariance(NamedTuple):
    """A kernel evaluated at all pairs of rows."""

    matrix: Tensor  # (*, N, N)
    core: Tensor  # (*, N, N) what its derivatives are made of
    inputs: Tensor  # (*, N, d') the rows as the kernel sees them


class Kernel(ABC):
    """A covariance function with a length scale per column and one parameter more.

    Columns that are zero change nothing, so tables of different widths share a batch by padding.

    Attributes:
        name: In ``KERNELS``.
        length_scale: Least, first and largest value, in standard deviations of a column.
        extra: The same of the other parameter.
        curvature: Typical inverse curvature per row of the logarithms of length scale, noise ratio
            and other parameter, where optimisation begins.
        spread: Of their prior.
        typical: Length scales, with the other parameter, to average over where none is optimised.
    """

    name: ClassVar[str]
    length_scale: ClassVar[tuple[float, float, float]]
    extra: ClassVar[tuple[float, float, float]]
    curvature: ClassVar[tuple[float, float, float]]
    spread: ClassVar[tuple[float, float, float]]
    typical: ClassVar[tuple[tuple[float, float], ...]]

    @abstractmethod
    def covariance(self, x: Tensor, scale: Tensor, extra: Tensor) -> Covariance:
        """Of all pairs of rows of ``x`` (*, N, d), given ``scale`` (*, d) and ``extra`` (*, 1)."""

    @abstractmethod
    def slopes(self, pull: Tensor, at: Covariance, x: Tensor, extra: Tensor) -> Tensor:
        """``(pull * derivative).sum() / 2`` for the logarithm of every parameter.

        Arguments:
            pull: (*, N, N) symmetric; overwritten.

        Returns:
            (*, d + 1), the other parameter last.
        """

    @abstractmethod
    def modulated(self, at: Covariance) -> Tensor:  # -> (*, N, N)
        """The part that other columns may multiply."""

    @abstractmethod
    def between(self, x: Tensor, other: Tensor, scale: Tensor, extra: Tensor) -> Tensor:
        """Of the rows of ``x`` (*, N, d) with those of ``other`` (*, M, d)."""

    @abstractmethod
    def own(self, x: Tensor, scale: Tensor, extra: Tensor) -> Tensor:  # (*, N, d) -> (*, N)
        """Of every row with itself."""

    def start(self, width: int) -> Tensor:  # (w + 2,)
        """Logarithms of the length scales, of the noise ratio and of the other one to start from.

        Example:
            >>> SmoothKernel().start(1).exp()
            tensor([1.4000, 0.2500, 0.0100], dtype=torch.float64)
        """
        return self._level(1, width).clone()

    def bounds(self, width: int) -> tuple[Tensor, Tensor]:  # (w + 2,), (w + 2,)
        """The range of these logarithms."""
        return self._level(0, width), self._level(2, width)

    def log_prior(self, parameters: Tensor, rows: int) -> Tensor:  # (*, w + 2) -> (*, w + 2)
        r"""Log prior of every parameter at its best value, with the volume that data leave it.

        .. math:: -\tfrac12 \Bigl(\frac{\theta - m}{s}\Bigr)^2 + \tfrac12 \log \frac{c}{N s^2}

        by Laplace's method: normal priors of the logarithms around where optimisation starts, and
        typical curvatures N / c.
        """
        width = parameters.shape[-1] - 2
        spread, typical = one_each(self.spread, width), one_each(self.curvature, width)
        volume = (typical / rows / spread.square()).clamp(max=1.0).log() / 2
        return volume - ((parameters - self.start(width)) / spread).square() / 2

    def prior_pull(self, parameters: Tensor) -> Tensor:  # (*, w + 2) -> (*, w + 2)
        """What the prior takes off the slopes."""
        width = parameters.shape[-1] - 2
        return (parameters - self.start(width)) / one_each(self.spread, width).square()

    def _level(self, k: int, width: int) -> Tensor:
        values = self.length_scale[k], _NOISE[k], self.extra[k]
        return one_each(tuple(map(math.log, values)), width)


KERNELS: Registry[Kernel] = Registry("kernel")


class SmoothKernel(Kernel):
    r"""Smooth functions of all parents jointly, with a straight part of their own.

    .. math:: K_{ab} = \exp\bigl(-\tfrac12 \textstyle\sum_i (x_{ai} - x_{bi})^2 / \ell_i^2\bigr)
              + \tau\, x_a^\top x_b
    """

    name = "rbf"
    length_scale = (0.3, 1.4, 20.0)
    extra = (1e-3, 0.01, 64.0)
    curvature = (6.0, 40.0, 500.0)
    spread = (1.0, 1.5, 3.0)
    typical = ((1.0, 1e-3), (1.8, 1e-3), (3.2, 1e-3))

    def covariance(self, x: Tensor, scale: Tensor, extra: Tensor) -> Covariance:
        z = x / scale.unsqueeze(-2)
        smooth = rbf(z)
        matrix = torch.baddbmm(
            smooth.reshape(-1, *smooth.shape[-2:]),
            (x * extra.unsqueeze(-2)).reshape(-1, *x.shape[-2:]),
            x.mT.reshape(-1, x.shape[-1], x.shape[-2]),
        ).reshape(smooth.shape)
        return Covariance(matrix, smooth, z)

    def slopes(self, pull: Tensor, at: Covariance, x: Tensor, extra: Tensor) -> Tensor:
        z = at.inputs
        straight = extra / 2 * (x * (pull @ x)).sum((-2, -1)).unsqueeze(-1)
        weighted = pull.mul_(at.core)
        scale = (weighted.sum(-1).unsqueeze(-1) * z * z).sum(-2) - (z * (weighted @ z)).sum(-2)
        return torch.cat([scale, straight], -1)

    def modulated(self, at: Covariance) -> Tensor:
        return at.core

    def between(self, x: Tensor, other: Tensor, scale: Tensor, extra: Tensor) -> Tensor:
        smooth = rbf(x / scale.unsqueeze(-2), other / scale.unsqueeze(-2))
        return smooth + (x * extra.unsqueeze(-2)) @ other.mT

    def own(self, x: Tensor, scale: Tensor, extra: Tensor) -> Tensor:
        return 1 + extra * x.square().sum(-1)


class NetworkKernel(Kernel):
    r"""Infinitely wide networks of one hidden layer, their weights integrated out.

    .. math:: K_{ab} = \tfrac2\pi \arcsin \frac{2 s_{ab}}{\sqrt{(1 + 2 s_{aa})(1 + 2 s_{bb})}},
              \qquad s_{ab} = \beta + \textstyle\sum_i x_{ai} x_{bi} / \ell_i^2

    Hidden units are sigmoids with Gaussian weights of variance :math:`1 / \ell_i^2` and biases of
    variance β. Short length scales make steps, which smooth kernels cannot follow; long ones
    make straight lines.

    Reference:
        Williams, *Computation with Infinite Neural Networks* (1998).
    """

    name = "network"
    length_scale = (0.03, 0.3, 20.0)
    extra = (1e-2, 10.0, 1e3)
    curvature = (30.0, 40.0, 100.0)
    spread = (1.5, 1.5, 2.0)
    typical = ((0.1, 100.0), (0.35, 10.0), (1.5, 1.0))

    def covariance(self, x: Tensor, scale: Tensor, extra: Tensor) -> Covariance:
        q = _directions(x, scale, extra)
        sine = _sine(q, q)
        return Covariance(sine.asin().mul_(2 / math.pi), sine, q)

    def slopes(self, pull: Tensor, at: Covariance, x: Tensor, extra: Tensor) -> Tensor:
        q = at.inputs
        bend = at.core.square().neg_().add_(1).rsqrt_()
        weighted = pull.mul_(bend).mul_(2 / math.pi)
        variance = (q * (weighted @ q)).sum(-2)
        around = weighted.mul_(at.core).sum(-1).unsqueeze(-1)
        variance -= (around * q * q).sum(-2)
        return torch.cat([-2 * variance[..., :-1], variance[..., -1:]], -1)

    def modulated(self, at: Covariance) -> Tensor:
        return at.core.asin().mul_(2 / math.pi)

    def between(self, x: Tensor, other: Tensor, scale: Tensor, extra: Tensor) -> Tensor:
        sine = _sine(_directions(x, scale, extra), _directions(other, scale, extra))
        return sine.asin().mul_(2 / math.pi)

    def own(self, x: Tensor, scale: Tensor, extra: Tensor) -> Tensor:
        sine = 2 * _directions(x, scale, extra).square().sum(-1)
        return sine.clamp_(max=_MOST).asin().mul_(2 / math.pi)


for _kernel in (SmoothKernel(), NetworkKernel()):
    KERNELS.register(_kernel.name)(_kernel)


def rbf(z: Tensor, other: Tensor | None = None) -> Tensor:  # (*, N, d), (*, M, d) -> (*, N, M)
    r"""The Gaussian kernel of rows already divided by their length scales, with ``z`` or others.

    .. math:: K_{ab} = \exp(-\tfrac12 \lVert z_a - z_b \rVert^2)

    One matrix product gives all exponents, because :math:`-\tfrac12 \lVert z_a - z_b \rVert^2
    = z_a^\top z_b - \tfrac12 \lVert z_a \rVert^2 - \tfrac12 \lVert z_b \rVert^2`.

    Example:
        >>> rbf(torch.tensor([[0.0], [2.0]])).round(decimals=3)
        tensor([[1.0000, 0.1350],
                [0.1350, 1.0000]])
    """
    half = _half_square(z)
    others, theirs = (z, half) if other is None else (other, _half_square(other))
    left = torch.cat([z, half, torch.ones_like(half)], -1)
    right = torch.cat([others, torch.ones_like(theirs), theirs], -1)
    return (left @ right.mT).exp_()


@lru_cache(maxsize=256)
def one_each(values: tuple[float, ...], width: int) -> Tensor:  # -> (w + 2,), not to be written to
    """The first value for each of several length scales, and the others."""
    each, *others = values
    return torch.tensor([each] * width + others, dtype=torch.float64)


def _half_square(z: Tensor) -> Tensor:  # (*, N, d) -> (*, N, 1)
    return (z * z).sum(-1, keepdim=True) / -2


def _sine(q: Tensor, other: Tensor) -> Tensor:  # (*, N, d), (*, M, d) -> (*, N, M)
    """Below one also where rounding says otherwise: slopes are infinite there."""
    return (2 * q @ other.mT).clamp_(-_MOST, _MOST)


def _directions(x: Tensor, scale: Tensor, extra: Tensor) -> Tensor:  # (*, N, d) -> (*, N, d + 1)
    r"""Rows with their bias, shortened so that twice their products are sines."""
    bias = extra.sqrt().unsqueeze(-2).expand(*x.shape[:-1], 1)
    u = torch.cat([x / scale.unsqueeze(-2), bias], -1)
    return u * (1 + 2 * u.square().sum(-1, keepdim=True)).rsqrt()
