"""Evidence of linear mechanisms with Gaussian noise, equal for Markov equivalent graphs."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from .base import Evidence
from .gram import equal_sets
from .noise import SCALES

__all__ = ["LinearEvidence"]


class LinearEvidence(Evidence):
    r"""The BGe score: all covariances integrated out under Wishart priors.

    .. math:: \log p(x_v \mid x_S) = \log p(x_{S \cup v}) - \log p(x_S), \qquad
        p(x_W) = \int N(x_W \mid \mu, \Sigma)\, d P_t(\mu, \Sigma)

    Graphs that imply the same conditional independences get the same total, so directions that
    linear Gaussian data cannot show are left open. Prior precisions are Wishart with n + 2 degrees
    of freedom and scale t, one for all columns: of a half, a tenth of it … down to a millionth the
    one that makes all of them together likeliest, because nearly exact relations need a small one.

    Arguments:
        x: (N, n) standardised columns.
        device: Where to compute.

    Reference:
        Kuipers, Moffa and Heckerman, *Addendum on the scoring of Gaussian directed acyclic
        graphical models* (2014).

    Example:
        >>> x = torch.randn(100, 2, generator=torch.Generator().manual_seed(0)).double()
        >>> x[:, 1] += 2 * x[:, 0]
        >>> evidence = LinearEvidence((x - x.mean(0)) / x.std(0))
        >>> forward, backward = (
        ...     evidence.log_evidence(torch.arange(2), parents.bool()).sum()
        ...     for parents in torch.tensor([[[0, 0], [1, 0]], [[0, 1], [0, 0]]]))
        >>> bool((forward - backward).abs() < 1e-9)
        True
    """

    def __init__(self, x: Tensor, *, device: torch.device | str = "cpu") -> None:
        self.n_rows, self.n_nodes = x.shape
        self._x = x.to(device, torch.float64)
        self._products = self._x.T @ self._x
        everything = torch.ones(1, self.n_nodes, dtype=torch.bool)
        self._scale = max(SCALES, key=lambda scale: float(self._marginal(everything, scale)))

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        own = torch.nn.functional.one_hot(child, self.n_nodes).bool()
        scale = self._scale
        return self._marginal(parents | own, scale) - self._marginal(parents, scale)

    def residuals(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, N)
        value, device = self._x.new_empty(len(child), self.n_rows), self._x.device
        for rows, index in equal_sets(parents, numbers=8 * self.n_rows):
            rows, index, own = rows.to(device), index.to(device), child[rows].to(device)
            x = self._x[:, index].movedim(0, 1)  # (c, N, p)
            matrix = self._products[index[:, :, None], index[:, None]]
            factor = torch.linalg.cholesky(matrix + self._scale * torch.eye(index.shape[1]).to(x))
            half = torch.linalg.solve_triangular(factor, x.mT, upper=False)  # (c, p, N)
            y = self._x[:, own].T
            missed = y - ((half @ y.unsqueeze(-1)).mT @ half)[:, 0]
            left = 1 - half.square().sum(1) - 1 / self.n_rows
            value[rows] = missed / left.clamp_min(1e-3).sqrt()
        return value

    def _marginal(self, members: Tensor, scale: float) -> Tensor:  # (b, n) bool -> (b,)
        """log p(x_W) for each set W of columns, prior mean weight 1."""
        rows, value = self.n_rows, torch.empty(len(members), dtype=torch.float64)
        for part, index in equal_sets(members, numbers=1):
            size, index = index.shape[1], index.to(self._products.device)
            matrix = self._products[index[:, :, None], index[:, None]]
            factor = torch.linalg.cholesky(matrix + scale * torch.eye(size).to(matrix))
            spread = 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1).cpu()
            free = size + 2  # degrees of freedom of the marginal Wishart
            ratio = (
                -size / 2 * math.log(rows + 1)
                + _log_gammas((rows + free) / 2, size)
                - _log_gammas(free / 2, size)
                - rows * size / 2 * math.log(math.pi)
            )
            value[part] = ratio + free / 2 * size * math.log(scale) - (rows + free) / 2 * spread
        return value


def _log_gammas(a: float, size: int) -> float:
    """Logarithm of the multivariate gamma function, without its power of π."""
    return sum(math.lgamma(a - k / 2) for k in range(size))
