"""DAGs along the order of random scores: hard forward, straight-through backward, in one step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from .precedence import precedence_mask
from .sorting import FEW, soft_sort_gradient
from .straight_through import sigmoid_gradient


class _DAGsByScores(torch.autograd.Function):
    """A = [φ + L ≥ 0] ∘ mask of the descending sort of ψ + G."""

    @staticmethod
    def forward(
        ctx: Any,
        order_logits: Tensor,
        edge_logits: Tensor,
        order_noise: Tensor,
        edge_noise: Tensor,
        temperature: float,
        edge_temperature: float,
    ) -> Tensor:
        scores, perturbed = order_logits + order_noise, edge_logits + edge_noise
        hard = perturbed.clone().ge_(_no_loops(scores.shape[-1], scores.dtype, scores.device))
        order, mask = _order_and_mask(scores)
        ctx.save_for_backward(scores, perturbed, order, hard, mask)
        ctx.temperatures = temperature, edge_temperature
        ctx.shapes = order_logits.shape, edge_logits.shape
        return hard * mask

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        (scores, perturbed, order, hard, mask), (grad,) = ctx.saved_tensors, grads
        temperature, edge_temperature = ctx.temperatures
        order_shape, edge_shape = ctx.shapes
        to_order = to_edges = None
        if ctx.needs_input_grad[0]:
            place = mask if order is None else order
            to_order = soft_sort_gradient(grad * hard, scores, place, temperature)
            to_order = to_order.sum_to_size(order_shape)
        if ctx.needs_input_grad[1]:
            to_edges = sigmoid_gradient(grad, perturbed, edge_temperature).mul_(mask)
            to_edges = to_edges.sum_to_size(edge_shape)
        return to_order, to_edges, None, None, None, None


def _order_and_mask(scores: Tensor) -> tuple[Tensor | None, Tensor]:  # (*, n), (*, n, n)
    """The mask of a stable descending sort, and its order where that was needed."""
    n = scores.shape[-1]
    if n <= FEW:  # n² comparisons instead of a sort
        difference = scores.unsqueeze(-1) - scores.unsqueeze(-2)
        return None, difference.gt_(_tie_break(n, scores.dtype, scores.device))
    order = scores.argsort(dim=-1, descending=True, stable=True)
    return order, precedence_mask(order, scores.dtype)


@lru_cache(maxsize=8)
def _tie_break(n: int, dtype: torch.dtype, device: torch.device) -> Tensor:  # (n, n)
    """What a difference of scores must exceed: of equal ones the first goes first."""
    least = torch.nextafter(torch.zeros((), dtype=dtype), -torch.ones((), dtype=dtype))
    return least.expand(n, n).triu(1).to(device)


@lru_cache(maxsize=8)
def _no_loops(n: int, dtype: torch.dtype, device: torch.device) -> Tensor:  # (n, n)
    """What perturbed logits must reach: zero, and on the diagonal what none can."""
    return torch.zeros(n, n, dtype=dtype, device=device).fill_diagonal_(torch.inf)


def dags_by_scores(
    order_logits: Tensor,  # (*batch, n)
    edge_logits: Tensor,  # (*batch, n, n)
    order_noise: Tensor,  # (*sample, *batch, n)
    edge_noise: Tensor,  # (*sample, *batch, n, n)
    *,
    temperature: float = 1.0,
    edge_temperature: float = 1.0,
) -> Tensor:  # (*sample, *batch, n, n)
    r"""DAGs along the descending sort of perturbed scores, with straight-through gradients.

    .. math:: A_{ij} = [\phi_{ij} + L_{ij} \ge 0]\, [\psi_i + G_i > \psi_j + G_j]

    The same as :func:`~dpdag.ops.straight_through.hard_sigmoid` of the edges where
    :func:`~dpdag.ops.sorting.soft_sort_mask` of the scores is one, as a single operation.

    Arguments:
        order_logits, edge_logits: ψ and φ, which receive gradients.
        order_noise, edge_noise: G and L, which do not.
        temperature: τ of SoftSort.
        edge_temperature: τ of the sigmoid.

    Example:
        >>> psi, phi = torch.tensor([0.0, 1.0]), torch.zeros(2, 2)
        >>> dags_by_scores(psi, phi, torch.zeros(2), torch.zeros(2, 2)).tolist()
        [[0.0, 0.0], [1.0, 0.0]]
    """
    if not torch.is_grad_enabled():
        mask = _order_and_mask(order_logits + order_noise)[1]
        return (edge_logits + edge_noise).ge_(0).mul_(mask)
    return _DAGsByScores.apply(
        order_logits, edge_logits, order_noise, edge_noise, temperature, edge_temperature
    )


class _SeededDAGs(torch.autograd.Function):
    """The same from noise that kernels make, and in the backward pass make again."""

    @staticmethod
    def forward(
        ctx: Any,
        order_logits: Tensor,  # (batch, n)
        edge_logits: Tensor,  # (batch, n, n)
        seeds: Tensor,  # (1 or batch)
        samples: int,
        temperature: float,
        edge_temperature: float,
    ) -> Tensor:  # (samples · batch, n, n)
        from .kernels.draw import draw_dags
        from .kernels.whole import draw_whole, is_whole

        draw = draw_whole if is_whole(order_logits.shape[-1]) else draw_dags
        with torch.cuda.device_of(order_logits):
            dags, scores = draw(order_logits, edge_logits, seeds, samples * len(order_logits))
        ctx.save_for_backward(edge_logits, scores, seeds)
        ctx.temperatures = temperature, edge_temperature
        return dags

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        from .kernels.edge_gradient import edge_gradient
        from .kernels.order_gradient import order_gradient
        from .kernels.whole import gradients_whole, is_whole

        (edge_logits, scores, seeds), (grad,) = ctx.saved_tensors, grads
        temperature, edge_temperature = ctx.temperatures
        to_order = to_edges = None
        if is_whole(scores.shape[-1]):
            found = gradients_whole(grad, edge_logits, scores, seeds, *ctx.temperatures)
            return *found, None, None, None, None
        if ctx.needs_input_grad[0]:
            to_scores = order_gradient(grad, edge_logits, scores, seeds, temperature)
            to_order = to_scores.unflatten(0, (-1, len(edge_logits))).sum(0)
        if ctx.needs_input_grad[1]:
            to_edges = edge_gradient(grad, edge_logits, scores, seeds, edge_temperature)
        return to_order, to_edges, None, None, None, None


def dags_by_seeds(
    order_logits: Tensor,  # (*batch, n)
    edge_logits: Tensor,  # (*batch, n, n)
    seeds: Tensor,  # (1) for all together, or (*batch) int64
    sample_shape: Sequence[int] = (),
    *,
    temperature: float = 1.0,
    edge_temperature: float = 1.0,
) -> Tensor:  # (*sample, *batch, n, n)
    """DAGs as :func:`dags_by_scores` makes them, from seeds instead of noise.

    The result is written once and its noise never, so that sampling takes little longer than
    filling the memory. Needs :func:`~dpdag.ops.kernels.has_kernels` of the logits.

    Arguments:
        seeds: Of the noise: one stream for everything, or one for each batch item, which then
            does not depend on the others.
    """
    batch, n = edge_logits.shape[:-2], edge_logits.shape[-1]
    dags = _SeededDAGs.apply(
        order_logits.reshape(-1, n).contiguous(),
        edge_logits.reshape(-1, n, n).contiguous(),
        seeds.reshape(-1).contiguous(),
        math.prod(sample_shape),
        temperature,
        edge_temperature,
    )
    return dags.reshape(*sample_shape, *batch, n, n)
