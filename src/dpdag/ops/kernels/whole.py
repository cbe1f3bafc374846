"""DAGs of few nodes: drawn by one kernel, and differentiated by one that does all of a draw."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from .draw import ROWS, alignment, chosen, precedes
from .order_gradient import gather, sum_incident, tabulate
from .random import edge_uniforms, gumbels, tile_width
from .upstream import Upstream

_PROGRAMS = 1024  # that keep a GPU busy
_REGISTERS = 128  # of a thread at most, so that several programs share a multiprocessor


def is_whole(n: int) -> bool:
    """Whether the columns of n nodes are one tile."""
    return n <= tile_width(n)


@triton.jit
def _draw(
    dags,
    scores,
    order_logits,
    edge_logits,
    seeds,
    n_units,
    batch,
    n_seeds,
    UNIT: tl.constexpr,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
):
    """One DAG and its scores."""
    n = n_units * UNIT  # tells the compiler what rows are aligned to
    draw = tl.program_id(0).to(tl.int64)
    dags += draw * n * n
    scores += draw * n
    edge_logits += (draw % batch) * n * n
    seed = tl.load(seeds + draw % n_seeds)
    sample = (draw // n_seeds).to(tl.int32)
    node = tl.arange(0, WIDTH)
    psi = tl.load(order_logits + (draw % batch) * n + node, mask=node < n, other=0.0)
    score = psi + gumbels(seed, sample, node)
    tl.store(scores + node, score, mask=node < n)
    tl.debug_barrier()  # what one thread has written, others read
    for start in range(0, n, ROWS):
        row = start + tl.arange(0, ROWS)
        inside = (row < n)[:, None] & (node < n)[None, :]
        place = row[:, None] * n + node[None, :]
        own = tl.load(scores + row, mask=row < n, other=0.0)
        phi = tl.load(edge_logits + place, mask=inside, other=0.0)
        uniform = edge_uniforms(seed, sample, row, 0, 1, ROWS, WIDTH)
        edge = chosen(uniform, phi) & precedes(own, score, row, node)
        tl.store(dags + place, edge.to(tl.float32), mask=inside)


@triton.jit
def _differentiate(
    out,
    notes,
    upstream,
    edge_logits,
    scores,
    seeds,
    n_units,
    batch,
    samples,
    n_seeds,
    span,
    draw_units,
    row_units,
    scale,
    edge_scale,
    UNIT: tl.constexpr,
    SAME: tl.constexpr,
    PLAIN: tl.constexpr,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
):
    """Gradients of φ and, in one more row, of ψ, summed over ``span`` samples of a batch item."""
    n, draw_stride, row_stride = n_units * UNIT, draw_units * UNIT, row_units * UNIT
    item = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1)
    out += (part * batch + item) * (n + 1) * n
    of_scores = out + n * n
    notes += (part * batch + item) * 14 * n
    tables, of_rows, of_columns = notes, notes + 5 * n, notes + 9 * n
    order = (notes + 13 * n).to(tl.pointer_type(tl.int32))
    node = tl.arange(0, WIDTH)
    begin = part * span
    for number in range(begin, tl.minimum(begin + span, samples)):
        draw = number * batch + item
        own = scores + draw * n
        score = tl.load(own + node, mask=node < n, other=0.0)
        before = tl.zeros((ROWS, WIDTH), tl.int32)
        for start in range(0, n, ROWS):
            row = start + tl.arange(0, ROWS)
            rival = tl.load(own + row, mask=row < n, other=-float("inf"))
            before += precedes(rival, score, row, node).to(tl.int32)
        tl.store(order + tl.sum(before, 0), node, mask=node < n)
        tl.debug_barrier()
        tabulate(tables, own, order, n, scale, WIDTH)
        tl.debug_barrier()
        sum_incident(
            of_rows,
            of_columns,
            upstream + draw * draw_stride,
            edge_logits + item * n * n,
            own,
            tables,
            tl.load(seeds + draw % n_seeds),
            (draw // n_seeds).to(tl.int32),
            0,
            1,
            0,
            n,
            n,
            row_stride,
            scale,
            out,
            edge_scale,
            SAME=SAME,
            EDGES=True,
            PLAIN=PLAIN,
            ROWS=ROWS,
            WIDTH=WIDTH,
        )
        tl.debug_barrier()
        at, total = gather(tables, of_rows, of_columns, own, order, n, 1, 1, scale, WIDTH)
        so_far = tl.load(of_scores + at, mask=node < n, other=0.0)
        tl.store(of_scores + at, so_far + total, mask=node < n)
        tl.debug_barrier()


def draw_whole(
    order_logits: Tensor,  # (batch, n)
    edge_logits: Tensor,  # (batch, n, n)
    seeds: Tensor,  # (seeds)
    draws: int,
) -> tuple[Tensor, Tensor]:  # (draws, n, n), (draws, n)
    """DAGs, and the scores along which they are drawn."""
    batch, n = order_logits.shape
    dags = edge_logits.new_empty(draws, n, n)
    scores = order_logits.new_empty(draws, n)
    unit, width = alignment(n), tile_width(n)
    _draw[(draws,)](
        dags,
        scores,
        order_logits,
        edge_logits,
        seeds,
        n // unit,
        batch,
        len(seeds),
        UNIT=unit,
        ROWS=ROWS,
        WIDTH=width,
        num_warps=max(1, width // 32),
    )
    return dags, scores


def gradients_whole(
    upstream: Tensor,  # (draws, n, n)
    edge_logits: Tensor,  # (batch, n, n)
    scores: Tensor,  # (draws, n)
    seeds: Tensor,  # (seeds)
    temperature: float,
    edge_temperature: float,
) -> tuple[Tensor, Tensor]:  # (batch, n), (batch, n, n)
    """The gradients of ψ and φ, summed over the samples."""
    (draws, n), batch, width = scores.shape, len(edge_logits), tile_width(scores.shape[-1])
    samples = draws // batch
    span = triton.cdiv(samples * batch, _PROGRAMS)
    parts = triton.cdiv(samples, span)
    out = scores.new_zeros(parts, batch, n + 1, n)
    notes = scores.new_empty(parts, batch, 14, n)
    grad = Upstream.of(upstream)
    _differentiate[(batch, parts)](
        out,
        notes,
        grad.value,
        edge_logits,
        scores,
        seeds,
        n // grad.unit,
        batch,
        samples,
        len(seeds),
        span,
        grad.draw_units,
        grad.row_units,
        1 / temperature,
        1 / edge_temperature,
        UNIT=grad.unit,
        SAME=grad.same,
        PLAIN=edge_temperature == 1,
        ROWS=ROWS,
        WIDTH=width,
        num_warps=max(1, width // 32),
        maxnreg=_REGISTERS,
    )
    total = out[0] if parts == 1 else out.sum(0)
    return total[:, n], total[:, :n]
