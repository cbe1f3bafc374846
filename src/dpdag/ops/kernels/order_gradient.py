r"""The gradient of scores through SoftSort, from sums over rows and columns.

With positions k by descending score and :math:`w_{kj} = e^{-|s_k - s_j| / \tau}`, SoftSort is
:math:`S_{kj} = w_{kj} / Z_k`, and the mask's gradient H reaches it as

.. math:: T_{kj} = \sum_{l<k} H_{lj} + \sum_{l>k} H_{jl}.

On either side of k the weight is a product of a factor of k and one of j. So every sum over T is
made of sums over single rows and columns of H, and of recurrences along the order: nothing of size
n² is stored.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from .draw import ROWS, chosen, precedes
from .edge_gradient import edge_slope
from .random import edge_uniforms, tile_width
from .upstream import Upstream, arriving

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
def tabulate(tables, scores, order, n, scale, BLOCK: tl.constexpr):
    """Per node Σ w_jk / Z_j over j < k and over j > k, 1 / Z_k, Σ_j ±S_kj, first + third."""
    node, inside, down, up = _decays(scores, order, n, scale, BLOCK)
    one = tl.where(inside, 1.0, 0.0)
    before, after = _before(down, one), _after(up, one)
    inverse = one / (1 + before + after)
    mass_before = _before(down, inverse)
    tl.store(tables + node, mass_before, mask=inside)
    tl.store(tables + n + node, _after(up, inverse), mask=inside)
    tl.store(tables + 2 * n + node, inverse, mask=inside)
    tl.store(tables + 3 * n + node, (after - before) * inverse, mask=inside)
    tl.store(tables + 4 * n + node, mass_before + inverse, mask=inside)


@triton.jit
def _part(sums, count, which, node, inside, n):
    total = tl.where(inside, 0.0, 0.0)
    for k in range(count):
        total += tl.load(sums + (k * n + node) * 4 + which, mask=inside, other=0.0)
    return total


@triton.jit
def gather(
    tables, of_rows, of_columns, scores, order, n, n_tiles, n_spans, scale, BLOCK: tl.constexpr
):
    """The gradient of all scores of one draw, with their nodes."""
    node, inside, down, up = _decays(scores, order, n, scale, BLOCK)
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
    return node, total * scale


@triton.jit
def _store_four(out, values, place, n, SIZE: tl.constexpr):
    """Four values of each place beside each other."""
    pairs = tl.join(values[0], values[2]), tl.join(values[1], values[3])
    four = tl.reshape(tl.join(pairs[0], pairs[1]), (SIZE, 4))
    which = tl.arange(0, 4)[None, :]
    tl.store(out + place[:, None] * 4 + which, four, mask=(place < n)[:, None])


@triton.jit
def sum_incident(
    of_rows,
    of_columns,
    upstream,
    edge_logits,
    scores,
    tables,
    seed,
    sample,
    tile,
    n_tiles,
    begin,
    end,
    n,
    row_stride,
    scale,
    edges,
    edge_scale,
    SAME: tl.constexpr,
    EDGES: tl.constexpr,
    PLAIN: tl.constexpr,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
):
    """Sums of H = g · [φ + L ≥ 0] over some rows and columns, and with EDGES the gradient of φ."""
    column = tile * WIDTH + tl.arange(0, WIDTH)
    other = tl.load(scores + column, mask=column < n, other=0.0)
    other_before = tl.load(tables + column, mask=column < n, other=0.0)
    other_after = tl.load(tables + n + column, mask=column < n, other=0.0)
    other_after += tl.load(tables + 2 * n + column, mask=column < n, other=0.0)
    plain = tl.zeros((ROWS, WIDTH), tl.float32)
    forward = tl.zeros((ROWS, WIDTH), tl.float32)
    backward = tl.zeros((ROWS, WIDTH), tl.float32)
    slope = tl.zeros((ROWS, WIDTH), tl.float32)
    for start in range(begin, end, ROWS):
        row = start + tl.arange(0, ROWS)
        inside = (row < n)[:, None] & (column < n)[None, :]
        place = row[:, None] * n + column[None, :]
        phi = tl.load(edge_logits + place, mask=inside, other=0.0)
        grad = arriving(upstream, row, column, row_stride, inside, SAME)
        own = tl.load(scores + row, mask=row < n, other=0.0)
        own_before = tl.load(tables + 4 * n + row, mask=row < n, other=0.0)
        own_after = tl.load(tables + n + row, mask=row < n, other=0.0)
        uniform = edge_uniforms(seed, sample, row, tile, n_tiles, ROWS, WIDTH)
        there_at_all = chosen(uniform, phi) & (row[:, None] != column[None, :])
        value = tl.where(there_at_all, grad, 0.0)
        weighted = value * tl.exp(-tl.abs(own[:, None] - other[None, :]) * scale)
        first = precedes(own, other, row, column)
        along, against = tl.where(first, weighted, 0.0), tl.where(first, 0.0, weighted)
        kept = tl.where(first, value, 0.0)
        plain += kept
        forward += along
        backward += against
        slope -= along * own_before[:, None] + against * own_after[:, None]
        facing = along * other_after[None, :] + against * other_before[None, :]
        of_tile = tl.sum(kept, 1), tl.sum(along, 1), tl.sum(against, 1), tl.sum(facing, 1)
        _store_four(of_rows, of_tile, row, n, ROWS)
        if EDGES:
            so_far = tl.load(edges + place, mask=inside, other=0.0)
            of_edge = grad * edge_slope(uniform, phi, edge_scale, PLAIN)
            tl.store(edges + place, so_far + tl.where(first, of_edge, 0.0), mask=inside)
    total = tl.sum(plain, 0), tl.sum(forward, 0), tl.sum(backward, 0), tl.sum(slope, 0)
    _store_four(of_columns, total, column, n, WIDTH)


@triton.jit
def _tabulate(tables, scores, order, n, scale, BLOCK: tl.constexpr):
    draw = tl.program_id(0).to(tl.int64)
    tabulate(tables + draw * 5 * n, scores + draw * n, order + draw * n, n, scale, BLOCK)


@triton.jit
def _sum_incident(
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
    scale,
    UNIT: tl.constexpr,
    SAME: tl.constexpr,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
):
    n, draw_stride, row_stride = n_units * UNIT, draw_units * UNIT, row_units * UNIT
    draw = tl.program_id(0).to(tl.int64)
    tile = tl.program_id(1)
    part = tl.program_id(2)
    sum_incident(
        of_rows + (draw * n_tiles + tile) * 4 * n,
        of_columns + (draw * n_spans + part) * 4 * n,
        upstream + draw * draw_stride,
        edge_logits + (draw % batch) * n * n,
        scores + draw * n,
        tables + draw * 5 * n,
        tl.load(seeds + draw % n_seeds),
        (draw // n_seeds).to(tl.int32),
        tile,
        n_tiles,
        part * span,
        tl.minimum((part + 1) * span, n),
        n,
        row_stride,
        scale,
        of_rows,  # no edges
        scale,
        SAME=SAME,
        EDGES=False,
        PLAIN=True,
        ROWS=ROWS,
        WIDTH=WIDTH,
    )


@triton.jit
def _gather(
    out, tables, of_rows, of_columns, scores, order, n, n_tiles, n_spans, scale, BLOCK: tl.constexpr
):
    draw = tl.program_id(0).to(tl.int64)
    node, total = gather(
        tables + draw * 5 * n,
        of_rows + draw * n_tiles * 4 * n,
        of_columns + draw * n_spans * 4 * n,
        scores + draw * n,
        order + draw * n,
        n,
        n_tiles,
        n_spans,
        scale,
        BLOCK,
    )
    tl.store(out + draw * n + node, total, mask=tl.arange(0, BLOCK) < n)


def order_gradient(
    upstream: Tensor,  # (draws, n, n)
    edge_logits: Tensor,  # (batch, n, n)
    scores: Tensor,  # (draws, n)
    seeds: Tensor,  # (seeds)
    temperature: float,
) -> Tensor:  # (draws, n)
    """The gradient of the scores, where H is the upstream gradient times the edges."""
    draws, n = scores.shape
    width, scale = tile_width(n), 1 / temperature
    grad = Upstream.of(upstream)
    n_tiles = triton.cdiv(n, width)
    rows = n * draws * n_tiles // _PROGRAMS
    span = min(max(triton.cdiv(rows, ROWS), 1) * ROWS, _SPAN)
    n_spans = triton.cdiv(n, span)
    order = scores.argsort(dim=-1, descending=True, stable=True)
    tables = scores.new_empty(draws, 5, n)
    of_rows = scores.new_empty(draws, n_tiles, n, 4)
    of_columns = scores.new_empty(draws, n_spans, n, 4)
    out = torch.empty_like(scores)
    block = triton.next_power_of_2(n)
    warps = min(16, max(1, block // 256))
    _tabulate[(draws,)](tables, scores, order, n, scale, BLOCK=block, num_warps=warps)
    _sum_incident[(draws, n_tiles, n_spans)](
        of_rows,
        of_columns,
        grad.value,
        edge_logits,
        scores,
        tables,
        seeds,
        n // grad.unit,
        len(edge_logits),
        len(seeds),
        n_tiles,
        n_spans,
        span,
        grad.draw_units,
        grad.row_units,
        scale,
        UNIT=grad.unit,
        SAME=grad.same,
        ROWS=ROWS,
        WIDTH=width,
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
