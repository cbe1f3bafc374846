"""DAGs along random orders, written once: ranks, random numbers and comparison in one pass."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from .random import edge_uniforms, gumbels, tile_width

ROWS = 8  # of a tile


@triton.jit
def _perturb(scores, logits, seeds, n, batch, n_seeds, BLOCK: tl.constexpr):
    """Scores of one draw: ψ + G."""
    draw = tl.program_id(0).to(tl.int64)
    node = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = node < n
    seed = tl.load(seeds + draw % n_seeds)
    noise = gumbels(seed, (draw // n_seeds).to(tl.int32), node)
    psi = tl.load(logits + (draw % batch) * n + node, mask=inside)
    tl.store(scores + draw * n + node, psi + noise, mask=inside)


@triton.jit
def precedes(own, other, row, column):
    """Which rows stand before which columns: of equal scores the first goes first."""
    tied = (own[:, None] == other[None, :]) & (row[:, None] < column[None, :])
    return (own[:, None] > other[None, :]) | tied


@triton.jit
def chosen(uniform, logit):
    """Which edges are there before the order is: φ + L ≥ 0, or u < σ(φ)."""
    return uniform * (1 + tl.exp(-logit)) < 1


@triton.jit
def _draw(
    dags,
    edge_logits,
    scores,
    seeds,
    n_units,
    batch,
    n_seeds,
    n_tiles,
    UNIT: tl.constexpr,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
):
    """Some rows of one DAG, written once."""
    n = n_units * UNIT  # tells the compiler what rows are aligned to
    draw = tl.program_id(0).to(tl.int64)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    seed = tl.load(seeds + draw % n_seeds)
    sample = (draw // n_seeds).to(tl.int32)
    scores += draw * n
    dags += draw * n * n
    edge_logits += (draw % batch) * n * n
    own = tl.load(scores + row, mask=row < n, other=0.0)
    for tile in range(n_tiles):
        column = tile * WIDTH + tl.arange(0, WIDTH)
        inside = (row < n)[:, None] & (column < n)[None, :]
        place = row[:, None] * n + column[None, :]
        other = tl.load(scores + column, mask=column < n, other=0.0)
        phi = tl.load(edge_logits + place, mask=inside, other=0.0)
        uniform = edge_uniforms(seed, sample, row, tile, n_tiles, ROWS, WIDTH)
        edge = chosen(uniform, phi) & precedes(own, other, row, column)
        tl.store(dags + place, edge.to(tl.float32), mask=inside)


def alignment(*strides: int) -> int:
    """What all strides are divisible by: the compiler then moves as many numbers at once."""
    return 4 if all(stride % 4 == 0 for stride in strides) else 1


def perturbed_scores(order_logits: Tensor, seeds: Tensor, draws: int) -> Tensor:
    """ψ + G for a number of draws: (batch, n), (seeds) int64 -> (draws, n)."""
    batch, n = order_logits.shape
    scores = order_logits.new_empty(draws, n)
    block = min(1024, triton.next_power_of_2(n))
    grid = (draws, triton.cdiv(n, block))
    _perturb[grid](scores, order_logits, seeds, n, batch, len(seeds), BLOCK=block)
    return scores


def draw_dags(
    order_logits: Tensor,  # (batch, n)
    edge_logits: Tensor,  # (batch, n, n)
    seeds: Tensor,  # (seeds)
    draws: int,
) -> tuple[Tensor, Tensor]:  # (draws, n, n), (draws, n)
    """DAGs, and the scores along which they are drawn."""
    batch, n = order_logits.shape
    dags = edge_logits.new_empty(draws, n, n)
    scores = perturbed_scores(order_logits, seeds, draws)
    unit, width = alignment(n), tile_width(n)
    _draw[(draws, triton.cdiv(n, ROWS))](
        dags,
        edge_logits,
        scores,
        seeds,
        n // unit,
        batch,
        len(seeds),
        triton.cdiv(n, width),
        UNIT=unit,
        ROWS=ROWS,
        WIDTH=width,
    )
    return dags, scores
