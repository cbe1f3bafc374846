"""Mechanisms on a graph that is given."""

from __future__ import annotations

import torch
from torch import Tensor

from ..mechanisms import Mechanism
from .base import Objective
from .likelihoods import Likelihood


class FixedGraph(Objective):
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

    def loss(
        self, x: Tensor, noise: None, step: int, weight: Tensor | None = None
    ) -> dict[str, Tensor]:
        """The loss by name, for the training loop."""
        return {"total": self.likelihood(x, self.mechanism(x, self.adjacency), weight)}

    @torch.no_grad()
    def validation(self, x: Tensor, weight: Tensor | None = None) -> Tensor:  # -> (r,)
        """The same loss on other rows."""
        return self.loss(x, None, 0, weight)["total"]
