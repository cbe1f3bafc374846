"""Smooth functions of a weighted adjacency that are zero exactly on acyclic graphs."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ..registry import Registry
from .base import KnownGradient

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
    power = torch.matrix_exp(weights.detach().double())  # small h is a small difference
    h = power.diagonal(dim1=-2, dim2=-1).sum(-1) - weights.shape[-1]
    return KnownGradient.apply(weights, h, power.mT)


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
    n = weights.shape[-1]
    step = weights.detach().double() / n
    step.diagonal(dim1=-2, dim2=-1).add_(1.0)
    power = torch.linalg.matrix_power(step, n - 1)
    return KnownGradient.apply(weights, (power * step.mT).sum((-2, -1)) - n, power.mT)
