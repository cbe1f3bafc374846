r"""Exact sums over all n! orders of random utilities, by dynamic programming over 2ⁿ subsets.

An order is drawn by Plackett–Luce: the next node is v with probability proportional to
:math:`e^{\psi_v}` among those left. Any weight that is a product over nodes v of a function of v
and of the *set* of nodes before it can then be summed exactly.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import pairwise

import torch
from torch import Tensor

MAX_NODES = 15
IMPOSSIBLE = -1e30  # finite in place of −∞, so that gradients are finite too


def edge_weights(log_present: Tensor, log_absent: Tensor, adjacency: Tensor) -> Tensor:
    r"""Log-probability of the edges into each node, given the set S of nodes before it.

    .. math:: w(S, v) = \prod_{u \in S} p_{uv}^{A_{uv}} (1 - p_{uv})^{1 - A_{uv}}
        \prod_{u \notin S} [A_{uv} = 0]

    Arguments:
        log_present, log_absent: (*, n, n) log-probability of an edge and of its absence.
        adjacency: (*, n, n) bool.

    Returns:
        (*, 2ⁿ, n), subsets coded in binary.
    """
    before = torch.where(adjacency, log_present, log_absent).clamp_min(IMPOSSIBLE)  # (*, u, v)
    after = torch.where(adjacency, IMPOSSIBLE, 0.0).to(before.dtype)
    table = torch.zeros_like(before[..., :1, :])
    for u in range(before.shape[-1]):  # doubling: subsets without u, then with u
        without, within = after[..., u : u + 1, :], before[..., u : u + 1, :]
        table = torch.cat([table + without, table + within], dim=-2)
    return table


def order_weights(order: Tensor, dtype: torch.dtype) -> Tensor:  # (*, n) -> (*, 2ⁿ, n)
    """Log-indicator that exactly the set S stands before node v in a given order."""
    n = order.shape[-1]
    bits = 2**order
    codes = bits.cumsum(-1) - bits  # (*, n): set before each position
    table = torch.full((*order.shape[:-1], 2**n, n), IMPOSSIBLE, dtype=dtype, device=order.device)
    flat = (codes * n + order).long()
    return table.flatten(-2).scatter(-1, flat, 0.0).unflatten(-1, (2**n, n))


def sum_over_orders(
    order_logits: Tensor,  # (*, n)
    log_weights: Tensor,  # (*, 2ⁿ, n)
    *,
    before: Tensor | None = None,  # (n, n) bool, transitively closed
) -> Tensor:  # (*)
    r"""Logarithm of the expected weight of a random order.

    .. math:: \log \sum_\pi P_\psi(\pi) \prod_v w(\{u : \pi(u) < \pi(v)\}, v)

    Arguments:
        order_logits: ψ of the Plackett–Luce distribution.
        log_weights: Logarithms of w(S, v).
        before: Partial order enforced as by :func:`~dpdag.ops.sorting.constrained_argsort`.
    """
    if before is not None and not is_weak_order(before):
        total = _sum_by_blocks(order_logits, log_weights, before)
    else:
        total = prefix_levels(order_logits, log_weights, before=before)[-1].squeeze(-1)
    return total.masked_fill(total < IMPOSSIBLE / 2, -torch.inf)


def is_weak_order(before: Tensor) -> bool:  # (n, n) bool
    """Whether a partial order only sorts nodes into tiers: incomparability is transitive."""
    tied = ~(before | before.mT)
    return bool((((tied.float() @ tied.float()) > 0) == tied).all())


def prefix_levels(
    order_logits: Tensor,  # (*, n)
    log_weights: Tensor | None = None,  # (*, 2ⁿ, n)
    *,
    before: Tensor | None = None,
) -> list[Tensor]:  # entry k: (*, binomial(n, k))
    r"""Log-weight of all beginnings of an order, by the set of nodes they hold.

    .. math:: f(S) = \sum_{v \in S} f(S \setminus v)\, P(v \text{ next} \mid S \setminus v)\,
        w(S \setminus v, v)

    Level k lists the subsets of size k in the order of :func:`subset_levels`.
    """
    n = order_logits.shape[-1]
    step = next_log_probabilities(order_logits, before=before)
    if log_weights is not None:
        step = step + log_weights
    flat = step.flatten(-2)
    level = torch.zeros_like(flat[..., :1])
    levels = [level]
    for place, addition in extensions(n):
        place, addition = place.to(flat.device), addition.to(flat.device)
        level = (level[..., place] + flat[..., addition]).logsumexp(-1)
        levels.append(level)
    return levels


def next_log_probabilities(order_logits: Tensor, *, before: Tensor | None = None) -> Tensor:
    """(*, 2ⁿ, n) log-probability that v comes next when the set S has been placed."""
    n = order_logits.shape[-1]
    codes = torch.arange(2**n, device=order_logits.device)
    placed = (codes.unsqueeze(-1) >> torch.arange(n, device=codes.device) & 1).bool()
    available = ~placed
    if before is not None:  # a node is available when all that must precede it are placed
        missing = (~placed).float() @ before.to(placed.device).float() > 0
        available = available & ~missing
    masked = order_logits.unsqueeze(-2).masked_fill(~available, IMPOSSIBLE)
    total = masked.logsumexp(-1, keepdim=True)
    return torch.where(available, masked - total, IMPOSSIBLE)


@lru_cache(maxsize=4)
def subset_levels(n: int) -> list[Tensor]:
    """Codes of all subsets of n nodes, by size."""
    codes = torch.arange(2**n)
    sizes = (codes.unsqueeze(-1) >> torch.arange(n) & 1).sum(-1)
    return [codes[sizes == k] for k in range(n + 1)]


@lru_cache(maxsize=4)
def extensions(n: int) -> list[tuple[Tensor, Tensor]]:
    """How subsets are made by one more member, (subsets, k) for each level k ≥ 1.

    The place of what they were in the level before, and of the step in a flat table (2ⁿ · n).
    """
    found = []
    for k, (before, level) in enumerate(pairwise(subset_levels(n)), start=1):
        member = (level.unsqueeze(-1) >> torch.arange(n) & 1).nonzero()[:, 1].reshape(-1, k)
        previous = level.unsqueeze(-1) - 2**member
        found.append((torch.searchsorted(before, previous), previous * n + member))
    return found


def _sum_by_blocks(order_logits: Tensor, log_weights: Tensor, before: Tensor) -> Tensor:
    r"""The same sum under any partial order.

    The highest score left belongs to d with its Plackett–Luce probability; then all nodes that
    must precede d come first, in an order drawn in the same way among them alone, then d, then
    the rest. Relative orders of disjoint sets are independent, so the sum factorises.
    """
    n = order_logits.shape[-1]
    ancestors = [sum(1 << u for u in range(n) if before[u, d]) for d in range(n)]

    @cache
    def log_total(left: int) -> Tensor:
        members = [v for v in range(n) if left >> v & 1]
        return order_logits[..., members].logsumexp(-1)

    @cache
    def total(placed: int, left: int) -> Tensor:
        if not left:
            return torch.zeros_like(log_weights[..., 0, 0])
        terms = []
        for d in (v for v in range(n) if left >> v & 1):
            block = ancestors[d] & left
            reached = placed | block
            after = left & ~block & ~(1 << d)
            terms.append(
                order_logits[..., d]
                - log_total(left)
                + total(placed, block)
                + log_weights[..., reached, d]
                + total(reached | 1 << d, after)
            )
        return torch.stack(torch.broadcast_tensors(*terms), -1).logsumexp(-1)

    return total(0, 2**n - 1)
