"""The one signature of all evidences, and a cache for it."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from ..deadline import ENDLESS, Deadline
from .known import Key, remembered


class Evidence(ABC):
    r"""Score of a child given a parent set, with the mechanism integrated or solved out.

    .. math:: \log p(x_v \mid x_S) = \log \int p(x_v \mid f, x_S)\, p(f)\, df

    A subclass implements :meth:`log_evidence`; searches and exact posteriors need no more.
    Values are natural logarithms summed over rows: a graph's evidence is the sum over its nodes.

    Attributes:
        n_nodes: Number of variables, n.
        deadline: Asked before every evaluation that takes long.
    """

    n_nodes: int
    deadline: Deadline = ENDLESS

    @abstractmethod
    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b,)
        """Evidence of every (child, parent set) pair, float64 on the CPU."""

    def residuals(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, N)
        """What the functions leave of every row left out of their fit, over its deviation.

        Up to one factor for all rows; only for sets that are not empty.
        """
        raise NotImplementedError

    def toggles(
        self,
        child: Tensor,  # (b,)
        parents: Tensor,  # (b, n) bool
        which: Tensor,  # (b, n) bool
    ) -> Tensor:  # (b, n)
        """Evidence after adding each node in ``which``, or removing it where it is a parent.

        Entries outside ``which`` are NaN. All of it is one request of :meth:`log_evidence`;
        subclasses with a faster way override this.
        """
        row, node = which.nonzero(as_tuple=True)
        changed = parents[row]
        changed[torch.arange(len(row)), node] ^= True
        value = torch.full(which.shape, torch.nan, dtype=torch.float64)
        value[row, node] = self.log_evidence(child[row], changed)
        return value


class CachedEvidence(Evidence):
    """Remembers every (child, parent set) another evidence has been asked for."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.n_nodes = evidence.n_nodes
        self._known: dict[Key, float] = {}

    def __len__(self) -> int:
        return len(self._known)

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b,)
        def find(child: Tensor, parents: Tensor) -> list[float]:
            return self.evidence.log_evidence(child, parents).tolist()

        return torch.tensor(remembered(self._known, child, parents, find), dtype=torch.float64)
