"""Hard values forward, soft gradients backward."""

from __future__ import annotations

from torch import Tensor

__all__ = ["straight_through"]


def straight_through(hard: Tensor, soft: Tensor) -> Tensor:  # (*), (*) -> (*)
    r"""Return ``hard`` exactly, with the gradient of ``soft``.

    .. math:: y = \text{hard} + (\text{soft} - \text{stop\_gradient}(\text{soft}))

    The bracket is exactly zero, so the value is exactly ``hard``.

    References:
        | Estimating or propagating gradients through stochastic neurons (Bengio et al., 2013)
        | https://arxiv.org/abs/1308.3432
    """
    return hard + (soft - soft.detach())
