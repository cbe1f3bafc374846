"""Evidences that can say cheaply which changes of a parent set are worth a full evaluation."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor

from .base import Evidence
from .interactions import ClearPairs


class ScreenedEvidence(Evidence):
    r"""An evidence with a cheap estimate of what each change of a parent set would bring.

    Attributes:
        lookahead: How many full evaluations are worth asking for at once: few where they run one
            after the other, many where a batch costs little more than one.
        screens_exactly: Whether the estimates are the evaluations themselves.
        screens_roots: Whether estimates of first parents are nearly the evaluations themselves.
        sees_pairs: Whether parents may explain something only together.
        n_rows: That it reads; known where it sees pairs.
    """

    n_rows: int

    lookahead: int = 1
    screens_exactly: bool = False
    screens_roots: bool = False
    sees_pairs: bool = False

    @abstractmethod
    def screens(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b, n)
        """Estimated change of the evidence by toggling each node in each parent set."""

    def screen(self, child: int, parents: Tensor) -> Tensor:  # (n,) bool -> (n,)
        """The same for one set."""
        return self.screens(torch.tensor([child]), parents[None])[0]

    def probes(self, child: Tensor, parents: Tensor) -> Tensor | None:  # (b,), (b, n) -> (b, n)
        """A second, independent ranking of additions; None or −∞ where there is none."""
        return None

    def joint_screens(self, child: Tensor, parents: Tensor) -> Tensor | None:  # -> (b, n)
        """What additions may bring to parents that do not act together yet; −∞ where nothing."""
        return None

    def acts_together(self, parents: Tensor) -> Tensor:  # (n, n) bool -> (n,)
        """Which nodes are best explained by functions of several causes jointly."""
        return parents.sum(-1) > 1

    def pair_probes(self, child: Tensor, parents: Tensor, least: float, like: Tensor) -> ClearPairs:
        """Pairs of nodes that explain something only together, twice the nats.

        Arguments:
            least: By chance it is some thirty at most.
            like: Parents, (b, n) bool, whose likeliest functions are taken for these.
        """
        raise NotImplementedError

    def may_lack_parents(self, parents: Tensor, values: Tensor) -> Tensor:  # (n, n), (n,) -> (n,)
        """Which nodes, of these evidences, leave so much open that several may be missing at once.

        Arguments:
            parents: bool, those of every node.
        """
        return torch.ones(len(values), dtype=torch.bool)

    def reach(
        self,
        child: Tensor,  # (b,)
        parents: Tensor,  # (b, n) bool
        target: Tensor,  # (b,)
        afresh: Tensor | None = None,  # (b,) bool
    ) -> Tensor:  # (b,)
        """The evidence, or a value below ``target`` as soon as it is clear that it stays below.

        Arguments:
            afresh: Of which sets all that may matter is looked at, whatever did with a parent less.
        """
        return self.log_evidence(child, parents)


class ExactScreen(ScreenedEvidence):
    """Any evidence, screened by itself: for those whose evaluations are cheap anyway."""

    lookahead = 64
    screens_exactly = True

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.n_nodes = evidence.n_nodes

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        return self.evidence.log_evidence(child, parents)

    def screens(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b, n)
        others = ~torch.nn.functional.one_hot(child, self.n_nodes).bool()
        changed = self.evidence.toggles(child, parents, others)
        change = changed - self.evidence.log_evidence(child, parents)[:, None]
        return torch.where(others, change, 0.0)
