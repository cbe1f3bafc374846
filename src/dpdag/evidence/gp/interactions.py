"""Which pairs of columns explain only together what is left of another."""

from __future__ import annotations

import torch
from torch import Tensor

from ...ops.scale import standard_units

__all__ = ["clear_pairs", "interaction_scores", "simple_shapes"]

_FAR = 3.0  # standard deviations beyond which values count as that far


def simple_shapes(x: Tensor) -> Tensor:  # (N, n) -> (3, N, n)
    """A line of every column, what a bow adds to it, and what a step adds to both.

    Uncorrelated, of mean zero and variance one, or zero where there is no such shape.
    """
    line = standard_units(x).clamp(-_FAR, _FAR)
    shapes = [standard_units(line)]
    for further in (line.square(), (x > x.median(0).values).to(x)):
        new = standard_units(further)
        for old in shapes:
            new = new - (new * old).mean(0) * old
        shapes.append(standard_units(new, size=1.0))
    return torch.stack(shapes)


def interaction_scores(residual: Tensor, shapes: Tensor) -> Tensor:  # (N,), (k, N, n) -> (n, n)
    r"""Squared correlations of residuals with products of the shapes of two columns, summed.

    .. math:: s_{ab} = \frac1N \sum_{p, q} \Bigl( \sum_r \phi_p(x_{ra})\, \phi_q(x_{rb})\, u_r
              \Bigr)^2

    Each term is about one where the residuals have nothing to do with the columns; otherwise the
    sum is about twice the nats that the products explain.

    Example:
        >>> x = torch.randn(500, 4, generator=torch.Generator().manual_seed(0))
        >>> scores = interaction_scores(x[:, 0] * x[:, 2] + x[:, 3], simple_shapes(x[:, :3]))
        >>> bool(scores[0, 2] > 200) and bool(scores[0, 1] < 40)
        True
    """
    u = standard_units(residual, size=1.0).clamp(-_FAR, _FAR)  # of a column in such units
    moved = (shapes * u.unsqueeze(-1)).mT  # (k, n, N)
    total = shapes.new_zeros(shapes.shape[-1], shapes.shape[-1])
    for p, one in enumerate(moved):
        total += (one @ shapes[p]).square_()
        for other in shapes[p + 1 :]:
            squares = (one @ other).square_()
            total += squares + squares.mT  # of (p, q) and of (q, p)
    return total / len(u)


def clear_pairs(
    residual: Tensor,  # (N,)
    shapes: Tensor,  # (k, N, n)
    least: float,
) -> tuple[Tensor, Tensor]:  # (m, 2), (m,)
    """Pairs of two columns whose score is above ``least``, the highest first, and their scores."""
    scores = interaction_scores(residual, shapes).triu(1)
    pairs = (scores > least).nonzero()
    found = scores[tuple(pairs.T)].double().cpu()
    order = found.argsort(descending=True, stable=True)
    return pairs.cpu()[order], found[order]
