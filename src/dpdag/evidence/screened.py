"""Evidences that can say cheaply which changes of a parent set are worth a full evaluation."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import torch
from torch import Tensor

from .base import Evidence

__all__ = ["ExactScreen", "ScreenedEvidence"]


class ScreenedEvidence(Evidence):
    r"""An evidence with a cheap estimate of what each change of a parent set would bring.

    Attributes:
        lookahead: How many full evaluations are worth asking for at once: few where they run one
            after the other, many where a batch costs little more than one.
        screens_exactly: Whether the estimates are the evaluations themselves.
        sees_pairs: Whether parents may explain something only together.
    """

    lookahead: int = 1
    screens_exactly: bool = False
    sees_pairs: bool = False

    @abstractmethod
    def screen(self, child: int, parents: Tensor) -> Tensor:  # (n,) bool -> (n,)
        """Estimated change of the evidence by toggling each node in the parent set."""

    def probe(self, child: int, parents: Tensor) -> Tensor | None:  # (n,) bool -> (n,)
        """A second, independent ranking of additions, or None where there is none."""
        return None

    def pair_probe(self, child: int, parents: Tensor) -> Tensor:  # (n,) bool -> (n, n)
        """How much each pair of nodes explains only together, by chance some thirty at most."""
        raise NotImplementedError

    def weakly_explained(self, values: np.ndarray) -> np.ndarray:  # (n,) -> (n,) bool
        """Which children, of these evidences, leave so much open that parents may be missing."""
        return np.ones(len(values), dtype=bool)

    def reach(
        self,
        child: Tensor,  # (b,)
        parents: Tensor,  # (b, n) bool
        target: Tensor,  # (b,)
    ) -> Tensor:  # (b,)
        """The evidence, or a value below ``target`` as soon as it is clear that it stays below."""
        return self.log_evidence(child, parents)


class ExactScreen(ScreenedEvidence):
    """Any evidence, screened by itself: for those whose evaluations are cheap anyway.

    Arguments:
        complete: Whether searches begin with a graph that has every parent, so that none needs
            looking for.
    """

    lookahead = 64
    screens_exactly = True

    def __init__(self, evidence: Evidence, *, complete: bool = False) -> None:
        self.evidence = evidence
        self.n_nodes = evidence.n_nodes
        self.complete = complete

    def weakly_explained(self, values: np.ndarray) -> np.ndarray:  # (n,) -> (n,) bool
        return np.full(len(values), not self.complete)

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        return self.evidence.log_evidence(child, parents)

    def screen(self, child: int, parents: Tensor) -> Tensor:  # (n,) bool -> (n,)
        node = torch.tensor([child])
        change = self.evidence.additions(node, parents[None])[0]
        members = parents.nonzero()[:, 0]
        fewer = parents.repeat(len(members) + 1, 1)
        fewer[torch.arange(len(members)), members] = False
        values = self.log_evidence(node.expand(len(fewer)), fewer)
        change[members] = values[:-1]
        return change - values[-1]
