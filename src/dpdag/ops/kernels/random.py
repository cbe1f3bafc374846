"""Counter-based random numbers: every draw has an address and is made again where it is needed."""

from __future__ import annotations

import triton
import triton.language as tl

_WIDEST = 128
_EDGES = tl.constexpr(0)
_ORDER = tl.constexpr(1)
_LEAST = tl.constexpr(2.0**-32)  # in place of zero, whose logarithm is infinite


@triton.jit
def edge_uniforms(seed, sample, row, tile, n_tiles, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Draws from U(0, 1) for some rows of the edges and one tile of their columns."""
    GROUPS: tl.constexpr = WIDTH // 4  # as many as the numbers of one call of Philox
    address = row[:, None] * (n_tiles * GROUPS) + tile * GROUPS + tl.arange(0, GROUPS)[None, :]
    a, b, c, d = tl.philox(seed, address, sample, _EDGES, 0)
    bits = tl.reshape(tl.join(tl.join(a, b), tl.join(c, d)), (ROWS, WIDTH))
    return tl.maximum(tl.uint_to_uniform_float(bits), _LEAST)


@triton.jit
def gumbels(seed, sample, node):
    """Standard Gumbel draws for some nodes of the order."""
    bits, _, _, _ = tl.philox(seed, node, sample, _ORDER, 0)
    return -tl.log(-tl.log(tl.maximum(tl.uint_to_uniform_float(bits), _LEAST)))


def tile_width(n: int) -> int:
    """How many columns a tile has for n nodes; the noise of the edges depends on it."""
    return min(_WIDEST, max(16, triton.next_power_of_2(n)))
