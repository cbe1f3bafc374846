"""Sorting, softly and under a partial order."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .precedence import permutation_gradient, precedence_mask

_WORD = 62  # bits of an int64 used per sorting key
FEW = 32  # nodes up to which products of matrices are quicker than sums along the order


def soft_sort(scores: Tensor, order: Tensor, *, temperature: float = 1.0) -> Tensor:
    r"""Relaxed permutation matrix of a descending sort.

    .. math:: \hat\Pi_{kj} = \text{softmax}_j\left(-|s_{\text{order}(k)} - s_j| / \tau\right)

    Arguments:
        scores: (*, n) finite scores.
        order: (*, n) the nodes by descending score.
        temperature: τ; towards zero the matrix becomes the hard permutation.

    References:
        | SoftSort: A Continuous Relaxation for the argsort Operator (Prillo and Eisenschlos, 2020)
        | https://arxiv.org/abs/2006.16038

    Example:
        >>> scores = torch.tensor([0.0, 2.0])
        >>> soft_sort(scores, torch.tensor([1, 0]), temperature=0.1).round().tolist()
        [[0.0, 1.0], [1.0, 0.0]]
    """
    ordered = scores.gather(-1, order)
    distance = (ordered.unsqueeze(-1) - scores.unsqueeze(-2)).abs()
    return torch.softmax(-distance / temperature, dim=-1)


class _SoftSortMask(torch.autograd.Function):
    """Forward: the mask of the order. Backward: through ΠᵀMΠ and SoftSort."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, order: Tensor, temperature: float) -> Tensor:
        mask = precedence_mask(order, scores.dtype)
        ctx.save_for_backward(scores, order, mask)
        ctx.temperature = temperature
        return mask

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        scores, order, mask = ctx.saved_tensors
        place = mask if scores.shape[-1] <= FEW else order
        return soft_sort_gradient(grads[0], scores, place, ctx.temperature), None, None


def soft_sort_gradient(
    grad: Tensor,  # (*, n, n) of the mask
    scores: Tensor,  # (*, n)
    place: Tensor,  # up to FEW nodes their mask (*, n, n), else their order (*, n)
    temperature: float,
) -> Tensor:  # (*, n)
    """The gradient of the scores, from that of the mask, through ΠᵀMΠ and SoftSort.

    The gradient of Π has a row for every position; of few nodes, where it is two products with the
    mask, a row for every node.
    """
    scores = scores if temperature == 1 else scores / temperature
    few = scores.shape[-1] <= FEW
    if few:
        upstream, own = (place.mT @ grad).add_(place @ grad.mT), scores
    else:
        upstream, own = permutation_gradient(grad, place), scores.gather(-1, place)
    difference = own.unsqueeze(-1) - scores.unsqueeze(-2)
    soft = torch.softmax(difference.abs().neg_(), -1)
    inner = (soft * upstream).sum(-1, keepdim=True)
    upstream.sub_(inner).mul_(soft)  # with respect to the softmax's logits
    upstream.mul_(difference.sign_())
    # The logits are −|s_own − s_j|/τ: rows are summed for s_own, columns for s_j.
    if few:
        direct = (upstream.mT - upstream).sum(-1)
    else:
        direct = upstream.sum(-2).scatter_add_(-1, place, upstream.sum(-1).neg_())
    return direct if temperature == 1 else direct.div_(temperature)


def soft_sort_mask(scores: Tensor, order: Tensor, *, temperature: float = 1.0) -> Tensor:
    r"""The precedence mask of ``order`` with a straight-through gradient through SoftSort.

    The same as :func:`~dpdag.ops.precedence.soft_precedence_mask` of :func:`soft_sort`, with the
    relaxed permutation formed only when a gradient is asked for.

    Arguments:
        scores: (*, n) finite scores.
        order: (*, n) the nodes by descending score.
        temperature: τ of SoftSort.
    """
    return _SoftSortMask.apply(scores, order, temperature)


def constrained_argsort(scores: Tensor, before: Tensor) -> Tensor:  # (*, n), (n, n) -> (*, n)
    r"""Sort by descending score, yet never against a partial order.

    Node i precedes node j when the highest score in :math:`D_i \triangle D_j` lies in
    :math:`D_i`, where :math:`D_i` holds i and all that must follow it. This is a total order: it
    reads the rows of D, columns sorted by score, as binary numbers. It equals the plain sort where
    nothing is constrained, and its pairwise probabilities under Gumbel noise stay closed.

    Arguments:
        scores: (*, n) finite scores.
        before: (n, n) transitively closed: i must precede j.

    Example:
        >>> before = torch.tensor([[False, True], [False, False]])
        >>> constrained_argsort(torch.tensor([0.0, 5.0]), before).tolist()
        [0, 1]
    """
    n = scores.shape[-1]
    by_score = scores.argsort(dim=-1, descending=True, stable=True)
    follows = before | torch.eye(n, dtype=torch.bool, device=before.device)
    bits = follows.mT[by_score].mT.long()  # (*, i, k): does D_i hold the node of the k-th score
    order = torch.arange(n, device=scores.device).expand_as(by_score)
    for start in reversed(range(0, n, _WORD)):  # least significant word first, stable sorts
        word = bits[..., start : start + _WORD]
        weights = 2 ** torch.arange(word.shape[-1] - 1, -1, -1, device=scores.device)
        key = (word * weights).sum(-1).gather(-1, order)
        order = order.gather(-1, key.argsort(dim=-1, descending=True, stable=True))
    return order


def untangle(scores: Tensor, order: Tensor, *, margin: float) -> Tensor:  # (*, n), (*, n) -> (*, n)
    """Shift scores by constants so that they descend along ``order``.

    Gaps that already descend are kept, others become ``margin``; gradients reach the scores
    unchanged. With an order that sorts the scores, nothing moves.
    """
    ordered = scores.detach().gather(-1, order)
    gaps = ordered[..., :-1] - ordered[..., 1:]
    gaps = torch.where(gaps < 0, margin, gaps)
    drop = torch.nn.functional.pad(gaps.cumsum(-1), (1, 0))
    target = torch.empty_like(ordered).scatter_(-1, order, ordered[..., :1] - drop)
    return scores + (target - scores.detach())
