"""CAM: causal additive models by greedy search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from torch import Tensor

from ..distributions.knowledge import Constraints, Knowledge
from ..evidence.base import Evidence
from ..evidence.divided import divided_sums
from ..scm import AdditiveMechanisms, fit_additive
from ..search import SearchResult, consensus_order, greedy, mean_scores, subsamples
from ..seeding import torch_generator
from .answers import ModelLearner
from .base import Solution
from .checks import Range, check_ranges

__all__ = ["CAM"]

_RANGES = {
    "n_functions": Range(1, integer=True),
    "max_parents": Range(1, integer=True, optional=True),
    "n_bootstrap": Range(0, integer=True),
    "penalty": Range(-math.inf),
}
MEMORY = 2**26  # numbers in the Gram matrices held at once, 512 MiB


class CAM(ModelLearner):
    r"""Causal additive model: every variable is a sum of smooth functions of its causes.

    .. math:: x_j = \sum_{i \in \mathrm{pa}(j)} f_{ij}(x_i) + \epsilon_j

    Edges are changed one at a time, the best first, while the evidence of the graph grows; then
    insignificant ones are pruned.

    Arguments:
        n_functions: Spline functions per variable; their smoothness is chosen from the data.
        moves: What the search may do with an edge: "add", "delete", "reverse". CAM's original
            search is ``("add",)``.
        max_parents: At most so many causes of any variable.
        penalty: Nats of evidence an edge must be worth.
        n_bootstrap: Random three quarters of the rows, so many times, searched as one batch: their
            scores are averaged into ``edge_scores_``, and the graph follows their consensus on the
            order. 0 is one search on all rows, several times faster.
        knowledge: A :class:`~dpdag.Knowledge`.
        pns: Neighbour selection first: "additive", "trees" or an (n, n) mask.
        prune: Test every edge at level 0.001, or the level given.
        random_state: For the resamples and for ``pns="trees"``.

    Attributes:
        edge_stability_: (n, n) share of the resamples' graphs with each edge.

    References:
        Bühlmann, Peters & Ernest, *CAM: causal additive models*, 2014.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> a = rng.normal(size=300)
        >>> b = np.sin(2 * a) + 0.2 * rng.normal(size=300)
        >>> CAM().fit(np.stack([b, a], axis=1)).adjacency_.tolist()
        [[0, 0], [1, 0]]
    """

    takes_interventions: ClassVar[bool] = True
    edge_stability_: Any

    def __init__(
        self,
        *,
        n_functions: int = 8,
        moves: Sequence[str] = ("add", "delete", "reverse"),
        max_parents: int | None = None,
        penalty: float = 3.0,
        n_bootstrap: int = 20,
        knowledge: Knowledge | None = None,
        pns: Any = None,
        prune: bool | float = True,
        random_state: Any = None,
    ) -> None:
        self.n_functions = n_functions
        self.moves = moves
        self.max_parents = max_parents
        self.penalty = penalty
        self.n_bootstrap = n_bootstrap
        self.knowledge = knowledge
        self.pns = pns
        self.prune = prune
        self.random_state = random_state

    def _learn(self, x: Tensor, constraints: Constraints, was_set: Tensor) -> Solution:  # (rows, n)
        check_ranges(self.get_params(deep=False), _RANGES)
        evidence = self._evidence(x, was_set)
        if not self.n_bootstrap:
            found = self._search(evidence, constraints)
            return Solution(
                found.edge_scores, found.adjacency, self._functions, found.order, found.history
            )
        bag = self._bag(x, constraints, was_set)
        self.edge_stability_ = bag.adjacency.double().mean(0).numpy()
        order = consensus_order(bag, before=constraints.before)
        ordered = constraints.allowed & _earlier(order)
        found = self._search(evidence, replace(constraints, allowed=ordered))
        return Solution(mean_scores(bag), found.adjacency, self._functions, order, found.history)

    def _evidence(self, x: Tensor, was_set: Tensor, weights: Tensor | None = None) -> Evidence:
        return divided_sums(x, was_set, weights=weights, n_functions=self.n_functions)

    def _bag(self, x: Tensor, constraints: Constraints, was_set: Tensor) -> SearchResult:
        """Search all resamples, as many at once as memory allows."""
        generator = torch_generator(self.random_state, "resample")
        weights = subsamples(len(x), self.n_bootstrap, generator=generator, was_set=was_set)
        at_once = max(1, MEMORY // (x.shape[1] * self.n_functions) ** 2)
        return SearchResult.join(
            [
                self._search(self._evidence(x, was_set, some), constraints)
                for some in weights.split(at_once)
            ]
        )

    def _search(self, evidence: Evidence, constraints: Constraints) -> SearchResult:
        return greedy(
            evidence,
            moves=self.moves,
            constraints=constraints,
            max_parents=self.max_parents,
            penalty=self.penalty,
        )

    def _functions(self, x: Tensor, adjacency: Tensor) -> AdditiveMechanisms:
        return fit_additive(x, adjacency, n_functions=self.n_functions)


def _earlier(order: Tensor) -> Tensor:  # (n,) nodes -> (n, n) bool
    """Entry (i, j) is true when i comes before j."""
    place = order.argsort()
    return place[:, None] < place
