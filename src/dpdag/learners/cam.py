"""CAM: causal additive models by greedy search."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor

from ..distributions.knowledge import Constraints
from ..evidence.divided import divided_sums
from ..ops.precedence import precedence_mask
from ..scm import fit_additive
from ..search import (
    EdgePrior,
    SearchResult,
    change_edge,
    consensus_order,
    hill_climb,
    mean_scores,
    subsamples,
)
from ..seeding import torch_generator
from .base import Solution
from .checks import Range, check_choice, check_ranges
from .model_learner import ModelLearner

_MOVES = ("add", "delete", "reverse")


@dataclass(kw_only=True, eq=False, repr=False)
class CAM(ModelLearner):
    r"""Causal additive model: every variable is a sum of smooth functions of its causes.

    .. math:: x_j = \sum_{i \in \mathrm{pa}(j)} f_{ij}(x_i) + \epsilon_j

    Edges are changed one at a time, the best first, while the evidence of the graph grows; then
    insignificant ones are pruned.

    Arguments:
        n_functions: Spline functions per variable; their smoothness is chosen from the data.
        moves: What the search may do besides adding edges: "delete" some, "reverse" those that
            stand in the way of a better one. CAM's original search is ``("add",)``.
        max_parents: At most so many causes of any variable.
        penalty: Nats of evidence an edge must be worth.
        n_bootstrap: Searches on random three quarters of the rows: their scores are averaged into
            ``edge_scores_``, and the graph follows their consensus on the order. 0 is one search
            on all rows, several times faster.
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

    n_functions: int = 8
    moves: Sequence[str] = _MOVES
    max_parents: int | None = None
    penalty: float = 3.0
    n_bootstrap: int = 20
    pns: Any = None
    prune: bool | float = True

    takes_interventions: ClassVar[bool] = True
    ranges: ClassVar[Mapping[str, Range]] = {"penalty": Range(-math.inf)}

    def _learn(self, x: Tensor, constraints: Constraints, was_set: Tensor) -> Solution:  # (rows, n)
        check_ranges(self)
        for move in self.moves:
            check_choice("moves", move, _MOVES)
        if not self.n_bootstrap:
            found = self._search(x, was_set, constraints)
            scores, order = found.edge_scores(constraints), found.order(constraints.before)
        else:
            generator = torch_generator(self.random_state, "resample")
            drawn = subsamples(len(x), self.n_bootstrap, generator=generator, was_set=was_set)
            bag = [self._search(x[rows], was_set[rows], constraints) for rows in drawn]
            scores = mean_scores([one.edge_scores(constraints) for one in bag])
            share = torch.stack([one.adjacency for one in bag]).double().mean(0)
            self.edge_stability_ = share.numpy()
            order = consensus_order(scores, share > 0, constraints.before)
            ordered = constraints.allowed & precedence_mask(order)
            found = self._search(x, was_set, replace(constraints, allowed=ordered))
        history = [{"step": k, "log_posterior": total} for k, total in enumerate(found.history)]
        fit = partial(fit_additive, n_functions=self.n_functions)
        return Solution(scores, found.adjacency, fit, order, history)

    def _search(
        self, x: Tensor, was_set: Tensor, constraints: Constraints
    ) -> SearchResult:  # (rows, n) both
        change = partial(
            change_edge, delete="delete" in self.moves, reverse="reverse" in self.moves
        )
        return hill_climb(
            divided_sums(x, was_set, n_functions=self.n_functions),
            prior=EdgePrior.priced(self.penalty),
            constraints=constraints,
            max_parents=x.shape[1] if self.max_parents is None else self.max_parents,
            moves=(change,),
        )
