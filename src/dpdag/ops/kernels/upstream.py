"""The gradient that arrives: a matrix for each draw, or one number for all of its edges."""

from __future__ import annotations

from typing import NamedTuple

import triton
import triton.language as tl
from torch import Tensor

from .draw import alignment


@triton.jit
def arriving(upstream, row, column, row_stride, inside, SAME: tl.constexpr):
    """The gradient of some edges of one draw."""
    if SAME:
        grad = tl.where(inside, tl.load(upstream), 0.0)
    else:
        place = row[:, None] * row_stride + column[None, :]
        grad = tl.load(upstream + place, mask=inside, other=0.0)
    return grad


class Upstream(NamedTuple):
    """A gradient (draws, n, n) with what kernels are told of it."""

    value: Tensor
    unit: int  # what strides are counted in
    draw_units: int
    row_units: int
    same: bool  # whether all edges of a draw have the same number, which is stored once

    @classmethod
    def of(cls, value: Tensor) -> Upstream:
        """Copied where columns are neither beside each other nor the same."""
        same = value.stride()[1:] == (0, 0)
        if not same and value.stride(-1) != 1:
            value = value.contiguous()
        draw_stride, row_stride, _ = value.stride()
        unit = alignment(value.shape[-1], draw_stride, row_stride)
        return cls(value, unit, draw_stride // unit, row_stride // unit, same)
