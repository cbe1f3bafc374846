"""Which pairs of columns explain only together what is left of another."""

from __future__ import annotations

import torch
from torch import Tensor

from ...ops.scale import standard_units

__all__ = ["interaction_scores", "simple_shapes"]

_FAR = 3.0  # standard deviations beyond which values count as that far


def simple_shapes(x: Tensor) -> Tensor:  # (N, n) -> (3, N, n)
    """A line, a bow and a step of every column, of mean zero and variance one, or zero."""
    line = standard_units(x).clamp(-_FAR, _FAR)
    step = (x > x.median(0).values).to(x)
    return torch.stack([standard_units(shape) for shape in (line, line.square(), step)])


def interaction_scores(residual: Tensor, shapes: Tensor) -> Tensor:  # (N,), (k, N, n) -> (n, n)
    r"""Squared correlations of residuals with products of the shapes of two columns, summed.

    .. math:: s_{ab} = \frac1N \sum_{p, q} \Bigl( \sum_r \phi_p(x_{ra})\, \phi_q(x_{rb})\, u_r
              \Bigr)^2

    Each term is about one where the residuals have nothing to do with the columns.

    Example:
        >>> x = torch.randn(500, 4, generator=torch.Generator().manual_seed(0))
        >>> scores = interaction_scores(x[:, 0] * x[:, 2] + x[:, 3], simple_shapes(x[:, :3]))
        >>> bool(scores[0, 2] > 200) and bool(scores[0, 1] < 40)
        True
    """
    u = standard_units(residual, size=1.0).clamp(-_FAR, _FAR)  # of a column in such units
    moved = shapes * u.unsqueeze(-1)
    products = moved.mT.unsqueeze(1) @ shapes.unsqueeze(0)  # (k, k, n, n)
    return products.double().square().sum((0, 1)).cpu() / len(u)
