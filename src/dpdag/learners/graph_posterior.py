"""What learners with a posterior over graphs answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..distributions import DAGMixture
from ..ops.graphs import reachability
from ..seeding import torch_generator
from .answers import ModelLearner
from .base import Array, Job, Solution


class PosteriorLearner(ModelLearner):
    """A learner whose solution is a distribution over DAGs.

    Attributes:
        posterior_: The :class:`~dpdag.distributions.DAGMixture` itself.
        edge_probabilities_: (n, n) posterior probability of every edge.
        linked_probabilities_: (n, n) probability of an edge in either direction.
    """

    posterior_: DAGMixture
    edge_probabilities_: Array
    linked_probabilities_: Array

    def sample_dags(self, k: int, random_state: Any = None) -> np.ndarray:  # -> (k, n, n)
        """Draw DAGs from the posterior, 0/1 integers."""
        self._fitted()
        generator = torch_generator(random_state, "dags")
        return self.posterior_.sample((k,), generator=generator).numpy().astype(int)

    def ancestor_probabilities(self, k: int = 1000, random_state: Any = 0) -> Array:  # -> (n, n)
        """Probability that i is an ancestor of j, over ``k`` sampled DAGs."""
        graphs = torch.from_numpy(self.sample_dags(k, random_state))
        return reachability(graphs).double().mean(0).numpy()

    def _finish(self, job: Job, solution: Solution) -> None:
        super()._finish(job, solution)
        self.edge_probabilities_ = self.posterior_.edge_marginals.double().numpy()
        self.linked_probabilities_ = self.edge_probabilities_ + self.edge_probabilities_.T
