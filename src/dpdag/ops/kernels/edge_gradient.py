"""The gradient of edge logits, from noise that is made again."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from .draw import ROWS, precedes
from .random import edge_uniforms, tile_width
from .upstream import Upstream, arriving

_PROGRAMS = 2048  # that keep a GPU busy


@triton.jit
def edge_slope(uniform, phi, scale, PLAIN: tl.constexpr):
    """σ'((φ + L) / τ) / τ, with 1 / τ as scale; PLAIN where it is one."""
    # With L = log((1 - u) / u) the odds of the sigmoid are for : against.
    weight_for, weight_against = 1 - uniform, uniform * tl.exp(-phi)
    if not PLAIN:
        weight_for = tl.exp(tl.log(weight_for) * scale)
        weight_against = tl.exp((tl.log(uniform) - phi) * scale)
    weight_against = tl.minimum(weight_against, 1e18)  # whose square is finite
    both = weight_for + weight_against
    return weight_for * weight_against / (both * both) * scale


@triton.jit
def _edge_gradient(
    out,
    upstream,
    edge_logits,
    scores,
    seeds,
    n_units,
    batch,
    samples,
    n_seeds,
    n_tiles,
    span,
    draw_units,
    row_units,
    scale,
    UNIT: tl.constexpr,
    SAME: tl.constexpr,
    PLAIN: tl.constexpr,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
):
    """g · m · σ'((φ + L) / τ) / τ of one tile, summed over ``span`` samples of a batch item."""
    n, draw_stride, row_stride = n_units * UNIT, draw_units * UNIT, row_units * UNIT
    tile = tl.program_id(0) % n_tiles
    row = (tl.program_id(0) // n_tiles) * ROWS + tl.arange(0, ROWS)
    item = tl.program_id(1).to(tl.int64)
    part = tl.program_id(2)
    column = tile * WIDTH + tl.arange(0, WIDTH)
    inside = (row < n)[:, None] & (column < n)[None, :]
    place = row[:, None] * n + column[None, :]
    phi = tl.load(edge_logits + item * n * n + place, mask=inside, other=0.0)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    for number in range(part * span, tl.minimum((part + 1) * span, samples)):
        draw = number * batch + item
        seed = tl.load(seeds + draw % n_seeds)
        uniform = edge_uniforms(
            seed, (draw // n_seeds).to(tl.int32), row, tile, n_tiles, ROWS, WIDTH
        )
        own = tl.load(scores + draw * n + row, mask=row < n, other=0.0)
        other = tl.load(scores + draw * n + column, mask=column < n, other=0.0)
        grad = arriving(upstream + draw * draw_stride, row, column, row_stride, inside, SAME)
        slope = grad * edge_slope(uniform, phi, scale, PLAIN)
        total += tl.where(precedes(own, other, row, column), slope, 0.0)
    out += (part * batch + item) * n * n
    tl.store(out + place, total, mask=inside)


def edge_gradient(
    upstream: Tensor,  # (draws, n, n)
    edge_logits: Tensor,  # (batch, n, n)
    scores: Tensor,  # (draws, n)
    seeds: Tensor,  # (seeds)
    temperature: float,
) -> Tensor:  # (batch, n, n)
    """The gradient of φ, summed over the samples."""
    (draws, n), batch = scores.shape, len(edge_logits)
    width = tile_width(n)
    n_tiles = triton.cdiv(n, width)
    tiles = n_tiles * triton.cdiv(n, ROWS)
    samples = draws // batch
    # Few tiles are summed in several parts, for as many programs as keep a GPU busy.
    parts = max(1, min(samples, _PROGRAMS // (tiles * batch)))
    span = triton.cdiv(samples, parts)
    parts = triton.cdiv(samples, span)
    out = scores.new_empty(parts, batch, n, n)
    grad = Upstream.of(upstream)
    _edge_gradient[(tiles, batch, parts)](
        out,
        grad.value,
        edge_logits,
        scores,
        seeds,
        n // grad.unit,
        batch,
        samples,
        len(seeds),
        n_tiles,
        span,
        grad.draw_units,
        grad.row_units,
        1 / temperature,
        UNIT=grad.unit,
        SAME=grad.same,
        PLAIN=temperature == 1,
        ROWS=ROWS,
        WIDTH=width,
    )
    return out[0] if parts == 1 else out.sum(0)
