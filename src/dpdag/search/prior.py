"""How many edges to expect."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..distributions.knowledge import Constraints

__all__ = ["EdgePrior"]


class EdgePrior(NamedTuple):
    r"""Prior over the number of edges, all graphs with the same number being equally likely.

    .. math:: P(A) = \int p^{k} (1 - p)^{M - k}\, \mathrm{Beta}(p \mid 1, n)\, dp

    with k the edges of A and M the pairs of columns that may have one. The density p of edges is
    not known beforehand: half a parent per column is expected however many columns there are, and
    tables that show more edges make further ones likelier, so that among many columns of noise
    the first false edge costs :math:`\log M` nats, and in a dense graph a true one costs little.

    Arguments:
        pairs: M.
        nodes: n.
        price: Nats that every edge costs, where that is known.

    Example:
        >>> round(EdgePrior(45, 10).cost(0), 2), round(EdgePrior(45, 10).cost(10), 2)
        (3.99, 1.39)
        >>> round(EdgePrior(45, 10, price=2.2).cost(7), 2)
        2.2
    """

    pairs: int
    nodes: int
    price: float | None = None

    @classmethod
    def of(cls, constraints: Constraints, probability: float | None = None) -> EdgePrior:
        """For the pairs of columns that constraints leave."""
        possible = constraints.allowed | constraints.allowed.mT
        price = None if probability is None else math.log(1 / probability - 1)
        return cls(int(possible.sum()) // 2, len(possible), price)

    @classmethod
    def priced(cls, nats: float) -> EdgePrior:
        """Every edge at the same price."""
        return cls(0, 0, nats)

    def fixed(self) -> EdgePrior:
        """The same with one parent per column expected, whatever the graph."""
        if self.price is not None:
            return self
        density = min(0.5, self.nodes / max(self.pairs, 1))
        return self._replace(price=math.log(1 / density - 1))

    def cost(self, edges: int) -> float:
        """Nats that one edge more costs."""
        if self.price is not None:
            return self.price
        absent = max(self.pairs - edges, 1) - 1
        return math.log((absent + self.nodes) / (edges + 1))

    def log(self, edges: int) -> float:
        """Log prior of a graph, over that of the empty one."""
        if self.price is not None:
            return -edges * self.cost(0)
        absent = max(self.pairs - edges, 0) + self.nodes
        empty = math.lgamma(self.pairs + self.nodes)
        return math.lgamma(edges + 1) + math.lgamma(absent) - empty

    def density(self, edges: int) -> float:
        """Probability of an edge, given how many there are."""
        return 1 / (1 + math.exp(self.cost(edges)))
