"""Doubly stochastic matrices and the matchings nearest to them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

__all__ = ["matching", "sinkhorn"]


class _Sinkhorn(torch.autograd.Function):
    """Forward: scale rows and columns. Backward: implicit, through the fixed point."""

    @staticmethod
    def forward(log_alpha: Tensor, tolerance: float, max_iterations: int) -> Tensor:
        # The matrix is exp(X + u 1ᵀ + 1 vᵀ); only the two vectors change.
        u = -log_alpha.logsumexp(-1, keepdim=True)
        for iteration in range(max_iterations):
            v = -(log_alpha + u).logsumexp(-2, keepdim=True)
            new_u = -(log_alpha + v).logsumexp(-1, keepdim=True)
            if iteration % 5 == 4 and bool(((u - new_u).expm1().abs() < tolerance).all()):
                break
            u = new_u
        # A softmax applies v: columns sum to one and nothing overflows, converged or not.
        return (log_alpha + u).softmax(-2)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, float, int], output: Tensor) -> None:
        ctx.save_for_backward(output)
        ctx.tolerance, ctx.max_iterations = inputs[1:]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        # Row and column sums stay one, so that dX must be met by du and dv. The adjoint system is
        # solved by the same alternation that found them.
        (P,), (grad,) = ctx.saved_tensors, grads
        weighted = P * grad
        rows, columns = weighted.sum(-1, keepdim=True), weighted.sum(-2, keepdim=True)
        mass = P.sum(-1, keepdim=True).clamp_min(torch.finfo(P.dtype).tiny)
        scale = weighted.abs().sum((-2, -1), keepdim=True)
        a = rows / mass
        for iteration in range(ctx.max_iterations):
            b = columns - a.mT @ P
            new_a = (rows - P @ b.mT) / mass
            if iteration % 5 == 4 and bool(((a - new_a).abs() <= ctx.tolerance * scale).all()):
                break
            a = new_a
        return P * (grad - a - b), None, None


def sinkhorn(
    log_alpha: Tensor,  # (*, n, n) finite
    *,
    temperature: float = 1.0,
    tolerance: float = 1e-4,
    max_iterations: int | None = None,
) -> Tensor:
    r"""Scale rows and columns in turn, in log space, until both sum to one.

    .. math:: S(X) = \lim_{k\to\infty} (T_c \circ T_r)^k (\exp(X / \tau))

    The gradient is that of the limit, by implicit differentiation: memory does not grow with the
    number of iterations.

    Arguments:
        log_alpha: Logits of a permutation matrix.
        temperature: τ. The iterations needed grow like 1/τ.
        tolerance: Largest deviation of a row sum from one at which to stop (columns are exact).
        max_iterations: By default 100 at τ ≥ 1 and 100/τ below, at most 2000.

    References:
        | Learning Latent Permutations with Gumbel-Sinkhorn Networks (Mena et al., 2018)
        | https://arxiv.org/abs/1802.08665

    Example:
        >>> sinkhorn(torch.zeros(2, 2)).tolist()
        [[0.5, 0.5], [0.5, 0.5]]
    """
    if max_iterations is None:
        max_iterations = min(2000, math.ceil(100 * max(1.0, 1 / temperature)))
    log_p = log_alpha / temperature
    return _Sinkhorn.apply(log_p, tolerance, max_iterations)


def matching(logits: Tensor) -> Tensor:  # (*, n, n) finite -> (*, n) column matched to each row
    r"""The permutation of largest total logit, for every matrix of a batch.

    .. math:: M(X) = \arg\max_{\Pi} \langle \Pi, X \rangle

    Example:
        >>> matching(torch.tensor([[0.0, 2.0], [1.0, 2.0]])).tolist()
        [1, 0]
    """
    n = logits.shape[-1]
    costs = logits.detach().to("cpu", torch.float64).reshape(-1, n, n).numpy()
    columns = np.empty(costs.shape[:-1], dtype=np.int64)
    for k, cost in enumerate(costs):
        columns[k] = linear_sum_assignment(cost, maximize=True)[1]
    return torch.from_numpy(columns).reshape(logits.shape[:-1]).to(logits.device)
