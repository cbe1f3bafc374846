"""Smooth functions of a weighted adjacency that are zero exactly on acyclic graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..registry import Registry

Constraint = Callable[[Tensor], Tensor]
CONSTRAINTS: Registry[Constraint] = Registry("acyclicity constraint")


@CONSTRAINTS.register("exponential")
def trace_exponential(weights: Tensor) -> Tensor:  # (r, n, n) -> (r,)
    r"""The weight of all closed walks, those of length k divided by k!.

    .. math:: h(A) = \mathrm{tr}\, e^A - n, \qquad \nabla h(A) = (e^A)^T

    Arguments:
        weights: Non-negative, such as squares of linear effects.

    References:
        | DAGs with NO TEARS (Zheng et al., 2018)
        | https://arxiv.org/abs/1803.01422

    Example:
        >>> trace_exponential(torch.tensor([[[0.0, 5.0], [0.0, 0.0]]])).tolist()
        [0.0]
    """
    return _TraceExponential.apply(weights)


@CONSTRAINTS.register("polynomial")
def trace_polynomial(weights: Tensor) -> Tensor:  # (r, n, n) -> (r,)
    r"""The same with binomial weights, by a few matrix products.

    .. math:: h(A) = \mathrm{tr}\, (I + \alpha A)^n - n, \qquad
        \nabla h(A) = n \alpha\, \big((I + \alpha A)^{n-1}\big)^T, \qquad \alpha = 1/n

    Arguments:
        weights: Non-negative.

    References:
        | DAG-GNN: DAG Structure Learning with Graph Neural Networks (Yu et al., 2019)
        | https://arxiv.org/abs/1904.10098
    """
    return _TracePolynomial.apply(weights)


class _Trace(torch.autograd.Function):
    """The gradient is the transpose of a power that is known already."""

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (power,) = ctx.saved_tensors
        return (grads[0][:, None, None] * power.mT).to(ctx.dtype)


class _TraceExponential(_Trace):
    @staticmethod
    def forward(ctx: Any, weights: Tensor) -> Tensor:
        power = torch.matrix_exp(weights.double())  # small h is a small difference
        ctx.save_for_backward(power)
        ctx.dtype = weights.dtype
        return power.diagonal(dim1=-2, dim2=-1).sum(-1) - weights.shape[-1]


class _TracePolynomial(_Trace):
    @staticmethod
    def forward(ctx: Any, weights: Tensor) -> Tensor:
        n = weights.shape[-1]
        step = weights.double() / n
        step.diagonal(dim1=-2, dim2=-1).add_(1.0)
        power = torch.linalg.matrix_power(step, n - 1)
        ctx.save_for_backward(power)
        ctx.dtype = weights.dtype
        return (power * step.mT).sum((-2, -1)) - n
