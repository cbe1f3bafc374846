r"""Fit a DP-DAG distribution to an evidence instead of to networks.

The functions are integrated out, so the bound of VI-DP-DAG needs only scores of parent sets:

.. math:: \mathcal L(\psi, \phi) = \mathbb E_{\pi, A}\Big[\sum_v s(v, \mathrm{pa}_A(v))\Big]
          - \sum_{ij} P_\psi(i \prec j)\, \mathrm{KL}(\sigma(\phi_{ij}) \,\|\, p)
          - \mathrm{KL}(P_\psi \,\|\, \text{uniform})
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..distributions.knowledge import Constraints
from ..ops.graphs import reachability
from ..search import SearchResult
from .doubt import Doubt
from .orders import WeightedOrders, fit_orders

__all__ = ["LocalPosterior", "fit_locally"]

_SURE = 30.0  # logits beyond this are certainty in float32 too


@dataclass(frozen=True)
class LocalPosterior:
    """A DP-DAG posterior of several orders.

    Attributes:
        orders: ψ of every order, and what the orders weigh.
        edge_logits: (n, n) φ of i → j given that i comes first, or (k, n, n) given each order; −30
            on the diagonal.
    """

    orders: WeightedOrders
    edge_logits: Tensor

    @classmethod
    def within(
        cls, orders: WeightedOrders, logits: Tensor, constraints: Constraints
    ) -> LocalPosterior:  # (*, n, n)
        """With edges that are as sure as certainty is, and those that are known."""
        logits = logits.clamp(-_SURE, _SURE).masked_fill(~constraints.allowed, -_SURE)
        return cls(orders, logits.masked_fill(constraints.required, _SURE))

    def relabelled(self, order: Tensor) -> LocalPosterior:  # (n,)
        """The same with node ``order[k]`` in place k."""
        orders = self.orders._replace(logits=self.orders.logits[:, order])
        return replace(self, orders=orders, edge_logits=self.edge_logits[..., order, :][..., order])

    @property
    def edge_probabilities(self) -> Tensor:  # (n, n)
        """σ(φ_ij) P(i before j), zero on the diagonal."""
        psi = self.orders.logits
        before = (psi[:, :, None] > psi[:, None]).to(psi) * torch.sigmoid(self.edge_logits)
        return torch.einsum("k,kij->ij", self.orders.weights, before).fill_diagonal_(0.0)


def fit_locally(
    found: SearchResult,
    odds: Tensor,  # (n, n)
    *,
    constraints: Constraints,
    edge_prior: float = 0.1,
    doubt: Doubt | None = None,
) -> LocalPosterior:
    r"""The posterior around a graph, from the evidence of its single-edge changes alone.

    Given an order, the optimal logit of an edge is its expected evidence difference plus the prior
    logit; around one dominant graph the expectation is the difference there:

    .. math:: \phi_{ij} = \mathrm{gain}_{ij} + \mathrm{logit}(p)

    Orders are mixed so that each edge points as it does with the odds given.

    Arguments:
        found: A graph with the gain of every edge, present or not.
        odds: Log-odds of the directions, of :func:`~dpdag.posterior.reversals.direction_odds`.
        constraints: Forbidden edges get −30, required ones 30; known order relations hold.
        edge_prior: Probability of an edge along the order.
        doubt: What may be stated at most; a link of either direction is then one statement.

    Example:
        >>> from dpdag import Knowledge
        >>> chain = torch.tensor([[0, 1], [0, 0]]).bool()
        >>> gain = torch.tensor([[-torch.inf, 40.0], [40.0, -torch.inf]]).double()
        >>> tie = SearchResult(chain, torch.zeros(2), gain)
        >>> free = Knowledge().resolve(2)
        >>> fit_locally(tie, torch.zeros(2, 2), constraints=free).edge_probabilities
        tensor([[0.0000, 0.5000],
                [0.5000, 0.0000]], dtype=torch.float64)
    """
    prior = math.log(edge_prior / (1 - edge_prior))
    logits = (found.gain + prior).nan_to_num(-torch.inf, torch.inf, -torch.inf)
    # An indirect effect looks like an edge against the order; it is none once edges turn round.
    indirect = reachability(found.adjacency).mT & ~found.adjacency.mT
    logits = torch.where(indirect, logits.clamp(max=prior), logits)
    if doubt is not None:
        logits = torch.where(found.adjacency.mT, logits.mT, logits).minimum(doubt.link)
        odds = odds.minimum(doubt.direction)
    orders = fit_orders(odds.clamp(min=0), found.adjacency, constraints.before)
    return LocalPosterior.within(orders, logits, constraints)
