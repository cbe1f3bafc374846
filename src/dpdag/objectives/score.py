"""What is minimised subject to acyclicity."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import torch
from torch import Generator, Tensor, nn

from ..distributions.knowledge import Constraints


class Score(nn.Module, ABC):
    """A loss whose parameters also make a weighted adjacency, which must become acyclic.

    Parameters have a leading replica axis.

    Arguments:
        constraints: Of which edges may be, and which must.
    """

    allowed: Tensor  # (n, n) 0/1
    required: Tensor  # (n, n) bool

    def __init__(self, constraints: Constraints) -> None:
        super().__init__()
        self.register_buffer("allowed", constraints.allowed.to(torch.float32))
        self.register_buffer("required", constraints.required)

    def within(self, weights: Tensor) -> Tensor:  # (r, n, n) -> (r, n, n)
        """Zero where there may be no edge, one where there must be one."""
        return weights.masked_fill(self.allowed == 0, 0.0).masked_fill(self.required, 1.0)

    @abstractmethod
    def adjacency(self) -> Tensor:  # (r, n, n)
        """Non-negative weights with gradients, zero where there is no edge."""

    def edge_scores(self, x: Tensor) -> Tensor:  # (r, n, rows) -> (r, n, n)
        """What edges are ranked and chosen by, in units that mean something."""
        return self.adjacency()

    @abstractmethod
    def forward(
        self,
        x: Tensor,  # (r, n, b)
        noise: Any,
        weight: Tensor | None = None,  # (r, n, b)
    ) -> Tensor:  # (r,)
        """Loss of one minibatch; ``noise`` is None where nothing is to be random.

        ``weight`` is what every value counts as an effect: 0 where it was set from outside. Scores
        of learners that take no interventions need not know it.
        """

    def draw_noise(self, steps: int, generators: Sequence[Generator]) -> Any:
        """Everything random in ``steps`` evaluations, a sequence of that length, or None."""

    def fade(self) -> None:
        """Called now and then: what has become negligible may be removed for good."""
