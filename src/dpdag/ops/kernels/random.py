"""Counter-based random numbers: every draw has an address and is made again where it is needed."""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["WIDTH", "edge_uniforms", "gumbels"]

WIDTH = tl.constexpr(128)  # columns of a tile
_GROUPS = tl.constexpr(32)  # of four columns, as many as the numbers of one call of Philox
_EDGES = tl.constexpr(0)
_ORDER = tl.constexpr(1)
_LEAST = tl.constexpr(2.0**-32)  # in place of zero, whose logarithm is infinite


@triton.jit
def edge_uniforms(seed, sample, row, tile, n_tiles, ROWS: tl.constexpr):
    """Draws from U(0, 1) for some rows of the edges and one tile of their columns."""
    address = row[:, None] * (n_tiles * _GROUPS) + tile * _GROUPS + tl.arange(0, _GROUPS)[None, :]
    a, b, c, d = tl.philox(seed, address, sample, _EDGES, 0)
    bits = tl.reshape(tl.join(tl.join(a, b), tl.join(c, d)), (ROWS, WIDTH))
    return tl.maximum(tl.uint_to_uniform_float(bits), _LEAST)


@triton.jit
def gumbels(seed, sample, node):
    """Standard Gumbel draws for some nodes of the order."""
    bits, _, _, _ = tl.philox(seed, node, sample, _ORDER, 0)
    return -tl.log(-tl.log(tl.maximum(tl.uint_to_uniform_float(bits), _LEAST)))
