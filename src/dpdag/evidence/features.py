"""Causes of any type as features of latent functions: lines, sums of curves, joint processes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from .categories import Encoding, fit_functions
from .gp.kernels import rbf
from .gram import WORKSPACE, equal_sets

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


def lines(x: Tensor, categories: Sequence[int] = ()) -> Features:  # (N, n) standardised
    """Straight lines: every column as it is, indicators of a category."""
    encoding = Encoding.of(x, categories)
    owner = encoding.owner(x.shape[1])
    grid = torch.tensor(AMPLITUDES, dtype=torch.float64)[:, None]
    return Features(encoding(x), owner, grid.expand(-1, len(owner)))


def curves(x: Tensor, categories: Sequence[int] = ()) -> Features:  # (N, n) standardised
    """Spline functions of every column, from smooth to rough; indicators of a category."""
    basis = fit_functions(x, n_functions=_CURVES, categories=categories)
    used = basis.used
    return Features(basis(x)[:, used], used.nonzero()[:, 0], basis.precision(SMOOTHNESS)[:, used])


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
