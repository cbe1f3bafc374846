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

    Arguments:
        x: (N, n) observations.
        replicas: (r, rows) the rows of each replica, where there are several.

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

    def __init__(self, x: Tensor, *, replicas: Tensor | None = None) -> None:
        self.n_nodes = x.shape[1]
        self.n_replicas = None if replicas is None else len(replicas)
        values = x.double().cpu()
        tables = values[None] if replicas is None else values[replicas]  # (r, N, n)
        self.n_rows = tables.shape[1]
        tables = torch.stack([standardise(table)[0] for table in tables])
        self._products = tables.mT @ tables
        every = torch.arange(len(tables))
        everything = torch.ones(len(tables), self.n_nodes, dtype=torch.bool)
        scales = torch.tensor(_SCALES, dtype=torch.float64)
        fit = torch.stack([self._marginal(everything, every, s.expand(len(every))) for s in scales])
        self._scale = scales[fit.argmax(0)]  # (r,)

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        replica = child // self.n_nodes
        own = torch.nn.functional.one_hot(child % self.n_nodes, self.n_nodes).bool()
        family, alone, causes = (
            self._marginal(s, replica, self._scale[replica]) for s in (parents | own, own, parents)
        )
        return family - causes - alone

    def _marginal(
        self,
        members: Tensor,  # (b, n) bool
        replica: Tensor,  # (b,)
        scale: Tensor,  # (b,)
    ) -> Tensor:  # (b,)
        """log p(x_W) for each set W of columns, prior mean weight and degrees of freedom 1, n+2."""
        rows, size = self.n_rows, members.sum(-1).double()
        free = size + 2  # degrees of freedom of the marginal Wishart
        ratio = (
            size / 2 * math.log(1 / (rows + 1))
            + _log_gammas((rows + free) / 2, members.sum(-1))
            - _log_gammas(free / 2, members.sum(-1))
        )
        prior = free / 2 * size * scale.log()
        constant = -rows * size / 2 * math.log(math.pi)
        spread = self._log_determinant(members, replica, scale)
        return constant + ratio + prior - (rows + free) / 2 * spread

    def _log_determinant(self, members: Tensor, replica: Tensor, scale: Tensor) -> Tensor:  # (b,)
        parts = []
        for rows in torch.arange(len(members)).split(max(1, _CHUNK // self.n_nodes**2)):
            chunk = members[rows]
            both = chunk.unsqueeze(-1) & chunk.unsqueeze(-2)
            # Unit rows outside W change nothing.
            diagonal = torch.where(chunk, scale[rows, None], 1.0)
            matrix = torch.where(both, self._products[replica[rows]], 0.0)
            matrix = matrix + torch.diag_embed(diagonal)
            factor = torch.linalg.cholesky(matrix)
            parts.append(2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1))
        return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.float64)


def _log_gammas(a: Tensor, size: Tensor) -> Tensor:  # (b,), (b,) -> (b,)
    """Logarithm of the multivariate gamma function of each size, without its power of π."""
    k = torch.arange(int(size.max()) if len(size) else 0)
    terms = torch.lgamma((a.unsqueeze(-1) - k / 2).clamp(min=0.5))
    return (terms * (k < size.unsqueeze(-1))).sum(-1)
