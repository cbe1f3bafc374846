"""Monotone transformations of columns that can be undone."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_WORK = 4_000_000  # values inverted of a column, where that many rows and draws differ
_LEAST = 100  # draws


@dataclass(frozen=True)
class MonotoneColumns:
    r"""A monotone function per column, linear between knots and beyond them.

    Arguments:
        inputs: (k, n) knots, increasing along each column.
        outputs: (k, n) their images, increasing.

    Example:
        >>> x = torch.linspace(0.1, 5, 50).double()[:, None]
        >>> curve = MonotoneColumns.through(x, x.log())
        >>> bool((curve.inverse(curve(x)) - x).abs().max() < 1e-9)
        True
    """

    inputs: Tensor
    outputs: Tensor

    @classmethod
    def through(cls, x: Tensor, z: Tensor, *, knots: int = 200) -> MonotoneColumns:
        """Knots at quantiles of the columns of ``x`` (rows, n) and of their images ``z``."""
        levels = torch.linspace(0, 1, min(knots, len(x)), dtype=torch.float64)
        inputs, outputs = (t.double().quantile(levels, dim=0) for t in (x, z))
        # Ties would make a step without inverse: a tiny slope keeps both directions defined.
        slope = torch.arange(len(levels), dtype=torch.float64)[:, None] * 1e-9
        return cls(inputs + slope, outputs + slope)

    def __call__(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        return _interpolate(x, self.inputs, self.outputs)

    def inverse(self, z: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """Back to the original columns."""
        return _interpolate(z, self.outputs, self.inputs)

    def deviation(
        self,
        mean: Tensor,  # (m, n)
        size: Tensor,  # (m, n)
        noise: Tensor,  # (N, n)
    ) -> Tensor:  # (m, n)
        r"""Standard deviations of columns whose images have noise of any shape.

        .. math:: \operatorname{sd}_r\, g^{-1}(\mu + \sigma \epsilon_r)

        Arguments:
            mean: μ of each image, and ``size``: σ of its noise.
            noise: ε, draws of deviation one.
        """
        found = size.clone()
        for k in (self.inputs != self.outputs).any(0).nonzero()[:, 0].tolist():
            own = MonotoneColumns(self.inputs[:, [k]], self.outputs[:, [k]])
            found[:, k] = _deviation(own, mean[:, k], size[:, k], noise[:, k])
        return found

    def log_slope(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """Logarithm of the derivative at ``x``."""
        slopes = (self.outputs.diff(dim=0) / self.inputs.diff(dim=0)).log()
        return slopes.gather(0, _segment(x, self.inputs))


def _deviation(
    curve: MonotoneColumns, mean: Tensor, size: Tensor, noise: Tensor
) -> Tensor:  # (m,), (m,), (N,) -> (m,)
    """Of one column; by fewer draws, evenly spaced in rank, where many rows differ."""
    given, row = torch.stack([mean, size], -1).unique(dim=0, return_inverse=True)
    count = min(len(noise), max(_LEAST, _WORK // len(given)))
    places = (torch.arange(count) + 0.5) * (len(noise) / count)
    draws = noise.sort().values[places.long()]
    found = []
    for some in given.split(max(1, _WORK // count)):
        images = some[:, :1] + some[:, 1:] * draws  # (p, count)
        values = curve.inverse(images.reshape(-1, 1)).reshape(images.shape)
        found.append(values.std(-1, correction=0))
    return torch.cat(found)[row]


def _segment(x: Tensor, knots: Tensor) -> Tensor:  # (m, n), (k, n) -> (m, n)
    place = torch.searchsorted(knots.T.contiguous(), x.T.contiguous()).T
    return place.clamp(1, len(knots) - 1) - 1


def _interpolate(x: Tensor, inputs: Tensor, outputs: Tensor) -> Tensor:  # (m, n) -> (m, n)
    x = x.double()
    left = _segment(x, inputs)
    slope = (outputs.diff(dim=0) / inputs.diff(dim=0)).gather(0, left)
    return outputs.gather(0, left) + slope * (x - inputs.gather(0, left))
