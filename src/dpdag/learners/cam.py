"""CAM: causal additive models by greedy search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..distributions.knowledge import Constraints, Knowledge
from ..evidence.additive import AdditiveEvidence
from ..scm import AdditiveMechanisms, fit_additive
from ..search import SearchResult, bootstrap_weights, greedy
from ..seeding import torch_generator
from .base import DAGLearner, Solution

__all__ = ["CAM"]


class CAM(DAGLearner):
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
        n_bootstrap: Resamples whose scores are averaged into ``edge_scores_``, and whose share of
            graphs with each edge is ``edge_stability_``.
        knowledge: A :class:`~dpdag.Knowledge`.
        pns: Neighbour selection first: "additive", "trees" or an (n, n) mask.
        prune: Test every edge at level 0.001, or the level given.
        random_state: For the resamples and for ``pns="trees"``.

    Attributes:
        edge_stability_: (n, n) share of resamples with each edge, where ``n_bootstrap`` > 0.

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

    edge_stability_: Any

    def __init__(
        self,
        *,
        n_functions: int = 10,
        moves: Sequence[str] = ("add", "delete", "reverse"),
        max_parents: int | None = None,
        penalty: float = 0.0,
        n_bootstrap: int = 0,
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

    def _learn(self, x: Tensor, constraints: Constraints) -> Solution:  # (rows, n)
        found = self._search(AdditiveEvidence(x, n_functions=self.n_functions), constraints)
        scores = found.edge_scores
        if self.n_bootstrap:
            generator = torch_generator(self.random_state, "bootstrap")
            weights = bootstrap_weights(len(x), self.n_bootstrap, generator=generator)
            evidence = AdditiveEvidence(x, n_functions=self.n_functions, weights=weights)
            replicas = self._search(evidence, constraints)
            self.edge_stability_ = replicas.adjacency.double().mean(0).numpy()
            scores = torch.cat([scores[None], replicas.edge_scores]).mean(0)
        return Solution(scores, found.adjacency, found.order, history=found.history)

    def _search(self, evidence: AdditiveEvidence, constraints: Constraints) -> SearchResult:
        return greedy(
            evidence,
            moves=self.moves,
            constraints=constraints,
            max_parents=self.max_parents,
            penalty=self.penalty,
        )

    def _mechanisms(self, x: Tensor, adjacency: Tensor) -> AdditiveMechanisms:
        return fit_additive(x, adjacency, n_functions=self.n_functions)
