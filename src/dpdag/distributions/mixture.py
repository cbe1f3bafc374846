"""Several distributions over DAGs as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from ..ops.precedence import precedence_mask
from .dag import DAGDistribution


@dataclass(frozen=True)
class DAGMixture:
    r"""A weighted mixture of the batch of a :class:`DAGDistribution`.

    .. math:: P(A) = \sum_k w_k P_{\phi_k, \psi_k}(A)

    Arguments:
        components: A distribution of batch shape (k,).
        weights: (k,) that sum to one.

    Example:
        >>> from dpdag import DPDAG
        >>> mixture = DAGMixture(DPDAG(3, batch_shape=(4,))(), torch.full((4,), 0.25))
        >>> mixture.sample((7,)).shape
        torch.Size([7, 3, 3])
    """

    components: DAGDistribution
    weights: Tensor

    def _mean(self, values: Tensor) -> Tensor:  # (k, …) -> (…)
        mean = torch.einsum("k,k...->...", self.weights.double(), values.double())
        return mean.to(values.dtype)  # sums of many parts, each rounded, are none in float32

    @property
    def edge_marginals(self) -> Tensor:  # (n, n)
        """P(A_ij = 1)."""
        return self._mean(self.components.edge_marginals).clamp(max=1.0)

    @property
    def precedence_probabilities(self) -> Tensor:  # (n, n)
        """P(i before j)."""
        return self._mean(self.components.precedence_probabilities)

    @property
    def modal_edge_probabilities(self) -> Tensor:  # (n, n)
        """The paper's score, averaged over the components, each under its own modal order."""
        return self._mean(self.components.modal_edge_probabilities)

    @property
    def mode_order(self) -> Tensor:  # (n,)
        """The modal order of one component; of several, nodes by how many they tend to precede."""
        if len(self.weights) == 1:
            return self.components.permutation.mode_order[0]
        wins = self.precedence_probabilities.sum(-1)
        # Precedence keeps hard constraints: a node that must come first wins strictly more.
        return wins.argsort(descending=True, stable=True)

    @property
    def mode(self) -> Tensor:  # (n, n)
        """Edges along the modal order that are more likely than not, given that it holds."""
        joint, before = self.edge_marginals, self.precedence_probabilities
        likely = joint > 0.5 * before
        return (likely & precedence_mask(self.mode_order)).to(joint.dtype)

    def sample(
        self, sample_shape: Sequence[int] = (), *, generator: Generator | None = None
    ) -> Tensor:  # (*sample, n, n)
        """DAGs, each from a component drawn by weight."""
        count = int(torch.Size(sample_shape).numel())
        chosen = torch.multinomial(self.weights, count, replacement=True, generator=generator)
        n = self.components.n_nodes
        graphs = self.components.edges.logits.new_empty(count, n, n)
        draws = torch.bincount(chosen, minlength=len(self.weights))
        pool = self.components.sample((int(draws.max()),), generator=generator)
        for k, number in enumerate(draws.tolist()):
            graphs[chosen == k] = pool[:number, k]
        return graphs.reshape(*sample_shape, n, n)

    def log_prob(self, value: Tensor) -> Tensor:  # (*, n, n) -> (*)
        """Exact log-probability of DAGs, for small n."""
        each = self.components.log_prob(value.unsqueeze(-3))
        return (each + self.weights.log().to(each)).logsumexp(-1)
