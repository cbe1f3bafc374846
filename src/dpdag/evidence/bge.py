"""Evidence of linear mechanisms with Gaussian noise, equal for Markov equivalent graphs."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from .base import Evidence
from .transforms import standardise

__all__ = ["BGeEvidence"]

_CHUNK = 2**22  # matrix entries held at once
_SCALES = tuple(0.5 * 10.0**-k for k in range(7))


class BGeEvidence(Evidence):
    r"""The BGe score: all covariances integrated out under a Wishart prior.

    .. math:: \log p(x_v \mid x_S) = \log p(x_{S \cup v}) - \log p(x_S) - \log p(x_v)

    Graphs that imply the same conditional independences get the same total, so directions that
    linear Gaussian data cannot show are left open. Relative to a child without parents, which has
    evidence zero. Columns are standardised first; the prior precision has n + 2 degrees of freedom
    and the scale, of ½ and tenths, hundredths … of it, that makes all columns together likeliest:
    nearly exact relations need a small one.

    Reference:
        Kuipers, Moffa and Heckerman, *Addendum on the scoring of Gaussian directed acyclic
        graphical models* (2014).

    Example:
        >>> x = torch.randn(100, 2, generator=torch.Generator().manual_seed(0))
        >>> x[:, 1] += 2 * x[:, 0]
        >>> evidence = BGeEvidence(x)
        >>> forward, backward = evidence.log_evidence(
        ...     torch.tensor([1, 0]), torch.tensor([[True, False], [False, True]]))
        >>> bool((forward - backward).abs() < 1e-9), bool(forward > 20)
        (True, True)
    """

    def __init__(self, x: Tensor) -> None:  # (N, n)
        self.n_rows, self.n_nodes = x.shape
        table, _ = standardise(x.double().cpu())
        self._products = table.T @ table
        everything = torch.ones(1, self.n_nodes, dtype=torch.bool)
        self._scale = max(_SCALES, key=lambda scale: float(self._marginal(everything, scale)))

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        own = torch.nn.functional.one_hot(child, self.n_nodes).bool()
        family, alone, causes = (
            self._marginal(s, self._scale) for s in (parents | own, own, parents)
        )
        return family - causes - alone

    def _marginal(self, members: Tensor, scale: float) -> Tensor:  # (b, n) bool -> (b,)
        """log p(x_W) for each set W of columns, prior mean weight and degrees of freedom 1, n+2."""
        rows, size = self.n_rows, members.sum(-1).double()
        free = size + 2  # degrees of freedom of the marginal Wishart
        ratio = (
            size / 2 * math.log(1 / (rows + 1))
            + _log_gammas((rows + free) / 2, members.sum(-1))
            - _log_gammas(free / 2, members.sum(-1))
        )
        prior = free / 2 * size * math.log(scale)
        constant = -rows * size / 2 * math.log(math.pi)
        return constant + ratio + prior - (rows + free) / 2 * self._log_determinant(members, scale)

    def _log_determinant(self, members: Tensor, scale: float) -> Tensor:  # (b, n) bool -> (b,)
        scatter = self._products + scale * torch.eye(self.n_nodes, dtype=torch.float64)
        parts = []
        for chunk in members.split(max(1, _CHUNK // self.n_nodes**2)):
            both = chunk.unsqueeze(-1) & chunk.unsqueeze(-2)
            blank = torch.diag_embed((~chunk).double())  # unit rows outside W change nothing
            matrix = torch.where(both, scatter, 0.0) + blank
            factor = torch.linalg.cholesky(matrix)
            parts.append(2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1))
        return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.float64)


def _log_gammas(a: Tensor, size: Tensor) -> Tensor:  # (b,), (b,) -> (b,)
    """Logarithm of the multivariate gamma function of each size, without its power of π."""
    k = torch.arange(int(size.max()) if len(size) else 0)
    terms = torch.lgamma((a.unsqueeze(-1) - k / 2).clamp(min=0.5))
    return (terms * (k < size.unsqueeze(-1))).sum(-1)
