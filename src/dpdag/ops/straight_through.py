"""Hard values forward, soft gradients backward."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


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
    def forward(
        ctx: Any, logits: Tensor, noise: Tensor, mask: Tensor | None, temperature: float
    ) -> Tensor:
        perturbed = logits + noise
        hard = perturbed.clone().ge_(0)
        ctx.save_for_backward(perturbed, hard, mask)
        ctx.temperature = temperature
        return hard if mask is None else hard * mask

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, Tensor | None, None]:
        (perturbed, hard, mask), (grad,) = ctx.saved_tensors, grads
        slope = sigmoid_gradient(grad, perturbed, ctx.temperature)
        if mask is None:
            return slope, None, None, None
        return slope.mul_(mask), None, grad * hard, None


def sigmoid_gradient(grad: Tensor, x: Tensor, temperature: float) -> Tensor:  # (*), (*) -> (*)
    r"""The gradient of :math:`\sigma(x / \tau)`, in memory of its own."""
    soft = torch.sigmoid(x if temperature == 1 else x / temperature)
    slope = torch.addcmul(soft, soft, soft, value=-1).mul_(grad)  # σ(1 − σ)
    return slope if temperature == 1 else slope.div_(temperature)


def hard_sigmoid(
    logits: Tensor,  # (*)
    noise: Tensor,  # (*)
    mask: Tensor | None = None,  # (*)
    *,
    temperature: float = 1.0,
) -> Tensor:  # (*)
    r"""Step function of perturbed logits forward, the gradient of a sigmoid backward.

    .. math:: y = [x + \epsilon \ge 0]\, m, \qquad
        \frac{\partial y}{\partial x} := \sigma'\big((x + \epsilon) / \tau\big)\, m / \tau

    The same as ``straight_through`` of the two, with the sigmoid formed only when a gradient is
    asked for.

    Arguments:
        noise: ε, without a gradient.
        mask: m, with one; all ones where None.

    Example:
        >>> x = torch.tensor([-1.0, 0.0], requires_grad=True)
        >>> y = hard_sigmoid(x, torch.zeros(2), temperature=0.5)
        >>> y.tolist(), [round(g, 3) for g in torch.autograd.grad(y.sum(), x)[0].tolist()]
        ([0.0, 1.0], [0.21, 0.5])
    """
    return _HardSigmoid.apply(logits, noise, mask, temperature)
