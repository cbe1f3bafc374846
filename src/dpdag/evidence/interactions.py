"""Which pairs of columns explain only together what is left of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ..ops.scale import standard_units

_FAR = 3.0  # standard deviations beyond which values count as that far
_ON_GPU = 2**28  # numbers held there at once


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


def interaction_scores(residual: Tensor, shapes: Tensor) -> Tensor:  # (*, N), (k, N, n)
    r"""Squared correlations of residuals with products of the shapes of two columns, summed.

    .. math:: s_{ab} = \frac1N \sum_{p, q} \Bigl( \sum_r \phi_p(x_{ra})\, \phi_q(x_{rb})\, u_r
              \Bigr)^2

    Each term is about one where the residuals have nothing to do with the columns; otherwise the
    sum is about twice the nats that the products explain.

    Returns:
        (*, n, n).

    Example:
        >>> x = torch.randn(500, 4, generator=torch.Generator().manual_seed(0))
        >>> scores = interaction_scores(x[:, 0] * x[:, 2] + x[:, 3], simple_shapes(x[:, :3]))
        >>> bool(scores[0, 2] > 200) and bool(scores[0, 1] < 40)
        True
    """
    u = standard_units(residual.movedim(-1, 0), size=1.0)  # of columns in such units
    u = u.movedim(0, -1).clamp(-_FAR, _FAR)
    moved = (shapes * u[..., None, :, None]).mT.movedim(-3, 0)  # (k, *, n, N)
    total = u.new_zeros(*u.shape[:-1], shapes.shape[-1], shapes.shape[-1])
    for p, one in enumerate(moved):
        total += (one @ shapes[p]).square_()
        for other in shapes[p + 1 :]:
            squares = (one @ other).square_()
            total += squares + squares.mT  # of (p, q) and of (q, p)
    return total / u.shape[-1]


class ClearPairs(NamedTuple):
    """Pairs of columns that explain something together, of one child after the other.

    Attributes:
        row: (m,) of which child.
        pair: (m, 2) columns.
        score: (m,) about twice the nats, the highest of each child first.
    """

    row: Tensor
    pair: Tensor
    score: Tensor

    @classmethod
    def of(cls, residual: Tensor, shapes: Tensor, least: float) -> ClearPairs:
        """Those whose score is above ``least``; of (b, N) and (k, N, n)."""
        _, rows, n = shapes.shape
        held = len(shapes) * n * (rows + n)
        some = max(1, _ON_GPU // held) if residual.is_cuda else 1
        found = []
        for first, part in zip(range(0, len(residual), some), residual.split(some)):
            scores = interaction_scores(part, shapes).triu(1)
            place = (scores > least).nonzero()
            score = scores[tuple(place.T)].double().cpu()
            order = score.argsort(descending=True, stable=True)
            order = order[place[:, 0].cpu()[order].argsort(stable=True)]
            row, pair = place.cpu()[order].split([1, 2], -1)
            found.append(cls(row[:, 0] + first, pair, score[order]))
        return cls(*map(torch.cat, zip(*found)))

    @classmethod
    def merged(cls, parts: Sequence[tuple[Tensor, ClearPairs]]) -> ClearPairs:
        """Of children (b,) each."""
        every = cls(
            torch.cat([own[part.row] for own, part in parts]),
            torch.cat([part.pair for _, part in parts]),
            torch.cat([part.score for _, part in parts]),
        )
        order = every.row.argsort(stable=True)
        return cls(*(part[order] for part in every))

    def of_row(self, row: int) -> tuple[Tensor, Tensor]:  # -> (k, 2), (k,)
        """Pairs of one child and their scores."""
        own = self.row == row
        return self.pair[own], self.score[own]
