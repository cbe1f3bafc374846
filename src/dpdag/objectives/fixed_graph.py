"""Mechanisms on a graph that is given."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Generator, Tensor, nn

from ..mechanisms import Mechanism
from .likelihoods import Likelihood

__all__ = ["FixedGraph"]


class FixedGraph(nn.Module):
    r"""Reconstruction loss of mechanisms under one known adjacency.

    .. math:: \frac{1}{bn} \sum -2 \log P_\theta(x \mid A)

    Arguments:
        mechanism: Networks of r replicas.
        likelihood: Of values around predictions.
        adjacency: (r or 1, n, n) 0/1.
    """

    adjacency: Tensor

    def __init__(self, mechanism: Mechanism, likelihood: Likelihood, adjacency: Tensor) -> None:
        super().__init__()
        self.mechanism = mechanism
        self.likelihood = likelihood
        self.register_buffer("adjacency", adjacency, persistent=False)

    def forward(self, x: Tensor) -> Tensor:  # (r, n, b) -> (r,)
        """Loss per replica."""
        return self.likelihood(x, self.mechanism(x, self.adjacency))

    def draw_noise(self, steps: int, generators: Sequence[Generator]) -> None:
        """Nothing is random here."""

    def loss(self, x: Tensor, noise: None, step: int) -> dict[str, Tensor]:
        """The loss by name, for the training loop."""
        return {"total": self(x)}

    def summary(self) -> dict[str, Tensor]:
        """Nothing to add."""
        return {}

    @torch.no_grad()
    def validation(self, x: Tensor) -> Tensor:  # (r, n, rows) -> (r,)
        """The same loss on other rows."""
        return self(x)
