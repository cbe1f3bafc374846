"""Minimisation subject to acyclicity, each replica at its own stage of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Generator, Tensor

from ..objectives.acyclicity import Constraint
from ..objectives.base import Objective
from ..objectives.score import Score

_GROWTH, _DECREASE = 10.0, 0.25  # η and γ
_MAX_PENALTY = 1e16  # beyond which the constraint is given up


class AugmentedLagrangian(Objective):
    r"""A score under the constraint that its weighted adjacency is acyclic.

    .. math:: L(\theta, \lambda, c) = \mathrm{score}(\theta) + \lambda\, h(A_\theta)
        + \tfrac c2\, h(A_\theta)^2

    Whenever a replica improves no more, its multiplier λ grows by :math:`c\,h`, and c by the
    factor η where h is still above γ times its value of the time before. It is done when h is
    within the tolerance, and given up when c has grown beyond all use.

    Arguments:
        score: What to minimise, r replicas.
        n_replicas: r.
        constraint: h, zero exactly on acyclic graphs.
        tolerance: On h.
        penalty: c at the start.

    References:
        Charpentier et al., *Differentiable DAG Sampling*, 2022, appendix A.
    """

    multiplier: Tensor
    penalty: Tensor
    last: Tensor

    def __init__(
        self,
        score: Score,
        n_replicas: int,
        *,
        constraint: Constraint,
        tolerance: float = 1e-8,
        penalty: float = 1e-3,
    ) -> None:
        super().__init__()
        self.score = score
        self.constraint = constraint
        self.tolerance = tolerance
        zero = torch.zeros(n_replicas, dtype=torch.float64)
        self.register_buffer("multiplier", zero)
        self.register_buffer("penalty", zero + penalty)
        self.register_buffer("last", zero + torch.inf)

    def draw_noise(self, steps: int, generators: Sequence[Generator]) -> Any:
        """The score's own."""
        return self.score.draw_noise(steps, generators)

    def loss(
        self, x: Tensor, noise: Any, step: int, weight: Tensor | None = None
    ) -> dict[str, Tensor]:
        """The Lagrangian and its parts."""
        score = self.value(x, None if noise is None else noise[step], weight)
        h = self.constraint(self.score.adjacency())
        return {"total": self._lagrangian(score, h), "score": score, "h": h}

    @torch.no_grad()
    def validation(self, x: Tensor, weight: Tensor | None = None) -> Tensor:  # -> (r,)
        """The Lagrangian on other rows, nothing random."""
        x = x.expand(len(self.penalty), -1, -1)
        return self._lagrangian(self.value(x, None, weight), self.acyclicity())

    @torch.no_grad()
    def acyclicity(self) -> Tensor:  # (r,)
        """h of every replica."""
        return self.constraint(self.score.adjacency())

    def summary(self) -> dict[str, Tensor]:
        """λ and c."""
        return {"multiplier": self.multiplier, "penalty": self.penalty}

    @torch.no_grad()
    def advance(self, settled: Tensor) -> Tensor:  # (r,) bool -> (r,) bool
        """Tighten the constraint for settled replicas that are not within the tolerance."""
        self.score.fade()
        h = self.acyclicity()
        open_ = settled & (h > self.tolerance)
        slow = open_ & (h > _DECREASE * self.last)
        self.multiplier = torch.where(open_, self.multiplier + self.penalty * h, self.multiplier)
        self.last = torch.where(open_, h, self.last)
        hopeless = slow & (self.penalty * _GROWTH > _MAX_PENALTY)
        self.penalty = torch.where(slow & ~hopeless, self.penalty * _GROWTH, self.penalty)
        return settled & (~open_ | hopeless)

    def value(self, x: Tensor, noise: Any, weight: Tensor | None = None) -> Tensor:  # -> (r,)
        """The score itself; one that knows no weights is never given any."""
        value: Tensor = self.score(x, noise) if weight is None else self.score(x, noise, weight)
        return value

    def _lagrangian(self, score: Tensor, h: Tensor) -> Tensor:
        return score + self.multiplier * h + 0.5 * self.penalty * h.square()
