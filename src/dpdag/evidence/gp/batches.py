"""Batches of (child, parent set) pairs."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from ...columns import Table

__all__ = ["Families", "as_bits", "bits_of", "members"]


class Families(NamedTuple):
    """A batch of children with parent sets, padded to one width."""

    child: Tensor  # (b,)
    members: Tensor  # (b, w)
    mask: Tensor  # (b, w) bool

    @classmethod
    def of(cls, child: Tensor, parents: Tensor) -> Families:  # (b,), (b, n) bool
        """Members of each set, first ones first, padded to the widest."""
        width = int(parents.sum(-1).max())
        node = parents.int().argsort(dim=-1, descending=True, stable=True)[:, :width]
        return cls(child, node, parents.gather(-1, node))

    def take(self, rows: Tensor) -> Families:
        """Some of them."""
        return Families(*(part[rows] for part in self))

    def children(self, table: Table) -> Tensor:  # -> (b, N)
        """Values of the children."""
        return table.y[:, self.child.to(table.y.device)].T


def as_bits(parents: Tensor) -> int:  # (n,) bool
    """A parent set as the bits of an integer."""
    return bits_of(parents.nonzero()[:, 0])


def bits_of(nodes: Tensor) -> int:  # (k,)
    """The same from its members."""
    return sum(1 << j for j in nodes.tolist())


def members(bits: int) -> list[int]:
    """Back again, in order."""
    return [j for j in range(bits.bit_length()) if bits >> j & 1]
