r"""Fit a DP-DAG distribution to an evidence instead of to networks.

The functions are integrated out, so the bound of VI-DP-DAG needs only scores of parent sets:

.. math:: \mathcal L(\psi, \phi) = \mathbb E_{\pi, A}\Big[\sum_v s(v, \mathrm{pa}_A(v))\Big]
          - \sum_{ij} P_\psi(i \prec j)\, \mathrm{KL}(\sigma(\phi_{ij}) \,\|\, p)
          - \mathrm{KL}(P_\psi \,\|\, \text{uniform})
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor

from ..distributions.knowledge import Constraints, Knowledge
from ..ops.graphs import reachability, topological_order
from ..search import SearchResult
from .doubt import Doubt

__all__ = ["LocalPosterior", "fit_locally", "fit_order"]

_LARGEST = 30.0  # logits beyond this are certainty in float32 too
_NEVER = 1e6  # nats beyond any evidence


@dataclass(frozen=True)
class LocalPosterior:
    """Parameters of a DP-DAG posterior.

    Attributes:
        order_logits: (n,) ψ, larger comes first.
        edge_logits: (n, n) φ of i → j given that i comes first; −30 on the diagonal.
    """

    order_logits: Tensor
    edge_logits: Tensor

    def relabelled(self, order: Tensor) -> LocalPosterior:  # (n,)
        """The same with node ``order[k]`` in place k."""
        return LocalPosterior(self.order_logits[order], self.edge_logits[order][:, order])

    @property
    def edge_probabilities(self) -> Tensor:  # (n, n)
        """σ(φ_ij) σ(ψ_i − ψ_j), zero on the diagonal."""
        before = torch.sigmoid(self.order_logits[:, None] - self.order_logits)
        return (torch.sigmoid(self.edge_logits) * before).fill_diagonal_(0.0)


def fit_locally(
    found: SearchResult,
    *,
    edge_prior: float = 0.1,
    constraints: Constraints | None = None,
    certainty: float = 12.0,
    odds: Tensor | None = None,  # (n, n)
    doubt: Doubt | None = None,
) -> LocalPosterior:
    r"""The posterior around a graph, from the evidence of its single-edge changes alone.

    Given an order, the optimal logit of an edge is its expected evidence difference plus the prior
    logit; around one dominant graph the expectation is the difference there:

    .. math:: \phi_{ij} = \mathrm{gain}_{ij} + \mathrm{logit}(p)

    The order keeps the graph's edges forward. The log-odds that an edge's ends stand as they do
    is what their edge brings more than its reversal would, and ψ fits these odds by maximum
    likelihood with non-increasing steps along a topological order.

    Arguments:
        found: A graph with the gain of every edge, present or not.
        edge_prior: Probability of an edge along the order.
        constraints: Forbidden edges get −30, required ones 30, and known order relations the
            largest odds.
        certainty: Largest log-odds of any precedence.
        odds: Of the directions, where :func:`~dpdag.posterior.reversals.direction_odds` knows them
            better than single reversals tell.
        doubt: What may be stated at most; a link of either direction is then one statement.

    Example:
        >>> chain = torch.tensor([[0, 1], [0, 0]]).bool()
        >>> gain = torch.tensor([[-torch.inf, 40.0], [40.0, -torch.inf]]).double()
        >>> tie = SearchResult(chain, torch.zeros(2), gain, chain)
        >>> fit_locally(tie).edge_probabilities.round(decimals=2)
        tensor([[0.0000, 0.5000],
                [0.5000, 0.0000]], dtype=torch.float64)
    """
    n = len(found.adjacency)
    limits = Knowledge().resolve(n) if constraints is None else constraints
    prior = math.log(edge_prior / (1 - edge_prior))
    logits = (found.gain + prior).nan_to_num(nan=-_NEVER, neginf=-_NEVER, posinf=_NEVER)
    # An indirect effect looks like an edge against the order; it is none once edges turn round.
    indirect = reachability(found.adjacency).mT & ~found.adjacency.mT
    logits = torch.where(indirect, logits.clamp(max=prior), logits)
    if doubt is not None:
        logits = torch.where(found.adjacency.mT, logits.mT, logits).minimum(doubt.link)
    logits = logits.masked_fill(~limits.allowed, -_NEVER)
    logits = logits.masked_fill(limits.required, _NEVER)
    if odds is None:
        worth = torch.nn.functional.softplus(logits)  # log of the evidence with i → j optional
        odds = worth - worth.mT
    odds = odds.clamp(-certainty, certainty)
    if doubt is not None:
        odds = odds.clamp(-doubt.direction, doubt.direction)
    odds = torch.where(found.adjacency, odds.clamp(min=0), 0.0)
    odds = torch.where(limits.before, certainty, odds)
    order = topological_order(found.adjacency | limits.before)
    psi = fit_order(odds, found.adjacency | limits.before, order)
    return LocalPosterior(psi, logits.clamp(-_LARGEST, _LARGEST))


def fit_order(odds: Tensor, pairs: Tensor, order: Tensor) -> Tensor:  # (n, n), (n, n), (n,)
    r"""Scores along ``order`` whose differences match ``odds`` on ``pairs``.

    .. math:: \max_{\psi} \sum_{ij} \sigma(o_{ij}) \log \sigma(\psi_i - \psi_j)
              + \sigma(-o_{ij}) \log \sigma(\psi_j - \psi_i) - \lambda \lVert \delta \rVert^2

    with steps δ ≥ 0 from one position to the next, and the least ridge that keeps them finite.
    """
    n = len(order)
    position = order.argsort()
    first, second = pairs.nonzero(as_tuple=True)
    chance = torch.sigmoid(odds[first, second]).double()
    if n < 2 or not len(first):
        return -1e-6 * position.double()
    # step k separates positions k and k + 1; a pair's difference is the sum of steps between
    level = torch.arange(n - 1)
    between = (position[first][:, None] <= level) & (level < position[second][:, None])
    between = between.double()

    def loss(steps: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        delta = torch.from_numpy(steps)
        difference = between @ delta
        value = torch.nn.functional.softplus(difference) - chance * difference
        gradient = between.T @ (torch.sigmoid(difference) - chance) + 1e-6 * delta
        return float(value.sum() + 5e-7 * delta.square().sum()), gradient.numpy()

    # A tiny least step keeps the sorted scores in the given order.
    bounds = [(1e-6, 2 * _LARGEST)] * (n - 1)
    solved = minimize(loss, np.ones(n - 1), jac=True, method="L-BFGS-B", bounds=bounds)
    delta = torch.as_tensor(solved.x, dtype=torch.float64)
    scores = torch.cat([torch.zeros(1, dtype=torch.float64), -delta.cumsum(0)])
    return (scores - scores.mean())[position]
