"""The exact posterior over all DAGs of few variables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ..distributions.knowledge import Constraints, Knowledge
from ..evidence.additive import AdditiveEvidence
from ..evidence.base import Evidence
from ..evidence.bge import BGeEvidence
from ..evidence.free_noise import FreeNoiseEvidence
from ..evidence.gp_grid import GridGPEvidence
from ..scm import Mechanisms, fit_additive, fit_gp, fit_location_scale
from ..search.exact import MAX_NODES, SubsetPosterior, exact_posterior
from ..seeding import torch_generator
from .answers import ModelLearner
from .base import Solution
from .checks import resolve_device
from .families import INTEGRATED
from .storage import record

__all__ = ["ExactPosterior"]

record(SubsetPosterior)


class ExactPosterior(ModelLearner):
    r"""The exact posterior over DAGs of up to 14 variables, functions integrated out.

    .. math:: P(A \mid x) \propto P(A) \prod_v p(x_v \mid x_{\mathrm{pa}_A(v)})

    All parent sets of all variables are evaluated, then all orders and graphs are summed by
    dynamic programming over subsets. The truth against which approximations can be measured.

    Arguments:
        mechanism: "gp", "network" (infinitely wide networks, which can follow jumps), "additive"
            or "linear", with Gaussian noise; "free-noise", additive with noise of any shape; or
            "location-scale", where the size of the noise depends on the parents too.
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

    def __init__(
        self,
        *,
        mechanism: str = "gp",
        edge_prior: float = 0.1,
        rows: int = 300,
        knowledge: Knowledge | None = None,
        pns: Any = None,
        prune: bool | float = False,
        device: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.mechanism = mechanism
        self.edge_prior = edge_prior
        self.rows = rows
        self.knowledge = knowledge
        self.pns = pns
        self.prune = prune
        self.device = device
        self.random_state = random_state

    def sample_dags(self, k: int, random_state: Any = None) -> NDArray[np.int64]:  # (k, n, n)
        """DAGs drawn independently from the posterior."""
        self._fitted()
        generator = torch_generator(random_state, "sample_dags")
        return self.posterior_.sample(k, generator=generator).numpy().astype(int)

    def _learn(self, x: Tensor, constraints: Constraints) -> Solution:  # (rows, n)
        n = x.shape[1]
        if n > MAX_NODES:
            raise ValueError(
                f"ExactPosterior sums over 2^n subsets, for up to {MAX_NODES} columns; got {n}. "
                "Use VIDPDAG."
            )
        self.posterior_: SubsetPosterior = exact_posterior(
            self._evidence(x), edge_prior=self.edge_prior, constraints=constraints
        )
        found = self.posterior_
        self.edge_probabilities_ = found.edge_probabilities.numpy()
        self.precedence_probabilities_ = found.precedence_probabilities.numpy()
        self.ancestor_probabilities_ = found.ancestor_probabilities.numpy()
        return Solution(
            found.edge_probabilities,
            found.best.adjacency,
            self._functions,
            found.best.order,
            history=[{"log_score": found.best.log_score}],
        )

    def _evidence(self, x: Tensor) -> Evidence:
        kernel = INTEGRATED[self.mechanism].kernel
        if kernel is not None:
            seed = 0 if self.random_state is None else self.random_state
            device = resolve_device(self.device)
            return GridGPEvidence(
                x, rows=self.rows, kernel=kernel, device=device, random_state=seed
            )
        if self.mechanism == "additive":
            return AdditiveEvidence(x)
        if self.mechanism == "linear":
            return BGeEvidence(x)
        return FreeNoiseEvidence(x, scaled=self.mechanism == "location-scale")

    def _functions(self, x: Tensor, adjacency: Tensor) -> Mechanisms:
        kernel = INTEGRATED[self.mechanism].kernel
        if kernel is not None:
            return fit_gp(x, adjacency, rows=self.rows, kernel=kernel)
        if self.mechanism == "location-scale":
            return fit_location_scale(x, adjacency)
        return fit_additive(x, adjacency)
