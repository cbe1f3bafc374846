"""Additive mechanisms whose noise varies in size with the parents."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..evidence.free_noise import FreeNoiseEvidence
from .additive import AdditiveMechanisms, fit_additive

__all__ = ["LocationScaleMechanisms", "fit_location_scale"]

_FURTHEST = 3.0  # log sizes are kept within, however far from the data a parent is


@dataclass(frozen=True)
class LocationScaleMechanisms:
    r"""Every node as a sum of smooth functions of its parents, and noise of a size they decide.

    .. math:: x_j = f_j(x) + e^{g_j(x)} \epsilon_j, \qquad
              g_j(x) = \sum_{i \in \mathrm{pa}(j)} \sum_k v_{ikj}\, u_{ik}(x_i)

    Arguments:
        location: The functions f, with their basis u.
        size_weight: (n, k, n) v: parent, function, child; zero where the size does not vary.
    """

    location: AdditiveMechanisms
    size_weight: Tensor

    def __call__(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        return self.location(x)

    def scale(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        """Size of every node's noise, relative to that of its residuals."""
        log_size = torch.einsum("rik,ikj->rj", self.location.basis(x), self.size_weight)
        return log_size.clamp(-_FURTHEST, _FURTHEST).exp()


def fit_location_scale(
    x: Tensor,  # (rows, n) standardised
    adjacency: Tensor,  # (n, n) bool
) -> LocationScaleMechanisms:
    r"""Posterior mean functions given a graph, and the sizes of noise where they vary.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> cause, noise = torch.randn(2, 1000, generator=generator, dtype=torch.float64)
        >>> x = torch.stack([cause, torch.exp(cause / 2) * noise], dim=1)
        >>> model = fit_location_scale(x / x.std(0), torch.tensor([[0, 1], [0, 0]]).bool())
        >>> sizes = model.scale(torch.tensor([[-1.0, 0.0], [1.0, 0.0]], dtype=torch.float64))
        >>> bool(sizes[1, 1] > 2 * sizes[0, 1])
        True
    """
    sizes = FreeNoiseEvidence(x, scaled=True).size_weights(adjacency)
    return LocationScaleMechanisms(fit_additive(x, adjacency), sizes)
