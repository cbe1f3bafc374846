"""Noise for the Gumbel tricks, from an explicit generator or torch's own."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Generator, Tensor


def uniform(shape: Sequence[int], *, like: Tensor, generator: Generator | None = None) -> Tensor:
    """Draws from U[0, 1) with the dtype and device of ``like``."""
    noise = torch.empty(tuple(shape), dtype=like.dtype, device=like.device)
    return noise.uniform_(generator=generator)


def gumbel(shape: Sequence[int], *, like: Tensor, generator: Generator | None = None) -> Tensor:
    r"""Standard Gumbel draws, always finite.

    Example:
        >>> x = gumbel((50_000,), like=torch.zeros(1), generator=torch.Generator().manual_seed(0))
        >>> round(x.mean().item(), 1)  # the Euler-Mascheroni constant, 0.577
        0.6
    """
    return to_gumbel(uniform(shape, like=like, generator=generator))


def logistic(shape: Sequence[int], *, like: Tensor, generator: Generator | None = None) -> Tensor:
    """Standard logistic draws, always finite: the difference of two Gumbel draws."""
    return to_logistic(uniform(shape, like=like, generator=generator))


def to_gumbel(noise: Tensor) -> Tensor:  # (*) -> (*)
    r"""Turn uniform draws, in place, into standard Gumbel ones: :math:`G = -\log(-\log u)`."""
    tiny, eps = torch.finfo(noise.dtype).tiny, torch.finfo(noise.dtype).eps
    return noise.clamp_(tiny, 1 - eps).log_().neg_().log_().neg_()


def to_logistic(noise: Tensor) -> Tensor:  # (*) -> (*)
    r"""Turn uniform draws, in place, into logistic ones: :math:`L = \log u - \log(1 - u)`."""
    return noise.logit_(eps=torch.finfo(noise.dtype).eps)


def surely_finite(*tensors: Tensor) -> bool:  # (*) each
    """Whether no entry is infinite or NaN, by their sum: sometimes False where all are finite."""
    total = tensors[0].detach().sum()
    for x in tensors[1:]:
        total = total + x.detach().sum()
    return math.isfinite(total.item())  # read once: a GPU has to be waited for


def finite_logits(logits: Tensor, *, dims: int = 1) -> Tensor:  # (*, ...) same shape
    r"""Replace infinite logits by finite ones that no amount of Gumbel noise can overtake.

    Infinities are moved 1e4 beyond the extreme finite entries of their event, the last ``dims``
    axes: noise still breaks ties among them, and every closed form holds without special cases.

    Example:
        >>> finite_logits(torch.tensor([0.0, float("inf"), 3.0])).tolist()
        [0.0, 10003.0, 3.0]
    """
    axes = tuple(range(-dims, 0))
    infinite = logits.isinf()
    finite = logits.detach().masked_fill(infinite, 0)
    beyond = torch.where(
        logits > 0, finite.amax(axes, keepdim=True) + 1e4, finite.amin(axes, keepdim=True) - 1e4
    )
    return torch.where(infinite, beyond, logits)
