"""Doubly stochastic matrices and the matchings nearest to them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from .kernels import has_kernels

_LARGEST = 4096  # nodes whose prices one block of a GPU can hold


class _Sinkhorn(torch.autograd.Function):
    """Forward: scale rows and columns. Backward: implicit, through the fixed point."""

    @staticmethod
    def forward(ctx: Any, log_alpha: Tensor, tolerance: float, max_iterations: int) -> Tensor:
        # The matrix is exp(X + u 1ᵀ + 1 vᵀ); only the two vectors change.
        u = -log_alpha.logsumexp(-1, keepdim=True)

        def scale_both(u: Tensor) -> Tensor:
            v = -_log_sums(log_alpha.mT, u.mT).mT
            return -_log_sums(log_alpha, v)

        def close(u: Tensor, new: Tensor) -> Tensor:  # of row sums to one, for each matrix
            return ((u - new).expm1().abs() < tolerance).all(-2, keepdim=True)

        u = _fixed_point(scale_both, u, close, max_iterations)
        # A softmax applies v: columns sum to one and nothing overflows, converged or not.
        P = (log_alpha + u).softmax(-2)
        ctx.save_for_backward(P)
        ctx.tolerance, ctx.max_iterations = tolerance, max_iterations
        return P

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        # Row and column sums stay one, so that dX must be met by du and dv. The adjoint system is
        # solved by the same alternation that found them.
        (P,), (grad,) = ctx.saved_tensors, grads
        weighted = P * grad
        rows, columns = weighted.sum(-1, keepdim=True), weighted.sum(-2, keepdim=True)
        mass = P.sum(-1, keepdim=True).clamp_min(torch.finfo(P.dtype).tiny)
        scale = weighted.abs().sum((-2, -1), keepdim=True)

        def solve_both(a: Tensor) -> Tensor:
            return (rows - P @ (columns - a.mT @ P).mT) / mass

        def close(a: Tensor, new: Tensor) -> Tensor:
            return ((a - new).abs() <= ctx.tolerance * scale).all(-2, keepdim=True)

        a = _fixed_point(solve_both, rows / mass, close, ctx.max_iterations)
        return P * (grad - a - (columns - a.mT @ P)), None, None


def _log_sums(x: Tensor, shift: Tensor) -> Tensor:  # (*, n, n), (*, 1, n) -> (*, n, 1)
    """log Σ_j exp(x_ij + shift_j), on a GPU in one pass."""
    if not has_kernels(x) or not x.numel():
        return (x + shift).logsumexp(-1, keepdim=True)
    from .kernels.log_sums import log_sums

    n = x.shape[-1]
    with torch.cuda.device_of(x):
        return log_sums(x.reshape(-1, n, n), shift.reshape(-1, n)).reshape(*x.shape[:-1], 1)


def _fixed_point(
    update: Callable[[Tensor], Tensor],
    value: Tensor,  # (*, n, 1)
    close: Callable[[Tensor, Tensor], Tensor],  # two values -> (*, 1, 1) bool
    max_iterations: int,
) -> Tensor:
    """Repeat an update until it changes nothing; each matrix of a batch stops on its own."""
    done = torch.zeros_like(value[..., :1, :], dtype=torch.bool)
    for iteration in range(max_iterations):
        new = update(value)
        if iteration % 5 == 4:  # a check costs passes and, on a GPU, a synchronisation
            done = done | close(value, new)
            if bool(done.all()):
                break
        value = torch.where(done, value, new)
    return value


def sinkhorn(
    log_alpha: Tensor,  # (*, n, n) finite
    *,
    temperature: float = 1.0,
    tolerance: float = 1e-3,
) -> Tensor:
    r"""Scale rows and columns in turn, in log space, until both sum to one.

    .. math:: S(X) = \lim_{k\to\infty} (T_c \circ T_r)^k (\exp(X / \tau))

    The gradient is that of the limit, by implicit differentiation: memory does not grow with the
    number of iterations.

    Arguments:
        log_alpha: Logits of a permutation matrix.
        temperature: τ. The iterations needed grow like 1/τ: 50 are made at τ ≥ 1 and 50/τ below,
            at most 2000.
        tolerance: Largest deviation of a row sum from one at which to stop (columns are exact).

    References:
        | Learning Latent Permutations with Gumbel-Sinkhorn Networks (Mena et al., 2018)
        | https://arxiv.org/abs/1802.08665

    Example:
        >>> sinkhorn(torch.zeros(2, 2)).tolist()
        [[0.5, 0.5], [0.5, 0.5]]
    """
    max_iterations = min(2000, math.ceil(50 * max(1.0, 1 / temperature)))
    return _Sinkhorn.apply(log_alpha / temperature, tolerance, max_iterations)


def matching(logits: Tensor) -> Tensor:  # (*, n, n) finite -> (*, n) column matched to each row
    r"""The permutation of largest total logit, for every matrix of a batch.

    .. math:: M(X) = \arg\max_{\Pi} \langle \Pi, X \rangle

    On a GPU all matrices are matched side by side; dual prices prove every total to be the largest
    up to the rounding of one logit, and what they do not prove is matched again on the host.

    Example:
        >>> matching(torch.tensor([[0.0, 2.0], [1.0, 2.0]])).tolist()
        [1, 0]
    """
    n = logits.shape[-1]
    matrices = logits.detach().reshape(-1, n, n)
    if not has_kernels(matrices) or n > _LARGEST or not len(matrices):
        return _on_the_host(matrices).reshape(logits.shape[:-1])
    from .kernels.matching import assign

    matrices = matrices.contiguous()
    with torch.cuda.device_of(matrices):
        columns, gap = assign(matrices)
    size = torch.linalg.vector_norm(matrices, torch.inf, dim=(-2, -1))
    doubtful = ~(gap <= torch.finfo(matrices.dtype).eps * size)
    if bool(doubtful.any()):
        columns[doubtful] = _on_the_host(matrices[doubtful])
    return columns.reshape(logits.shape[:-1])


def _on_the_host(matrices: Tensor) -> Tensor:  # (b, n, n) -> (b, n)
    costs = matrices.to("cpu", torch.float64).numpy()
    columns = np.empty(costs.shape[:-1], dtype=np.int64)
    for k, cost in enumerate(costs):
        columns[k] = linear_sum_assignment(cost, maximize=True)[1]
    return torch.from_numpy(columns).to(matrices.device)
