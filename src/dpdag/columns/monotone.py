"""Monotone transformations of columns that can be undone."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


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

    def log_slope(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """Logarithm of the derivative at ``x``."""
        slopes = (self.outputs.diff(dim=0) / self.inputs.diff(dim=0)).log()
        return torch.stack(
            [s[_segment(x[:, k], self.inputs[:, k])] for k, s in enumerate(slopes.T)], dim=-1
        )


def _segment(x: Tensor, knots: Tensor) -> Tensor:  # (m,), (k,) -> (m,)
    return torch.searchsorted(knots.contiguous(), x.contiguous()).clamp(1, len(knots) - 1) - 1


def _interpolate(x: Tensor, inputs: Tensor, outputs: Tensor) -> Tensor:  # (m, n) -> (m, n)
    columns = []
    for value, a, b in zip(x.double().T, inputs.T.contiguous(), outputs.T.contiguous()):
        k = _segment(value, a)
        slope = (b[k + 1] - b[k]) / (a[k + 1] - a[k])
        columns.append(b[k] + slope * (value - a[k]))
    return torch.stack(columns, dim=-1) if columns else x.double()
