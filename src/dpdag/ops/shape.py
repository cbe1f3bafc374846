"""The shape of distributions, from samples."""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = ["negentropy"]


def negentropy(u: Tensor) -> Tensor:  # (*, N) of mean zero and variance one -> (*)
    r"""How far a distribution is from a Gaussian, roughly in nats, by two of its moments.

    .. math:: J(u) \approx 79.047\, (\mathrm{E} \log \cosh u - 0.37457)^2
              + 7.4129\, (\mathrm{E}\, u e^{-u^2 / 2})^2

    The first sees heavy or light tails, the second asymmetry. An index rather than an entropy:
    the Laplace distribution has 0.10 (and 0.07 nats in truth), the uniform one 0.06 (0.18).

    Reference:
        Hyvärinen, *New approximations of differential entropy* (1998).

    Example:
        >>> u = torch.rand(10_000, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        >>> bool(negentropy((u - 0.5) * 12**0.5) > 0.05)
        True
    """
    size = u.abs()
    log_cosh = (size + torch.log1p(torch.exp(-2 * size)) - math.log(2)).mean(-1)
    skew = (u * torch.exp(-u.square() / 2)).mean(-1)
    return 79.047 * (log_cosh - 0.37457).square() + 7.4129 * skew.square()
