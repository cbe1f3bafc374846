"""Independent edges by two-class Gumbel-Softmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Generator, Tensor
from torch.distributions import Distribution
from torch.distributions.constraints import Constraint

from ..ops.graphs import diagonal
from ..ops.noise import logistic
from ..ops.straight_through import hard_sigmoid
from .knowledge import Constraints


class EdgeDistribution(Distribution):
    r"""Bernoulli edges :math:`U_{ij}` with logits φ, differentiable by straight-through.

    .. math:: U_{ij} = [\phi_{ij} + L_{ij} > 0], \qquad
        \hat U_{ij} = \sigma\big((\phi_{ij} + L_{ij}) / \tau\big)

    where the logistic noise L is the difference of two Gumbel draws: one uniform number per edge
    gives the two-class Gumbel-Softmax.

    Arguments:
        logits: (*batch, n, n) φ; the diagonal is ignored.
        temperature: τ of the relaxation; the hard samples do not depend on it.
        constraints: Forbidden edges get probability 0, required ones 1.

    References:
        | Categorical Reparameterization with Gumbel-Softmax (Jang et al., 2017)
        | https://arxiv.org/abs/1611.01144

    Example:
        >>> edges = EdgeDistribution(torch.zeros(2, 2))
        >>> edges.probabilities.tolist()
        [[0.0, 0.5], [0.5, 0.0]]
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {}
    has_rsample = True

    def __init__(
        self,
        logits: Tensor,
        *,
        temperature: float = 1.0,
        constraints: Constraints | None = None,
    ) -> None:
        if logits.ndim < 2 or logits.shape[-1] != logits.shape[-2]:
            raise ValueError(f"'logits' must have shape (*, n, n); got {tuple(logits.shape)}.")
        self._given = logits
        self._constraints = constraints
        self.temperature = temperature
        super().__init__(batch_shape=logits.shape[:-2], event_shape=logits.shape[-2:])

    @property
    def logits(self) -> Tensor:  # (*batch, n, n)
        """φ, −∞ and +∞ where an edge is forbidden or required."""
        if self._constraints is None:
            n = self._given.shape[-1]
            return self._given.masked_fill(diagonal(n, self._given.device), -torch.inf)
        required = self._given.masked_fill(self._constraints.required, torch.inf)
        return required.masked_fill(~self._constraints.allowed, -torch.inf)

    @property
    def logits_along_orders(self) -> Tensor:  # (*batch, n, n)
        """φ with any diagonal, for graphs along an order, which have no self-loops."""
        return self._given if self._constraints is None else self.logits

    @property
    def probabilities(self) -> Tensor:  # (*batch, n, n)
        """P(U_ij = 1) = σ(φ_ij), zero on the diagonal."""
        return torch.sigmoid(self.logits)

    @property
    def mode(self) -> Tensor:  # (*batch, n, n)
        """Edges more likely than not."""
        return (self.logits > 0).to(self.logits.dtype)

    def rsample(
        self, sample_shape: Sequence[int] = (), *, generator: Generator | None = None
    ) -> Tensor:  # (*sample, *batch, n, n)
        """Edges exactly 0 or 1, with a gradient to the logits."""
        return self.edges_from(self.draw_noise(sample_shape, generator))

    def draw_noise(self, sample_shape: Sequence[int], generator: Generator | None = None) -> Tensor:
        """Logistic noise for a number of samples, (*sample, *batch, n, n)."""
        shape = (*sample_shape, *self._given.shape)
        return logistic(shape, like=self._given, generator=generator)

    def edges_from(self, noise: Tensor, mask: Tensor | None = None) -> Tensor:
        """The edges (*sample, *batch, n, n) that noise of this shape makes, where a mask has ones.

        With gradients to the logits and to the mask.
        """
        return hard_sigmoid(self.logits, noise, mask, temperature=self.temperature)

    def sample(
        self, sample_shape: Sequence[int] = (), *, generator: Generator | None = None
    ) -> Tensor:
        """Edges without gradients."""
        with torch.no_grad():
            return self.draw_noise(sample_shape, generator).add_(self.logits).ge_(0)

    @property
    def log_probabilities(self) -> tuple[Tensor, Tensor]:  # (*batch, n, n) each
        """Logarithms of P(U_ij = 1) and P(U_ij = 0)."""
        return _log_sigmoid(self.logits), _log_sigmoid(-self.logits)

    def entropy(self) -> Tensor:  # (*batch)
        """Entropy of all edges together in nats."""
        p = self.probabilities
        return -(torch.xlogy(p, p) + torch.xlogy(1 - p, 1 - p)).sum((-2, -1))


def _log_sigmoid(x: Tensor) -> Tensor:
    """log σ(x), with finite gradients at infinities."""
    return torch.where(x.isinf(), torch.where(x > 0, 0.0, x), torch.nn.functional.logsigmoid(x))
