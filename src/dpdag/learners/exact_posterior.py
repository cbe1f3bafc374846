"""The exact posterior over all DAGs of few variables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..columns import table_of
from ..distributions.knowledge import Constraints
from ..evidence.base import Evidence
from ..evidence.divided import divided
from ..evidence.families import FUNCTIONS, KERNEL_OF
from ..evidence.gp import GridGPEvidence
from ..evidence.mixture import MixtureEvidence
from ..ops.rows import evenly_ordered
from ..posterior import MAX_NODES, SubsetPosterior, exact_posterior
from ..scm import Mechanisms, fit_gp, fit_mixed
from ..seeding import torch_generator
from .base import Solution
from .checks import check_count, check_mechanism, resolve_device
from .model_learner import ModelLearner


@dataclass(kw_only=True, eq=False, repr=False)
class ExactPosterior(ModelLearner):
    r"""The exact posterior over DAGs of up to 14 variables, functions integrated out.

    .. math:: P(A \mid x) \propto P(A) \prod_v p(x_v \mid x_{\mathrm{pa}_A(v)})

    All parent sets of all variables are evaluated, then all orders and graphs are summed by
    dynamic programming over subsets. The truth against which approximations can be measured.

    Arguments:
        mechanism: "gp" or "network" (infinitely wide networks, which can follow jumps), with
            Gaussian noise and kernels averaged over a grid; "additive" or "linear", with noise of
            every kind averaged.
        edge_prior: Probability of an edge along the order.
        rows: Rows that the Gaussian process evidence uses at most; its time grows with the cube.
        knowledge: A :class:`~dpdag.Knowledge`.
        pns: Neighbour selection first: "additive", "trees" or an (n, n) mask.
        prune: Test every edge at level 0.001, or the level given.
        device: Where the matrices live: "cpu", "cuda" or "auto".
        random_state: For the choice of rows.

    Attributes:
        edge_probabilities_: (n, n) P(i → j | x); also ``edge_scores_``.
        ancestor_probabilities_: (n, n) P(i ⇝ j | x).
        precedence_probabilities_: (n, n) P(i before j | x).

    References:
        | Exact Bayesian structure discovery in Bayesian networks (Koivisto and Sood, 2004)

    Example:
        >>> rng = np.random.default_rng(0)
        >>> a = rng.normal(size=200)
        >>> b = np.sin(2 * a) + 0.2 * rng.normal(size=200)
        >>> ExactPosterior().fit(np.stack([b, a], axis=1)).adjacency_.tolist()
        [[0, 0], [1, 0]]
    """

    mechanism: str = "gp"
    edge_prior: float = 0.1
    rows: int = 300
    pns: Any = None
    device: str = "auto"

    takes_interventions: ClassVar[bool] = True

    def sample_dags(self, k: int, random_state: Any = None) -> NDArray[np.int64]:  # (k, n, n)
        """DAGs drawn independently from the posterior."""
        self._fitted()
        check_count("k", k)
        generator = torch_generator(random_state, "sample_dags")
        return self.posterior_.sample(k, generator=generator).numpy().astype(int)

    def _learn(self, x: Tensor, constraints: Constraints, was_set: Tensor) -> Solution:  # (rows, n)
        n = x.shape[1]
        if n > MAX_NODES:
            raise ValueError(
                f"ExactPosterior sums over 2^n subsets, for up to {MAX_NODES} columns; got {n}. "
                "Use DAGPosterior."
            )
        self.posterior_: SubsetPosterior = exact_posterior(
            self._divided(x, was_set), edge_prior=self.edge_prior, constraints=constraints
        )
        found = self.posterior_
        probabilities = found.edge_probabilities.clamp(0, 1)  # sums may round to a little above
        self.edge_probabilities_ = probabilities.numpy()
        self.precedence_probabilities_ = found.precedence_probabilities.numpy()
        self.ancestor_probabilities_ = found.ancestor_probabilities.numpy()
        return Solution(
            probabilities,
            found.best.adjacency,
            partial(_fitted, mechanism=self.mechanism, rows=self.rows),
            found.best.order,
            history=[{"log_score": found.best.log_score}],
        )

    def _divided(self, x: Tensor, was_set: Tensor) -> Evidence:  # (rows, n), (rows, n) bool
        check_mechanism(self.mechanism, FUNCTIONS)
        if self.mechanism in KERNEL_OF and bool(was_set.any()):
            # Of the same rows for all columns, equally many of every experiment.
            drawn = torch.randperm(len(x), generator=torch_generator(self.random_state, "rows"))
            rows = evenly_ordered(drawn, was_set)[: self.rows]
            x, was_set = x[rows], was_set[rows]
        return divided(was_set, lambda rows: self._evidence(x[rows], was_set[rows]))

    def _evidence(self, x: Tensor, was_set: Tensor) -> Evidence:  # (rows, n), (rows, n) bool
        if self.mechanism in KERNEL_OF:
            seed = 0 if self.random_state is None else self.random_state
            return GridGPEvidence(
                x,
                rows=self.rows,
                kernel=KERNEL_OF[self.mechanism],
                device=resolve_device(self.device),
                random_state=seed,
            )
        return MixtureEvidence(table_of(x, was_set), functions=(self.mechanism,))


def _fitted(x: Tensor, adjacency: Tensor, *, mechanism: str, rows: int) -> Mechanisms:
    """The functions of the family asked for on a graph."""
    if mechanism in KERNEL_OF:
        return fit_gp(x, adjacency, rows=rows, kernel=KERNEL_OF[mechanism])
    return fit_mixed(x, adjacency, MixtureEvidence(table_of(x), functions=(mechanism,)))
