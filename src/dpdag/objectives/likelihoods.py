"""Likelihoods of values around their predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from ..registry import Registry


class Likelihood(nn.Module, ABC):
    """Twice the negative log-likelihood per value, up to a constant."""

    def __init__(self, n_nodes: int, n_replicas: int) -> None:
        super().__init__()

    @abstractmethod
    def forward(
        self,
        x: Tensor,  # (r, n, b)
        predicted: Tensor,  # (r, n, b)
        weight: Tensor | None = None,  # (r, n, b)
    ) -> Tensor:  # (r,)
        """Mean over nodes and rows, every value times its ``weight``."""


def _mean(losses: Tensor, weight: Tensor | None) -> Tensor:  # (r, n, b) -> (r,)
    return (losses if weight is None else losses * weight).mean((-2, -1))


LIKELIHOODS: Registry[type[Likelihood]] = Registry("likelihood")


@LIKELIHOODS.register("mse")
class SquaredError(Likelihood):
    r"""Unit variance, as in the paper: :math:`\|x - \hat x\|^2`."""

    def forward(self, x: Tensor, predicted: Tensor, weight: Tensor | None = None) -> Tensor:
        return _mean((x - predicted).square(), weight)


@LIKELIHOODS.register("gaussian")
class Gaussian(Likelihood):
    r"""A learned variance per node: :math:`(x - \hat x)^2 / \sigma_j^2 + \log \sigma_j^2`."""

    def __init__(self, n_nodes: int, n_replicas: int) -> None:
        super().__init__(n_nodes, n_replicas)
        self.log_variance = nn.Parameter(torch.zeros(n_replicas, n_nodes, 1))

    def forward(self, x: Tensor, predicted: Tensor, weight: Tensor | None = None) -> Tensor:
        log_variance = self.log_variance.clamp_min(-12.0)  # a perfect fit must not divide by zero
        error = (x - predicted).square() * torch.exp(-log_variance)
        return _mean(error + log_variance, weight)
