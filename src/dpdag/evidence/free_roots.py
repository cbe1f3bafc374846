"""Evidence under which a column without parents may have any distribution."""

from __future__ import annotations

import torch
from torch import Tensor

from .base import Evidence

__all__ = ["FreeRoots"]


class FreeRoots(Evidence):
    r"""Another evidence, but for columns without parents, whose densities are given.

    .. math:: \log p(x_v \mid x_\emptyset) = d_v

    With the same densities whatever is done to the columns, the shape of a cause is no merit.

    Arguments:
        evidence: Of columns with parents.
        density: (n,) log-densities of all rows of every column by itself.

    Example:
        >>> from dpdag.evidence.additive import AdditiveEvidence
        >>> x = torch.linspace(-1.7, 1.7, 50, dtype=torch.float64)[:, None] ** torch.tensor([1, 3])
        >>> free = FreeRoots(AdditiveEvidence(x), torch.tensor([-60.0, -50.0]).double())
        >>> free.log_evidence(torch.arange(2), torch.zeros(2, 2, dtype=torch.bool)).tolist()
        [-60.0, -50.0]
    """

    def __init__(self, evidence: Evidence, density: Tensor) -> None:
        self.evidence = evidence
        self.density = density
        self.n_nodes = evidence.n_nodes

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b,)
        value = self.evidence.log_evidence(child, parents)
        return torch.where(parents.any(-1), value, self.density[child])

    def toggles(self, child: Tensor, parents: Tensor, which: Tensor) -> Tensor:  # -> (b, n)
        value = self.evidence.toggles(child, parents, which)
        last = which & parents & (parents.sum(-1, keepdim=True) == 1)  # none is left
        return torch.where(last, self.density[child][:, None], value)
