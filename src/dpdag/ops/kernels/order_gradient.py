r"""The gradient of scores through SoftSort, from sums over rows and columns.

With positions k by descending score and :math:`w_{kj} = e^{-|s_k - s_j| / \tau}`, SoftSort is
:math:`S_{kj} = w_{kj} / Z_k`, and the mask's gradient H reaches it as

.. math:: T_{kj} = \sum_{l<k} H_{lj} + \sum_{l>k} H_{jl}.

On either side of k the weight is a product of a factor of k and one of j. So every sum over T is
made of sums over single rows and columns of H, and of recurrences along the order: nothing of size
n² is stored. Few nodes fit into one tile, where the recurrences are sums over it.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from .draw import ROWS, alignment, chosen, precedes
from .random import edge_uniforms, tile_width

__all__ = ["order_gradient"]

_SPAN = 256  # rows at most whose sums one program makes
_PROGRAMS = 512  # that keep a GPU busy


@triton.jit
def _chain(decay, value, next_decay, next_value):
    return decay * next_decay, value * next_decay + next_value


@triton.jit
def _before(decay, value):
    """Σ_{j<k} w_kj value_j."""
    return tl.associative_scan((decay, value), 0, _chain)[1] - value


@triton.jit
def _after(decay, value):
    """Σ_{j>k} w_kj value_j, with the decay from the position after."""
    return tl.associative_scan((decay, value), 0, _chain, reverse=True)[1] - value


@triton.jit
def _decays(scores, order, n, scale, BLOCK: tl.constexpr):
    """Nodes by position, and the weights of neighbours before and after."""
    position = tl.arange(0, BLOCK)
    inside = position < n
    node = tl.load(order + position, mask=inside, other=0)
    before = tl.load(order + position - 1, mask=inside & (position > 0), other=0)
    after = tl.load(order + position + 1, mask=position + 1 < n, other=0)
    own = tl.load(scores + node, mask=inside, other=0.0)
    drop = tl.load(scores + before, mask=inside, other=0.0) - own
    fall = own - tl.load(scores + after, mask=inside, other=0.0)
    from_before = tl.where(inside & (position > 0), tl.exp(-drop * scale), 0.0)
    from_after = tl.where(position + 1 < n, tl.exp(-fall * scale), 0.0)
    return node, inside, from_before, from_after


@triton.jit
def _tabulate(tables, scores, order, n, scale, BLOCK: tl.constexpr):
    """Per node Σ w_jk / Z_j over j < k and over j > k, 1 / Z_k, Σ_j ±S_kj and the position."""
    draw = tl.program_id(0).to(tl.int64)
    tables += draw * 5 * n
    node, inside, down, up = _decays(scores + draw * n, order + draw * n, n, scale, BLOCK)
    one = tl.where(inside, 1.0, 0.0)
    before, after = _before(down, one), _after(up, one)
    inverse = one / (1 + before + after)
    tl.store(tables + node, _before(down, inverse), mask=inside)
    tl.store(tables + n + node, _after(up, inverse), mask=inside)
    tl.store(tables + 2 * n + node, inverse, mask=inside)
    tl.store(tables + 3 * n + node, (after - before) * inverse, mask=inside)
    tl.store(tables + 4 * n + node, tl.arange(0, BLOCK).to(tl.float32), mask=inside)


@triton.jit
def _part(sums, count, which, node, inside, n):
    total = tl.where(inside, 0.0, 0.0)
    for k in range(count):
        total += tl.load(sums + (k * 4 + which) * n + node, mask=inside, other=0.0)
    return total


@triton.jit
def _gather(
    out, tables, of_rows, of_columns, scores, order, n, n_tiles, n_spans, scale, BLOCK: tl.constexpr
):
    """The gradient of all scores of one draw."""
    draw = tl.program_id(0).to(tl.int64)
    tables += draw * 5 * n
    of_rows += draw * n_tiles * 4 * n
    of_columns += draw * n_spans * 4 * n
    node, inside, down, up = _decays(scores + draw * n, order + draw * n, n, scale, BLOCK)
    mass_before = tl.load(tables + node, mask=inside, other=0.0)
    mass_after = tl.load(tables + n + node, mask=inside, other=0.0)
    inverse = tl.load(tables + 2 * n + node, mask=inside, other=0.0)
    skew = tl.load(tables + 3 * n + node, mask=inside, other=0.0)
    plain = _part(of_rows, n_tiles, 0, node, inside, n)
    plain += _part(of_columns, n_spans, 0, node, inside, n)
    to_later = _part(of_rows, n_tiles, 1, node, inside, n)
    to_earlier = _part(of_rows, n_tiles, 2, node, inside, n)
    from_earlier = _part(of_columns, n_spans, 1, node, inside, n)
    from_later = _part(of_columns, n_spans, 2, node, inside, n)
    slope = _part(of_rows, n_tiles, 3, node, inside, n)
    slope += _part(of_columns, n_spans, 3, node, inside, n)
    # Σ_{j<k} w_kj T_kj and Σ_{j>k} w_kj T_kj.
    before = _before(down, plain + to_earlier - from_earlier) - from_earlier
    after = _after(up, plain - to_later + from_later) - to_later
    inner = (before + after + plain) * inverse
    own = (after - before) * inverse - skew * inner
    share = _after(up, inner * inverse) - _before(down, inner * inverse)
    total = slope + (mass_before - mass_after) * plain - own + share
    tl.store(out + draw * n + node, total * scale, mask=inside)


@triton.jit
def _incident_sums(
    of_rows,
    of_columns,
    upstream,
    edge_logits,
    scores,
    tables,
    seeds,
    n_units,
    batch,
    n_seeds,
    n_tiles,
    n_spans,
    span,
    draw_units,
    row_units,
    column_stride,
    scale,
    UNIT: tl.constexpr,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
):
    """Sums of H = g · [φ + L ≥ 0] over rows and columns of one part of a DAG."""
    n, draw_stride, row_stride = n_units * UNIT, draw_units * UNIT, row_units * UNIT
    draw = tl.program_id(0).to(tl.int64)
    tile = tl.program_id(1)
    part = tl.program_id(2)
    seed = tl.load(seeds + draw % n_seeds)
    sample = (draw // n_seeds).to(tl.int32)
    scores += draw * n
    tables += draw * 5 * n
    upstream += draw * draw_stride
    edge_logits += (draw % batch) * n * n
    of_rows += (draw * n_tiles + tile) * 4 * n
    of_columns += (draw * n_spans + part) * 4 * n
    column = tile * WIDTH + tl.arange(0, WIDTH)
    other = tl.load(scores + column, mask=column < n, other=0.0)
    other_rank = tl.load(tables + 4 * n + column, mask=column < n, other=0.0)
    other_before = tl.load(tables + column, mask=column < n, other=0.0)
    other_after = tl.load(tables + n + column, mask=column < n, other=0.0)
    other_after += tl.load(tables + 2 * n + column, mask=column < n, other=0.0)
    plain = tl.zeros((ROWS, WIDTH), tl.float32)
    forward = tl.zeros((ROWS, WIDTH), tl.float32)
    backward = tl.zeros((ROWS, WIDTH), tl.float32)
    slope = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(part * span, tl.minimum((part + 1) * span, n), ROWS):
        row = start + tl.arange(0, ROWS)
        inside = (row < n)[:, None] & (column < n)[None, :]
        place = row[:, None].to(tl.int64) * n + column[None, :]
        there = (
            row[:, None].to(tl.int64) * row_stride + column[None, :].to(tl.int64) * column_stride
        )
        phi = tl.load(edge_logits + place, mask=inside, other=0.0)
        grad = tl.load(upstream + there, mask=inside, other=0.0)
        own = tl.load(scores + row, mask=row < n, other=0.0)
        own_rank = tl.load(tables + 4 * n + row, mask=row < n, other=0.0)
        own_before = tl.load(tables + row, mask=row < n, other=0.0)
        own_before += tl.load(tables + 2 * n + row, mask=row < n, other=0.0)
        own_after = tl.load(tables + n + row, mask=row < n, other=0.0)
        uniform = edge_uniforms(seed, sample, row, tile, n_tiles, ROWS, WIDTH)
        there_at_all = chosen(uniform, phi) & (row[:, None] != column[None, :])
        value = tl.where(there_at_all, grad, 0.0)
        weighted = value * tl.exp(-tl.abs(own[:, None] - other[None, :]) * scale)
        first = own_rank[:, None] < other_rank[None, :]
        along, against = tl.where(first, weighted, 0.0), tl.where(first, 0.0, weighted)
        kept = tl.where(first, value, 0.0)
        plain += kept
        forward += along
        backward += against
        slope -= weighted * tl.where(first, own_before[:, None], own_after[:, None])
        facing = tl.where(first, other_after[None, :], other_before[None, :])
        out = of_rows + row
        tl.store(out, tl.sum(kept, 1), mask=row < n)
        tl.store(out + n, tl.sum(along, 1), mask=row < n)
        tl.store(out + 2 * n, tl.sum(against, 1), mask=row < n)
        tl.store(out + 3 * n, tl.sum(weighted * facing, 1), mask=row < n)
    out = of_columns + column
    tl.store(out, tl.sum(plain, 0), mask=column < n)
    tl.store(out + n, tl.sum(forward, 0), mask=column < n)
    tl.store(out + 2 * n, tl.sum(backward, 0), mask=column < n)
    tl.store(out + 3 * n, tl.sum(slope, 0), mask=column < n)


@triton.jit
def _order_gradient_whole(
    out,
    upstream,
    edge_logits,
    scores,
    seeds,
    n_units,
    batch,
    n_seeds,
    draw_units,
    row_units,
    column_stride,
    scale,
    UNIT: tl.constexpr,
    WIDTH: tl.constexpr,
):
    """The gradient of all scores of one draw of few nodes."""
    n, draw_stride, row_stride = n_units * UNIT, draw_units * UNIT, row_units * UNIT
    draw = tl.program_id(0).to(tl.int64)
    node = tl.arange(0, WIDTH)
    row, column = node[:, None], node[None, :]
    inside = (row < n) & (column < n)
    seed = tl.load(seeds + draw % n_seeds)
    score = tl.load(scores + draw * n + node, mask=node < n, other=0.0)
    phi = tl.load(edge_logits + (draw % batch) * n * n + row * n + column, mask=inside, other=0.0)
    there = row * row_stride + column * column_stride
    grad = tl.load(upstream + draw * draw_stride + there, mask=inside, other=0.0)
    sample = (draw // n_seeds).to(tl.int32)
    uniform = edge_uniforms(seed, sample, node, 0, 1, WIDTH, WIDTH)
    value = tl.where(chosen(uniform, phi) & (row != column), grad, 0.0)
    first = precedes(score, score, node, node)
    weight = tl.where(inside, tl.exp(-tl.abs(score[:, None] - score[None, :]) * scale), 0.0)
    # Weights of nodes after and before that of the row.
    later = tl.where(first, weight, 0.0)
    earlier = tl.where(first | (row == column), 0.0, weight)
    after, before = tl.sum(later, 1), tl.sum(earlier, 1)
    inverse = 1 / (1 + before + after)
    skew = (after - before) * inverse
    mass_after = tl.sum(later * inverse[None, :], 1)
    mass_before = tl.sum(earlier * inverse[None, :], 1)
    kept = tl.where(first, value, 0.0)
    plain = tl.sum(kept, 1) + tl.sum(kept, 0)
    along, against = later * value, earlier * value
    to_later, to_earlier = tl.sum(along, 1), tl.sum(against, 1)
    from_earlier, from_later = tl.sum(along, 0), tl.sum(against, 0)
    slope = tl.sum(
        along * (mass_after + inverse)[None, :] + against * mass_before[None, :], 1
    ) - tl.sum(along * (mass_before + inverse)[:, None] + against * mass_after[:, None], 0)
    # Σ_{j<k} w_kj T_kj and Σ_{j>k} w_kj T_kj.
    before = tl.sum(earlier * (plain + to_earlier - from_earlier)[None, :], 1) - from_earlier
    after = tl.sum(later * (plain - to_later + from_later)[None, :], 1) - to_later
    inner = (before + after + plain) * inverse
    own = (after - before) * inverse - skew * inner
    share = tl.sum((later - earlier) * (inner * inverse)[None, :], 1)
    total = slope + (mass_before - mass_after) * plain - own + share
    tl.store(out + draw * n + node, total * scale, mask=node < n)


def order_gradient(
    upstream: Tensor,  # (draws, n, n)
    edge_logits: Tensor,  # (batch, n, n)
    scores: Tensor,  # (draws, n)
    seeds: Tensor,  # (seeds)
    temperature: float,
) -> Tensor:  # (draws, n)
    """The gradient of the scores, where H is the upstream gradient times the edges."""
    draws, n = scores.shape
    batch, width, scale = len(edge_logits), tile_width(n), 1 / temperature
    out = torch.empty_like(scores)
    draw_stride, row_stride, column_stride = upstream.stride()
    unit = alignment(n, draw_stride, row_stride)
    strides = draw_stride // unit, row_stride // unit, column_stride
    shape = {"UNIT": unit, "WIDTH": width}
    if n <= width:
        _order_gradient_whole[(draws,)](
            out,
            upstream,
            edge_logits,
            scores,
            seeds,
            n // unit,
            batch,
            len(seeds),
            *strides,
            scale,
            **shape,
            num_warps=width // 8,
        )
        return out
    n_tiles = triton.cdiv(n, width)
    rows = n * draws * n_tiles // _PROGRAMS
    span = min(max(triton.cdiv(rows, ROWS), 1) * ROWS, _SPAN)
    n_spans = triton.cdiv(n, span)
    order = scores.argsort(dim=-1, descending=True, stable=True)
    tables = scores.new_empty(draws, 5, n)
    of_rows = scores.new_empty(draws, n_tiles, 4, n)
    of_columns = scores.new_empty(draws, n_spans, 4, n)
    block = triton.next_power_of_2(n)
    warps = min(16, max(1, block // 256))
    _tabulate[(draws,)](tables, scores, order, n, scale, BLOCK=block, num_warps=warps)
    _incident_sums[(draws, n_tiles, n_spans)](
        of_rows,
        of_columns,
        upstream,
        edge_logits,
        scores,
        tables,
        seeds,
        n // unit,
        batch,
        len(seeds),
        n_tiles,
        n_spans,
        span,
        *strides,
        scale,
        **shape,
        ROWS=ROWS,
    )
    _gather[(draws,)](
        out,
        tables,
        of_rows,
        of_columns,
        scores,
        order,
        n,
        n_tiles,
        n_spans,
        scale,
        BLOCK=block,
        num_warps=warps,
    )
    return out
