"""Batches of (child, parent set) pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, MutableMapping
from typing import NamedTuple, TypeVar

import numpy as np
from torch import Tensor

from ...columns import Table
from ..gram import padded_members

Value = TypeVar("Value")


class BySets(MutableMapping[tuple[int, int], Value]):
    """What is known of children given parent sets, these as the bits of an integer.

    Example:
        >>> known = BySets({(0, 0b0110): "a", (0, 0b1110): "b", (1, 0b0100): "c"})
        >>> known.near(0, 0b0100)
        [(6, 'a')]
    """

    def __init__(self, known: dict[tuple[int, int], Value] | None = None) -> None:
        self._of: dict[int, dict[int, Value]] = defaultdict(dict)
        self.update(known or {})

    def __getitem__(self, key: tuple[int, int]) -> Value:
        child, bits = key
        return self._of[child][bits]

    def __setitem__(self, key: tuple[int, int], value: Value) -> None:
        child, bits = key
        self._of[child][bits] = value

    def __delitem__(self, key: tuple[int, int]) -> None:
        child, bits = key
        del self._of[child][bits]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return ((child, bits) for child, own in self._of.items() for bits in own)

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    def near(self, child: int, bits: int) -> list[tuple[int, Value]]:
        """Sets with one parent more or less, and what is known of them."""
        own = self._of[child]
        return [(other, own[other]) for other in own if (other ^ bits).bit_count() == 1]


class Families(NamedTuple):
    """A batch of children with parent sets, padded to one width."""

    child: Tensor  # (b,)
    members: Tensor  # (b, w)
    mask: Tensor  # (b, w) bool

    @classmethod
    def of(cls, child: Tensor, parents: Tensor) -> Families:  # (b,), (b, n) bool
        """Members of each set, first ones first, padded to the widest."""
        return cls(child, *padded_members(parents))

    def take(self, rows: Tensor) -> Families:
        """Some of them."""
        return Families(*(part[rows] for part in self))

    def children(self, table: Table) -> Tensor:  # -> (b, N)
        """Values of the children."""
        return table.y[:, self.child.to(table.y.device)].T


def keys_of(child: Tensor, parents: Tensor) -> list[tuple[int, int]]:  # (b,), (b, n) bool
    """Children with their parent sets as the bits of integers.

    Example:
        >>> from torch import tensor
        >>> keys_of(tensor([2]), tensor([[True, True, False]]))
        [(2, 3)]
    """
    packed = np.packbits(parents.numpy(), axis=-1, bitorder="little")
    bits = [int.from_bytes(row.tobytes(), "little") for row in packed]
    return list(zip(child.tolist(), bits))


def bits_of(nodes: Tensor) -> int:  # (k,)
    """Such an integer from the members."""
    return sum(1 << j for j in nodes.tolist())


def members(bits: int) -> list[int]:
    """Back again, in order."""
    return [j for j in range(bits.bit_length()) if bits >> j & 1]
