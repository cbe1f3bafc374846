"""DP-DAG: the distribution over DAGs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import torch
from torch import Generator, Tensor
from torch.distributions import Distribution
from torch.distributions.constraints import Constraint

from ..ops.dags import dags_by_scores, dags_by_seeds
from ..ops.enumeration import all_dags
from ..ops.kernels import has_kernels
from ..ops.precedence import precedence_mask
from ..ops.subsets import MAX_NODES, edge_weights, sum_over_orders
from .edges import EdgeDistribution
from .permutation import Estimate, PermutationDistribution

_CHUNK_BYTES = 2**28  # memory for the subset tables of log_prob


class Noise(NamedTuple):
    """The randomness of DAG samples: Gumbel for the order, logistic for the edges."""

    order: Tensor
    edges: Tensor


class Seeds(NamedTuple):
    """The same as seeds, of which kernels make the noise where they need it."""

    values: Tensor  # (1) for all samples, or (*batch) int64
    sample_shape: Sequence[int] = ()


class DAGDistribution(Distribution):
    r"""A distribution over directed acyclic graphs that can be sampled and differentiated.

    .. math:: P(A) = \sum_{\Pi, U:\, A = \Pi^T U \Pi} P_\psi(\Pi)\, P_\phi(U)

    A sample is a random order and random edges, kept where they point forward in the order:
    acyclic for any parameters. Shapes are ``(*sample, *batch, n, n)``; ``A[i, j] = 1`` means i → j.

    Arguments:
        permutation: Distribution over orders, of batch shape ``batch``.
        edges: Distribution over edges, of the same batch shape.

    References:
        | Differentiable DAG Sampling (Charpentier et al., 2022)
        | https://arxiv.org/abs/2203.08509

    Example:
        >>> from dpdag import DPDAG
        >>> q = DPDAG(n_nodes=3)()
        >>> A = q.rsample((100,))
        >>> A.shape
        torch.Size([100, 3, 3])
        >>> q.edge_marginals[0, 1].item()  # σ(φ) · P(0 before 1) = ½ · ½
        0.25
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {}
    has_rsample = True

    def __init__(self, permutation: PermutationDistribution, edges: EdgeDistribution) -> None:
        batch, event = edges.batch_shape, edges.event_shape
        if (permutation.batch_shape, permutation.event_shape) != (batch, event):
            raise ValueError(
                "'permutation' and 'edges' must have the same batch and nodes; got "
                f"{(*permutation.batch_shape, *permutation.event_shape)} and {(*batch, *event)}."
            )
        self.permutation = permutation
        self.edges = edges
        self.n_nodes = permutation.n_nodes
        super().__init__(batch_shape=batch, event_shape=event)

    def rsample(
        self, sample_shape: Sequence[int] = (), *, generator: Generator | None = None
    ) -> Tensor:  # (*sample, *batch, n, n)
        """DAGs, exactly 0 or 1, with gradients to the logits of order and edges."""
        return self.dags_from(self.draw_noise(sample_shape, generator))

    @property
    def seeded(self) -> bool:
        """Whether kernels make the samples, from seeds instead of noise."""
        logits = self.permutation.logits, self.edges.logits_along_orders
        return self.permutation.by_scores and all(map(has_kernels, logits))

    def draw_noise(
        self, sample_shape: Sequence[int], generator: Generator | None = None
    ) -> Noise | Seeds:
        """All that is random in a number of samples."""
        if self.seeded and torch.Size((*sample_shape, *self.batch_shape)).numel():
            seed = torch.empty(1, dtype=torch.int64, device=self.permutation.logits.device)
            return Seeds(seed.random_(generator=generator), sample_shape)
        order = self.permutation.draw_noise(sample_shape, generator)
        return Noise(order, self.edges.draw_noise(sample_shape, generator))

    def dags_from(self, noise: Noise | Seeds) -> Tensor:  # (*sample, *batch, n, n)
        """The DAGs that given noise makes, with gradients to the logits."""
        if not self.permutation.by_scores:
            assert isinstance(noise, Noise)
            return self.edges.edges_from(noise.edges, self.permutation.mask_from(noise.order))
        make = dags_by_scores if isinstance(noise, Noise) else dags_by_seeds
        return make(
            self.permutation.logits,
            self.edges.logits_along_orders,
            *noise,
            temperature=self.permutation.temperature,
            edge_temperature=self.edges.temperature,
        )

    def sample(
        self, sample_shape: Sequence[int] = (), *, generator: Generator | None = None
    ) -> Tensor:
        """DAGs without gradients; the same ones as ``rsample`` under the same generator."""
        if self.permutation.by_scores:
            with torch.no_grad():
                return self.rsample(sample_shape, generator=generator)
        order = self.permutation.sample_order(sample_shape, generator=generator)
        mask = precedence_mask(order, self.permutation.logits.dtype)
        return self.edges.sample(sample_shape, generator=generator).mul_(mask)

    @property
    def mode(self) -> Tensor:  # (*batch, n, n)
        """The DAG without noise: edges more likely than not, along the modal order."""
        return self.edges.mode * self._modal_mask

    @property
    def modal_edge_probabilities(self) -> Tensor:  # (*batch, n, n)
        r"""The score of the paper, :math:`P_\phi(U_{\pi(i)\pi(j)})`: σ(φ) under the modal order."""
        return self.edges.probabilities * self._modal_mask

    @property
    def _modal_mask(self) -> Tensor:
        return precedence_mask(self.permutation.mode_order, self.edges.logits.dtype)

    @property
    def precedence_probabilities(self) -> Tensor:  # (*batch, n, n)
        """P(i before j); exact for "topk", a Monte-Carlo mean for "sinkhorn"."""
        return self.permutation.precedence_probabilities

    @property
    def edge_marginals(self) -> Tensor:  # (*batch, n, n)
        r"""P(A_ij = 1) = σ(φ_ij) · P(i before j); exact for "topk".

        For "sinkhorn" a Monte-Carlo mean over 4096 orders from a fixed seed;
        :meth:`estimate_edge_marginals` gives its standard error or another number of orders.
        """
        return self.edges.probabilities * self.precedence_probabilities

    mean = edge_marginals

    def estimate_edge_marginals(self, n_samples: int | None = None, *, seed: int = 0) -> Estimate:
        """Edge marginals with their standard error, zero where they are exact."""
        if self.permutation.exact and n_samples is None:
            exact = self.edge_marginals
            return Estimate(exact, torch.zeros_like(exact))
        precedence = self.permutation.estimate_precedence(n_samples, seed=seed)
        p = self.edges.probabilities
        return Estimate(p * precedence.value, p * precedence.standard_error)

    def log_prob(self, value: Tensor) -> Tensor:  # (*, n, n) -> (*)
        r"""Exact log-probability of DAGs, −∞ for graphs that cannot be.

        Sums over all compatible orders by dynamic programming over subsets of nodes: n up to 15.
        """
        self._check_graphs(value)
        shape = torch.broadcast_shapes(value.shape[:-2], self.batch_shape)
        n = self.n_nodes
        order_logits = self.permutation.logits.expand(*shape, n).reshape(-1, n)
        present, absent, graphs = (
            x.expand(*shape, n, n).reshape(-1, n, n) for x in (*self.edges.log_probabilities, value)
        )
        chunk = max(1, _CHUNK_BYTES // (8 * n * 2**n))
        pieces = [
            sum_over_orders(
                psi, edge_weights(one, zero, graph != 0), before=self.permutation.before
            )
            for psi, one, zero, graph in zip(
                *(x.split(chunk) for x in (order_logits, present, absent, graphs))
            )
        ]
        return torch.cat(pieces).reshape(shape)

    def _check_graphs(self, value: Tensor) -> None:
        n = self.n_nodes
        if not self.permutation.exact:
            raise NotImplementedError(
                f"log_prob is intractable for {type(self.permutation).__name__}; "
                "use permutation='topk'."
            )
        if n > MAX_NODES:
            raise ValueError(
                f"log_prob sums over 2^n subsets, for n up to {MAX_NODES}; got n_nodes={n}."
            )
        if value.shape[-2:] != (n, n):
            raise ValueError(f"'value' must have shape (*, {n}, {n}); got {tuple(value.shape)}.")
        if not bool(((value == 0) | (value == 1)).all()):
            raise ValueError("'value' must hold only 0 and 1; it has other entries.")

    def entropy(self) -> Tensor:  # (*batch)
        """Entropy of the DAG in nats, by enumeration of all DAGs of up to 5 nodes.

        For any n, ``permutation.entropy()`` and ``edges.entropy()`` give the parts.
        """
        if self.n_nodes > 5:
            raise ValueError(
                f"The entropy over DAGs enumerates them, for n up to 5; got n_nodes={self.n_nodes}."
            )
        graphs = all_dags(self.n_nodes).to(self.edges.logits.device)
        graphs = graphs.reshape(-1, *[1] * len(self.batch_shape), self.n_nodes, self.n_nodes)
        log_p = self.log_prob(graphs)
        finite = log_p.masked_fill(log_p == -math.inf, 0.0)
        return -(log_p.exp() * finite).sum(0)
