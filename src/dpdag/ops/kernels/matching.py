"""Best matchings by shortest augmenting paths, every matrix of a batch in a block of its own."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _nearer(
    distance, column, holder, price, other_distance, other_column, other_holder, other_price
):
    """The column at the smaller distance, of equal ones the first."""
    tied = (distance == other_distance) & (column < other_column)
    own = (distance < other_distance) | tied
    return (
        tl.where(own, distance, other_distance),
        tl.where(own, column, other_column),
        tl.where(own, holder, other_holder),
        tl.where(own, price, other_price),
    )


@triton.jit
def _assign(logits, columns, prices, n, BLOCK: tl.constexpr):
    """Dijkstra's search from one row after the other, in double precision."""
    item = tl.program_id(0).to(tl.int64)
    logits += item * n * n
    column = tl.arange(0, BLOCK)
    real = column < n
    price = tl.zeros((BLOCK,), tl.float64)
    holder = tl.full((BLOCK,), -1, tl.int32)  # the row that each column is matched to
    far = float("inf")
    for start in range(n):
        distance = tl.full((BLOCK,), far, tl.float64)
        reached_from = tl.full((BLOCK,), -1, tl.int32)
        # A column that was searched keeps its distance here and is infinitely far above.
        settled = tl.full((BLOCK,), far, tl.float64)
        row = start + tl.zeros((), tl.int32)
        sink = row * 0 - 1
        least = tl.zeros((), tl.float64)
        offset = tl.zeros((), tl.float64)
        while sink < 0:
            value = tl.load(logits + row.to(tl.int64) * n + column, mask=real, other=0.0)
            longer = offset - value.to(tl.float64) - price
            open_ = real & (settled == far)
            shorter = open_ & (longer < distance)
            distance = tl.where(shorter, longer, distance)
            reached_from = tl.where(shorter, row, reached_from)
            least, nearest, held_by, its_price = tl.reduce(
                (tl.where(open_, distance, far), column, holder, price), 0, _nearer
            )
            settled = tl.where(column == nearest, least, settled)
            if held_by < 0:
                sink = nearest
            else:
                row = held_by
                matched = tl.load(logits + row.to(tl.int64) * n + nearest)
                offset = least + matched.to(tl.float64) + its_price
        price = tl.where(settled < far, price - least + settled, price)
        # Along the path back every column goes to the row that reached it.
        row = start - 1 + tl.zeros((), tl.int32)
        while row != start:
            row = tl.sum(tl.where(column == sink, reached_from, 0), 0)
            left = tl.sum(tl.where(holder == row, column, 0), 0)
            holder = tl.where(column == sink, row, holder)
            sink = left
    tl.store(columns + item * n + holder, column, mask=real)
    tl.store(prices + item * n + column, price, mask=real)


@triton.jit
def _bound(gaps, logits, columns, prices, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """How much better than its own column another could be for some rows, at given prices."""
    item = tl.program_id(0).to(tl.int64)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    logits += item * n * n
    prices += item * n
    own = tl.load(columns + item * n + row, mask=row < n, other=0)
    value = tl.load(logits + row.to(tl.int64) * n + own, mask=row < n, other=0.0)
    value = value.to(tl.float64) + tl.load(prices + own)
    best = value
    for start in range(0, n, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = (row < n)[:, None] & (column < n)[None, :]
        other = tl.load(
            logits + row.to(tl.int64)[:, None] * n + column[None, :], mask=inside, other=0.0
        )
        price = tl.load(prices + column, mask=column < n, other=0.0)
        total = tl.where(inside, other.to(tl.float64) + price[None, :], -float("inf"))
        best = tl.maximum(best, tl.max(total, 1))
    tl.store(gaps + item * n + row, best - value, mask=row < n)


def assign(logits: Tensor) -> tuple[Tensor, Tensor]:  # (b, n, n) float32
    """The column of every row (b, n) in a matching, and its :func:`optimality_gap` (b)."""
    b, n, _ = logits.shape
    columns = torch.zeros(b, n, dtype=torch.int64, device=logits.device)
    prices = torch.empty(b, n, dtype=torch.float64, device=logits.device)
    block = max(16, triton.next_power_of_2(n))
    warps = min(8, max(1, block // 128))
    _assign[(b,)](logits, columns, prices, n, BLOCK=block, num_warps=warps)
    return columns, optimality_gap(logits, columns, prices)


def optimality_gap(logits: Tensor, columns: Tensor, prices: Tensor) -> Tensor:  # -> (b)
    """How far at most matchings (b, n) are from the best, infinite for what is no matching.

    A bound for any prices (b, n): no total can exceed what every row finds at best after the
    prices of the columns, and every matching pays each price once.
    """
    b, n, _ = logits.shape
    gaps = torch.empty_like(prices)
    _bound[(b, triton.cdiv(n, 16))](gaps, logits, columns, prices, n, ROWS=16, BLOCK=64)
    matched = torch.zeros_like(prices).scatter_(-1, columns, 1.0).all(-1)
    return gaps.sum(-1).masked_fill(~matched, torch.inf)
