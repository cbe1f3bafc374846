"""The posterior over graphs of few nodes, as the graphs that hold most of it."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ..distributions.knowledge import Constraints
from ..evidence.base import Evidence
from ..ops.subsets import edge_weights, sum_over_orders
from .doubt import Doubt
from .exact import exact_posterior
from .local import LocalPosterior
from .orders import fit_orders

__all__ = ["WeightedGraphs", "likely_graphs"]

_DRAWS = 2000  # of graphs
_CHUNK = 64  # graphs whose orders are counted at once


class WeightedGraphs(NamedTuple):
    """Graphs and what they weigh.

    Attributes:
        graphs: (k, n, n) bool, each once.
        weights: (k,) that sum to one.
        best: (n, n) bool, the graph that is likeliest together with an order.
    """

    graphs: Tensor
    weights: Tensor
    best: Tensor

    def posteriors(self, constraints: Constraints, doubt: Doubt) -> list[LocalPosterior]:
        """Every graph as a DP-DAG that is as certain of it as experience allows."""
        links = [doubt.link.where(graph | graph.mT, -torch.inf) for graph in self.graphs]
        orders = [fit_orders(doubt.direction, graph, constraints.before) for graph in self.graphs]
        return [LocalPosterior.within(*both, constraints) for both in zip(orders, links)]


def likely_graphs(
    evidence: Evidence,
    *,
    edge_prior: float,
    constraints: Constraints,
) -> WeightedGraphs:
    r"""Graphs drawn from the exact posterior, weighted as if all DAGs were alike beforehand.

    .. math:: w(A) \propto \frac{\#\{\text{draws of } A\}}{\#\{\text{orders of } A\}}

    The sum over orders counts a graph once for every order it has; dividing by their number
    leaves Markov equivalent graphs equally likely.
    """
    exact = exact_posterior(evidence, edge_prior=edge_prior, constraints=constraints)
    drawn = exact.sample(_DRAWS, generator=torch.Generator().manual_seed(0))
    graphs, counts = drawn.unique(dim=0, return_counts=True)
    share = torch.cat([_share_of_orders(part) for part in graphs.split(_CHUNK)])
    weights = counts / share
    return WeightedGraphs(graphs, weights / weights.sum(), exact.best.adjacency)


def _share_of_orders(graphs: Tensor) -> Tensor:  # (k, n, n) bool -> (k,)
    """The share of all n! orders that agree with each graph."""
    free = torch.zeros(graphs.shape, dtype=torch.float64)
    allowed = edge_weights(free, free, graphs)
    return sum_over_orders(free[..., 0], allowed).exp()
