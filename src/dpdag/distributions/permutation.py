"""The abstract distribution over permutations: a family implements three methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import torch
from torch import Generator, Size, Tensor
from torch.distributions import Distribution
from torch.distributions.constraints import Constraint

from ..ops.noise import finite_logits, gumbel
from ..ops.precedence import permutation_matrix, precedence_mask, soft_precedence_mask
from ..ops.straight_through import straight_through
from ..registry import Registry
from .knowledge import Constraints


class Estimate(NamedTuple):
    """A value with its standard error, zero where the value is exact."""

    value: Tensor
    standard_error: Tensor


class PermutationDistribution(Distribution, ABC):
    r"""Random orders of n nodes from perturbed logits, differentiable by straight-through.

    .. math:: \Pi = \text{decode}(\psi + G), \qquad \hat\Pi = \text{relax}_\tau(\psi + G)

    A family implements :meth:`logits_shape`, :meth:`relax` and :meth:`decode`; sampling, the
    straight-through gradient, the mode and Monte-Carlo probabilities are inherited.

    Arguments:
        logits: (*batch, …) ψ.
        temperature: τ of the relaxation; the hard samples do not depend on it.
        constraints: Order relations to respect in every sample.
        validate_args: False trusts the logits to be finite.
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {}
    has_rsample = True
    exact = False  # whether precedence probabilities are closed
    monte_carlo_samples = 4096

    def __init__(
        self,
        logits: Tensor,
        *,
        temperature: float = 1.0,
        constraints: Constraints | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.n_nodes = logits.shape[-1]
        event = self.logits_shape(self.n_nodes)
        event_dims = len(event)
        if tuple(logits.shape[-event_dims:]) != event:
            raise ValueError(f"'logits' must have shape (*, {event}); got {tuple(logits.shape)}.")
        trusted = validate_args is False
        self.logits = logits if trusted else finite_logits(logits, dims=event_dims)
        self.temperature = temperature
        self.constraints = constraints
        super().__init__(
            batch_shape=logits.shape[: logits.ndim - event_dims],
            event_shape=Size((self.n_nodes, self.n_nodes)),
            validate_args=validate_args,
        )

    @property
    def before(self) -> Tensor | None:  # (n, n)
        """Order relations to enforce, or None when there are none."""
        return self.constraints.before if self.constraints and self.constraints.orders else None

    @property
    def by_scores(self) -> bool:
        """Whether every order is the descending sort of the perturbed logits."""
        return False

    @staticmethod
    @abstractmethod
    def logits_shape(n_nodes: int) -> tuple[int, ...]:
        """Shape of the parameters of one distribution."""

    @abstractmethod
    def relax(self, perturbed: Tensor, order: Tensor) -> Tensor:  # (*, …), (*, n) -> (*, n, n)
        """A relaxed permutation matrix near the hard ``order`` that was decoded."""

    @abstractmethod
    def decode(self, perturbed: Tensor) -> Tensor:  # (*, …) -> (*, n) nodes by position
        """The hard order of perturbed logits, respecting the constraints."""

    def soft_mask(self, perturbed: Tensor, order: Tensor) -> Tensor:  # -> (*, n, n)
        """The precedence mask of ``order`` with a gradient to the perturbed logits."""
        return soft_precedence_mask(self.relax(perturbed, order), order)

    def draw_noise(self, sample_shape: Sequence[int], generator: Generator | None = None) -> Tensor:
        """Standard Gumbel noise for a number of samples, (*sample, *batch, …)."""
        shape = (*sample_shape, *self.logits.shape)
        return gumbel(shape, like=self.logits, generator=generator)

    def sample_order(
        self, sample_shape: Sequence[int] = (), *, generator: Generator | None = None
    ) -> Tensor:  # (*sample, *batch, n)
        """Random orders, nodes by position, causes first."""
        with torch.no_grad():
            return self.decode(self.logits + self.draw_noise(sample_shape, generator))

    def rsample_mask(
        self, sample_shape: Sequence[int] = (), *, generator: Generator | None = None
    ) -> Tensor:  # (*sample, *batch, n, n)
        """Precedence masks of random orders: exactly 0 or 1, with a gradient to the logits."""
        return self.mask_from(self.draw_noise(sample_shape, generator))

    def mask_from(self, noise: Tensor) -> Tensor:  # (*sample, *batch, …) -> (*sample, *batch, n, n)
        """The precedence masks that given noise makes, with a gradient to the logits."""
        perturbed = self.logits + noise
        return self.soft_mask(perturbed, self.decode(perturbed.detach()))

    def rsample(
        self, sample_shape: Sequence[int] = (), *, generator: Generator | None = None
    ) -> Tensor:  # (*sample, *batch, n, n)
        """Permutation matrices Π, row k the node at position k, straight-through."""
        perturbed = self.logits + self.draw_noise(sample_shape, generator)
        order = self.decode(perturbed.detach())
        hard = permutation_matrix(order, perturbed.dtype)
        return straight_through(hard, self.relax(perturbed, order))

    def sample(
        self, sample_shape: Sequence[int] = (), *, generator: Generator | None = None
    ) -> Tensor:
        """Permutation matrices without gradients."""
        order = self.sample_order(sample_shape, generator=generator)
        return permutation_matrix(order, self.logits.dtype)

    @property
    def mode_order(self) -> Tensor:  # (*batch, n)
        """The order decoded without noise."""
        return self.decode(self.logits.detach())

    @property
    def mode(self) -> Tensor:  # (*batch, n, n)
        """The permutation matrix decoded without noise."""
        return permutation_matrix(self.mode_order, self.logits.dtype)

    @property
    def precedence_probabilities(self) -> Tensor:  # (*batch, n, n)
        """P(i before j), exact where the family has a closed form, else a Monte-Carlo mean."""
        return self.estimate_precedence().value

    def estimate_precedence(self, n_samples: int | None = None, *, seed: int = 0) -> Estimate:
        r"""Monte-Carlo estimate of P(i before j), its standard error √(p(1 − p)/n) beside it.

        A generator of its own makes the answer repeatable and leaves torch's untouched.
        """
        n_samples = n_samples or self.monte_carlo_samples
        generator = torch.Generator(self.logits.device).manual_seed(seed)
        order = self.sample_order((n_samples,), generator=generator)
        mean = precedence_mask(order, self.logits.dtype).mean(0)
        return Estimate(mean, (mean * (1 - mean) / n_samples).sqrt())

    def log_prob_order(self, order: Tensor) -> Tensor:  # (*, n) -> (*)
        """Log-probability of orders."""
        raise NotImplementedError(
            f"{type(self).__name__} has no tractable density over orders; use permutation='topk'."
        )

    def log_prob(self, value: Tensor) -> Tensor:  # (*, n, n) permutation matrices -> (*)
        """Log-probability of permutation matrices."""
        return self.log_prob_order(value.argmax(-1))


PERMUTATIONS: Registry[type[PermutationDistribution]] = Registry("permutation")
