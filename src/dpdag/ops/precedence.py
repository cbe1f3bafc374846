"""From an order to the mask of allowed edges, and back through it, without a matrix product."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def inverse_permutation(
    order: Tensor,  # (*, n) nodes by position
    dtype: torch.dtype = torch.int64,
) -> Tensor:  # (*, n) positions
    """The position of every node in an order, or the order from the positions.

    Example:
        >>> inverse_permutation(torch.tensor([2, 0, 1])).tolist()
        [1, 2, 0]
    """
    positions = torch.arange(order.shape[-1], dtype=dtype, device=order.device)
    return torch.empty_like(order, dtype=dtype).scatter_(-1, order, positions.expand_as(order))


def permutation_matrix(order: Tensor, dtype: torch.dtype) -> Tensor:  # (*, n) -> (*, n, n)
    """The matrix Π whose row k is the unit vector of the node at position k."""
    return torch.nn.functional.one_hot(order, order.shape[-1]).to(dtype)


def precedence_mask(
    order: Tensor,  # (*, n) nodes by position
    dtype: torch.dtype = torch.bool,
) -> Tensor:  # (*, n, n)
    r"""Which node pairs an order allows: entry (i, j) is true when i stands before j.

    .. math:: (\Pi^T M \Pi)_{ij} = [\text{rank}(i) < \text{rank}(j)]

    with M the strict upper triangle: one comparison instead of two matrix products.

    Example:
        >>> precedence_mask(torch.tensor([1, 0])).tolist()
        [[False, False], [True, False]]
    """
    # Floats compared in place: many times as quick as integers, or truth values and a cast.
    exact = torch.promote_types(dtype, torch.float32)
    rank = inverse_permutation(order, exact)
    first, second = rank.unsqueeze(-1), rank.unsqueeze(-2)
    return first < second if dtype == torch.bool else (first - second).lt_(0).to(dtype)


class _SoftPrecedenceMask(torch.autograd.Function):
    """Forward: the hard mask. Backward: as if the mask were ΠᵀMΠ at the hard Π."""

    @staticmethod
    def forward(ctx: Any, permutation: Tensor, order: Tensor) -> Tensor:
        ctx.save_for_backward(order)
        return precedence_mask(order, permutation.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return permutation_gradient(grads[0], ctx.saved_tensors[0]), None


def permutation_gradient(grad: Tensor, order: Tensor) -> Tensor:  # (*, n, n), (*, n) -> (*, n, n)
    r"""Gradient of :math:`\langle G, \Pi^T M \Pi \rangle` with respect to Π at a hard Π.

    .. math:: M^T \Pi G + M \Pi G^T

    Multiplying by Π is a gather, by M and Mᵀ a cumulative sum from below or above.
    """
    index = order.unsqueeze(-1).expand_as(grad)
    rows = grad.gather(-2, index)  # Π G: row k holds G[order[k], :]
    columns = grad.mT.gather(-2, index)  # Π Gᵀ
    total = columns.sum(-2, keepdim=True)
    # Two exclusive cumulative sums as one pass, in place: large buffers cost more than sums.
    return torch.sub(rows, columns, out=columns).cumsum_(-2).sub_(rows).add_(total)


def soft_precedence_mask(permutation: Tensor, order: Tensor) -> Tensor:  # (*, n, n), (*, n)
    r"""The hard precedence mask of ``order`` with a straight-through gradient to ``permutation``.

    The gradient is that of :math:`\Pi^T M \Pi` at the hard :math:`\Pi`: O(n²) time and memory.

    Arguments:
        permutation: A relaxed permutation matrix that receives the gradient.
        order: The hard order it was decoded to, nodes by position.
    """
    return _SoftPrecedenceMask.apply(permutation, order)
