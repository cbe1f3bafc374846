"""Gumbel-Top-k with SoftSort: Plackett–Luce orders in O(n²)."""

from __future__ import annotations

import torch
from torch import Tensor

from ..ops.sorting import constrained_argsort, soft_sort, soft_sort_mask, untangle
from ..ops.subsets import (
    MAX_NODES,
    is_weak_order,
    next_log_probabilities,
    order_weights,
    prefix_levels,
    subset_levels,
    sum_over_orders,
)
from .permutation import PERMUTATIONS, PermutationDistribution


@PERMUTATIONS.register("topk")
class GumbelTopK(PermutationDistribution):
    r"""Orders by sorting perturbed scores: the Plackett–Luce distribution.

    .. math:: P_\psi(\pi) = \prod_{k=1}^{n} \frac{e^{\psi_{\pi_k}}}{\sum_{l \ge k} e^{\psi_{\pi_l}}}

    so that :math:`P(i \text{ before } j) = \sigma(\psi_i - \psi_j)`. Under order constraints, with
    :math:`D_i` the node i and all that must follow it,

    .. math:: P(i \text{ before } j) = \frac{\sum_{D_i \setminus D_j} e^{\psi}}
        {\sum_{D_i \triangle D_j} e^{\psi}}.

    References:
        | Stochastic Beams and Where to Find Them: The Gumbel-Top-k Trick (Kool et al., 2019)
        | https://arxiv.org/abs/1903.06059

    Example:
        >>> orders = GumbelTopK(torch.tensor([0.0, 1.0]))
        >>> round(orders.precedence_probabilities[1, 0].item(), 3)
        0.731
        >>> round(orders.log_prob_order(torch.tensor([1, 0])).exp().item(), 3)
        0.731
    """

    exact = True

    @staticmethod
    def logits_shape(n_nodes: int) -> tuple[int, ...]:
        return (n_nodes,)

    def decode(self, perturbed: Tensor) -> Tensor:  # (*, n) -> (*, n)
        if self.before is not None:
            return constrained_argsort(perturbed, self.before)
        return perturbed.argsort(dim=-1, descending=True, stable=True)

    def relax(self, perturbed: Tensor, order: Tensor) -> Tensor:  # (*, n), (*, n) -> (*, n, n)
        return soft_sort(self._sorted(perturbed, order), order, temperature=self.temperature)

    def soft_mask(self, perturbed: Tensor, order: Tensor) -> Tensor:  # (*, n), (*, n) -> (*, n, n)
        scores = self._sorted(perturbed, order)
        return soft_sort_mask(scores, order, temperature=self.temperature)

    def _sorted(self, perturbed: Tensor, order: Tensor) -> Tensor:
        """Scores that descend along ``order`` also where a constraint overruled them."""
        if self.before is None:
            return perturbed
        return untangle(perturbed, order, margin=10 * self.temperature)

    @property
    def by_scores(self) -> bool:
        """Unless constraints overrule the scores."""
        return self.before is None

    @property
    def precedence_probabilities(self) -> Tensor:  # (*batch, n, n)
        """P(i before j), exact; zero on the diagonal."""
        n = self.n_nodes
        own = torch.eye(n, dtype=torch.bool, device=self.logits.device)
        if self.before is None:
            odds = self.logits.unsqueeze(-1) - self.logits.unsqueeze(-2)
            return torch.sigmoid(odds).masked_fill(own, 0.0)
        follows = self.before | own
        only_first = follows.unsqueeze(-2) & ~follows.unsqueeze(-3)  # (i, j, d): in D_i, not D_j
        mass = self.logits[..., None, None, :].masked_fill(~only_first, -torch.inf).logsumexp(-1)
        odds = (mass - mass.mT).masked_fill(own, -torch.inf)
        return torch.sigmoid(odds)

    def log_prob_order(self, order: Tensor) -> Tensor:  # (*, n) -> (*)
        if self.before is not None:
            self._require_small("The density of orders under constraints")
            weights = order_weights(order, self.logits.dtype)
            return sum_over_orders(self.logits, weights, before=self.before)
        logits = self.logits.expand(torch.broadcast_shapes(order.shape, self.logits.shape))
        ordered = logits.gather(-1, order.expand_as(logits))
        left = ordered.flip(-1).logcumsumexp(-1).flip(-1)
        return (ordered - left).sum(-1)

    def entropy(self) -> Tensor:  # (*batch)
        r"""Entropy of the order in nats, exact: Σ_S P(S placed first) · H(next node | S)."""
        self._require_small("The entropy of the order")
        before = self.before
        if before is not None and not is_weak_order(before):
            raise NotImplementedError(
                "The entropy of the order is exact without constraints or under tiers only; "
                "required edges leave it intractable."
            )
        step = next_log_probabilities(self.logits, before=before)
        following = -(step.exp() * step).sum(-1)  # (*, 2ⁿ)
        levels = prefix_levels(self.logits, before=before)
        terms = [
            (level.exp() * following[..., codes]).sum(-1)
            for level, codes in zip(levels[:-1], subset_levels(self.n_nodes))
        ]
        return torch.stack(terms).sum(0)

    def _require_small(self, what: str) -> None:
        if self.n_nodes > MAX_NODES:
            raise ValueError(
                f"{what} is summed over 2^n subsets, for n up to {MAX_NODES}; "
                f"got n_nodes={self.n_nodes}."
            )
