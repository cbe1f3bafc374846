"""Hard values forward, soft gradients backward."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

__all__ = ["hard_sigmoid", "straight_through"]


def straight_through(hard: Tensor, soft: Tensor) -> Tensor:  # (*), (*) -> (*)
    r"""Return ``hard`` exactly, with the gradient of ``soft``.

    .. math:: y = \text{hard} + (\text{soft} - \text{stop\_gradient}(\text{soft}))

    The bracket is exactly zero, so the value is exactly ``hard``.

    References:
        | Estimating or propagating gradients through stochastic neurons (Bengio et al., 2013)
        | https://arxiv.org/abs/1308.3432
    """
    return hard + (soft - soft.detach())


class _HardSigmoid(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, temperature: float) -> Tensor:
        ctx.save_for_backward(logits)
        ctx.temperature = temperature
        return (logits >= 0).to(logits.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (logits,), (grad,) = ctx.saved_tensors, grads
        soft = torch.sigmoid(logits / ctx.temperature)
        slope = torch.addcmul(soft, soft, soft, value=-1)  # σ(1 − σ)
        return slope.mul_(grad).div_(ctx.temperature), None


def hard_sigmoid(logits: Tensor, *, temperature: float = 1.0) -> Tensor:  # (*) -> (*)
    r"""Step function forward, the gradient of a sigmoid backward.

    .. math:: y = [x \ge 0], \qquad \frac{\partial y}{\partial x} := \sigma'(x / \tau) / \tau

    The same as ``straight_through`` of the two, with the sigmoid formed only when a gradient is
    asked for.

    Example:
        >>> x = torch.tensor([-1.0, 0.0], requires_grad=True)
        >>> y = hard_sigmoid(x, temperature=0.5)
        >>> y.tolist(), [round(g, 3) for g in torch.autograd.grad(y.sum(), x)[0].tolist()]
        ([0.0, 1.0], [0.21, 0.5])
    """
    return _HardSigmoid.apply(logits, temperature)
