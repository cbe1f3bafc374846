"""Causes of any type as features of latent functions: lines, sums of curves, joint processes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from .additive import smoothness_grid
from .gp.kernels import rbf
from .gram import WORKSPACE, equal_sets
from .likelihoods import contrasts
from .splines import fit_splines

__all__ = ["Features", "curves", "indicators", "lines", "own_order", "process"]

AMPLITUDES = (0.03, 0.3, 3.0, 30.0)  # precisions of slopes
SMOOTHNESS = tuple((a, s) for a in (0.1, 3.0) for s in (1e-3, 3e-2, 1.0))
LENGTH_SCALES = (0.8, 1.6, 3.2)  # of processes
HEIGHTS = (0.1, 1.0)  # their precisions
_LINE = 1.0  # precision of the straight part of a process
_CURVES = 8


class Features(NamedTuple):
    r"""Features of all variables, each of one variable, and prior precisions of their weights.

    .. math:: f(x_S) = \sum_{j \in S} \sum_{k : o_k = j} w_k \phi_k(x_j), \qquad
        w_k \sim N(0, 1 / \lambda_k)

    Attributes:
        values: (N, F) φ.
        owner: (F,) the variable o of each.
        precision: (g, F) λ on a grid.
    """

    values: Tensor
    owner: Tensor
    precision: Tensor

    def of_sets(
        self, parents: Tensor, *, copies: int = 1
    ) -> Iterator[tuple[Tensor, Tensor, Tensor]]:  # (b, n) bool
        """Rows (c,) of ``parents``, their features (c, N, m) and precisions (c, g, m), in batches.

        Arguments:
            copies: How many numbers are held of each feature of a set and row.
        """
        rows = len(self.values)
        for part, index in equal_sets(parents[:, self.owner], numbers=1):
            width = max(1, index.shape[1]) * rows * len(self.precision) * copies
            for some in torch.arange(len(part)).split(max(1, WORKSPACE // width)):
                features = self.values[:, index[some]].movedim(0, 1)
                yield part[some], features, self.precision[:, index[some]].movedim(0, 1)


def indicators(codes: Tensor) -> Tensor:  # (N,) -> (N, K - 1)
    r"""A category as features, all together of variance one, none of its K values special.

    .. math:: \phi = (1[x = k] - p_k)_k\, C / \sqrt{1 - \textstyle\sum_k p_k^2}

    with C orthonormal contrasts. Equal precisions of the weights then are equal and independent
    effects of all values; two values are the standardised column.

    Example:
        >>> indicators(torch.tensor([0.0, 0.0, 1.0, 1.0]))[:, 0].square().sum()
        tensor(4.0000, dtype=torch.float64)
    """
    seen = one_hot(codes.unique(return_inverse=True)[1]).double()
    share = seen.mean(0)
    centred = (seen - share) / (1 - share.square().sum()).clamp_min(1e-12).sqrt()
    return centred @ contrasts(seen.shape[1])


def lines(x: Tensor, categories: Sequence[int] = ()) -> Features:  # (N, n) standardised
    """Straight lines: every column as it is, indicators of a category."""
    blocks = _blocks(x, x.unsqueeze(-1).unbind(1), categories)
    values, owner = _joined(blocks)
    grid = torch.tensor(AMPLITUDES, dtype=torch.float64)[:, None]
    return Features(values, owner, grid.expand(-1, len(owner)))


def curves(x: Tensor, categories: Sequence[int] = ()) -> Features:  # (N, n) standardised
    """Spline functions of every column, from smooth to rough; indicators of a category."""
    basis = fit_splines(x, n_functions=_CURVES)
    splines = [own[:, used] for own, used in zip(basis(x).unbind(1), basis.used)]
    values, owner = _joined(_blocks(x, splines, categories))
    grid = smoothness_grid(basis.used, SMOOTHNESS)  # (g, n, k)
    kept = [grid[:, k, used] for k, used in enumerate(basis.used)]
    amplitude = torch.tensor([a for a, _ in SMOOTHNESS], dtype=torch.float64)[:, None]
    for k in categories:
        kept[k] = amplitude.expand(-1, int((owner == k).sum()))
    return Features(values, owner, torch.cat(kept, -1))


def process(line: Tensor, centres: Tensor) -> tuple[Tensor, Tensor]:  # (c, N, w), (M,)
    r"""A smooth process over all columns jointly, carried by some rows, and a straight part.

    .. math:: k(x, x') = \phi(x)^\top \phi(x'), \qquad
        \phi(x) = L^{-1} k_M(x), \quad L L^\top = K_{MM}

    with k the Gaussian kernel of a few length scales, one for all columns.

    Arguments:
        line: Straight features of each set.
        centres: Numbers of the rows M.

    Returns:
        Features (c, l, N, M + w), one per length scale, and precisions (l, g, M + w).
    """
    scale = line.new_tensor(LENGTH_SCALES)[:, None, None]
    z = line.unsqueeze(1) / scale  # (c, l, N, w)
    some = z[..., centres, :]
    inner = rbf(some) + 1e-6 * torch.eye(len(centres), dtype=line.dtype)
    white = torch.linalg.solve_triangular(torch.linalg.cholesky(inner), rbf(some, z), upper=False)
    features = torch.cat([white.mT, line.unsqueeze(1).expand_as(z)], -1)
    smooth = line.new_tensor(HEIGHTS)[:, None].expand(-1, len(centres))
    straight = torch.full_like(line[0, : len(HEIGHTS)], _LINE)
    precision = torch.cat([smooth, straight], -1)  # (g, M + w)
    return features, precision.expand(len(scale), -1, -1)


def own_order(features: Features) -> Tensor:  # -> (N,)
    """Rows in an order like chance, the same whatever that of rows, columns and categories was."""
    square = features.values.square()
    size = square.new_zeros(len(square), int(features.owner.max()) + 1)
    size = size.index_add(1, features.owner, square)  # (N, n)
    return (1e3 * (size.sum(-1) + math.e * size.square().sum(-1))).frac().argsort()


def _blocks(
    x: Tensor, features: Sequence[Tensor], categories: Sequence[int]
) -> list[Tensor]:  # (N, n), n × (N, k) -> n × (N, k)
    blocks = list(features)
    for k in categories:
        blocks[k] = indicators(x[:, k])
    return blocks


def _joined(blocks: Sequence[Tensor]) -> tuple[Tensor, Tensor]:  # n × (N, k) -> (N, F), (F,)
    owner = [k for k, block in enumerate(blocks) for _ in range(block.shape[1])]
    return torch.cat(list(blocks), -1), torch.tensor(owner)
