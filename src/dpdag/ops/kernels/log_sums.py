"""Logarithms of sums of exponentials over the rows of matrices, in one pass."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _log_sums(
    out, x, shift, n, row_stride, column_stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    item = tl.program_id(0).to(tl.int64)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    x += item * n * n
    most = tl.full((ROWS,), -float("inf"), tl.float32)
    total = tl.zeros((ROWS,), tl.float32)
    for start in range(0, n, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        inside = (row < n)[:, None] & (column < n)[None, :]
        place = row[:, None].to(tl.int64) * row_stride
        place += column[None, :].to(tl.int64) * column_stride
        value = tl.load(x + place, mask=inside, other=-float("inf"))
        value += tl.load(shift + item * n + column, mask=column < n, other=0.0)[None, :]
        most_now = tl.maximum(most, tl.max(value, 1))
        level = tl.where(row < n, most_now, 0.0)  # rows outside hold nothing but infinities
        total = total * tl.exp(most - level) + tl.sum(tl.exp(value - level[:, None]), 1)
        most = most_now
    total = tl.where(row < n, total, 1.0)
    tl.store(out + item * n + row, most + tl.log(total), mask=row < n)


def log_sums(x: Tensor, shift: Tensor) -> Tensor:
    """log Σ_j exp(x_ij + shift_j): (b, n, n) or its transpose, (b, n) -> (b, n)."""
    b, n, _ = x.shape
    if x.stride()[-1] != 1 and x.stride()[-2] != 1:
        x = x.contiguous()
    # One axis of a tile is long where memory is contiguous.
    rows, columns = (16, 128) if x.stride()[-1] == 1 else (64, 32)
    out = x.new_empty(b, n)
    _log_sums[(b, triton.cdiv(n, rows))](
        out, x, shift.contiguous(), n, *x.stride()[-2:], ROWS=rows, COLUMNS=columns
    )
    return out
