"""Batches of (child, parent set) pairs."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

__all__ = ["Families", "as_bits"]


class Families(NamedTuple):
    """A batch of children with parent sets, padded to one width."""

    child: Tensor  # (b,)
    members: Tensor  # (b, w)
    mask: Tensor  # (b, w) bool

    @classmethod
    def of(cls, child: Tensor, parents: Tensor) -> Families:  # (b,), (b, n) bool
        """Members of each set, first ones first, padded to the widest.

        Replicas stand side by side in a table, so that their columns are numbered on.
        """
        width, n = int(parents.sum(-1).max()), parents.shape[1]
        node = parents.int().argsort(dim=-1, descending=True, stable=True)[:, :width]
        first = child.div(n, rounding_mode="floor") * n
        return cls(child, node + first[:, None], parents.gather(-1, node))

    def take(self, rows: Tensor) -> Families:
        """Some of them."""
        return Families(*(part[rows] for part in self))

    def columns(self, table: Tensor) -> tuple[Tensor, Tensor]:  # (N, n) -> (b, N), (b, N, w)
        """Values of the children and of their parents, zero where padded."""
        x = table[:, self.members.to(table.device)].movedim(0, 1)
        return table[:, self.child.to(table.device)].T, x * self.mask.to(table).unsqueeze(-2)


def as_bits(parents: Tensor) -> int:  # (n,) bool
    """A parent set as the bits of an integer."""
    return sum(1 << j for j in parents.nonzero()[:, 0].tolist())
