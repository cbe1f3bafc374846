"""Gumbel-Sinkhorn with the Hungarian algorithm: orders by matching nodes to positions."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..ops.matching import matching, sinkhorn
from ..ops.subsets import is_weak_order
from .permutation import PERMUTATIONS, PermutationDistribution


@PERMUTATIONS.register("sinkhorn")
class GumbelSinkhorn(PermutationDistribution):
    r"""Orders by the best matching of positions and nodes under perturbed logits.

    .. math:: \Pi = \arg\max_\Pi \langle \Pi, \psi + G \rangle, \qquad
        \hat\Pi = \text{Sinkhorn}\big((\psi + G) / \tau\big)

    Row k of ψ belongs to position k, column j to node j. The hard sample is the limit of the
    relaxation for τ → 0 and does not depend on τ. Densities are intractable; probabilities come
    by Monte Carlo with a stated standard error.

    References:
        | Learning Latent Permutations with Gumbel-Sinkhorn Networks (Mena et al., 2018)
        | https://arxiv.org/abs/1802.08665

    Example:
        >>> orders = GumbelSinkhorn(torch.tensor([[0.0, 9.0], [9.0, 0.0]]))
        >>> orders.mode_order.tolist()
        [1, 0]
    """

    def __init__(self, logits: Tensor, **options: Any) -> None:
        super().__init__(logits, **options)
        before = self.before
        self._open = None if before is None else tier_positions(before)

    @staticmethod
    def logits_shape(n_nodes: int) -> tuple[int, ...]:
        return (n_nodes, n_nodes)

    def decode(self, perturbed: Tensor) -> Tensor:  # (*, n, n) -> (*, n)
        return matching(self._blocked(perturbed))

    def relax(self, perturbed: Tensor, order: Tensor) -> Tensor:  # (*, n, n) -> (*, n, n)
        return sinkhorn(self._blocked(perturbed), temperature=self.temperature)

    def _blocked(self, perturbed: Tensor) -> Tensor:
        """Logits with the positions outside a node's tier closed."""
        if self._open is None:
            return perturbed
        low = perturbed.detach().amin((-2, -1), keepdim=True)
        high = perturbed.detach().amax((-2, -1), keepdim=True)
        never = low - self.n_nodes * (high - low) - 1  # worse than all the rest can make good
        return torch.where(self._open, perturbed, never)


def tier_positions(before: Tensor) -> Tensor:  # (n, n) bool -> (n positions, n nodes) bool
    """The positions that tiers leave to each node; other partial orders are refused."""
    if not is_weak_order(before):
        raise ValueError(
            "permutation='sinkhorn' cannot express these required edges or tiers, which order some "
            "nodes and leave others free; put every node in a tier or use permutation='topk'."
        )
    first = before.sum(-2)  # nodes that must precede
    last = len(before) - 1 - before.sum(-1)
    position = torch.arange(len(before), device=before.device).unsqueeze(-1)
    return (position >= first) & (position <= last)
