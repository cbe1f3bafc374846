"""What is known of children given parent sets, these as the bits of integers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

Key = tuple[int, int]  # a child and the bits of its parents
Value = TypeVar("Value")


def keys_of(child: Tensor, parents: Tensor) -> list[Key]:  # (b,), (b, n) bool
    """Children with their parent sets.

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


def remembered(
    known: dict[Key, Value],
    child: Tensor,  # (b,)
    parents: Tensor,  # (b, n) bool
    find: Callable[[Tensor, Tensor], Iterable[Value]],
) -> list[Value]:
    """What is known of every pair, ``find`` being asked once for those that are new."""
    keys = keys_of(child, parents)
    new = {key: k for k, key in enumerate(keys) if key not in known}
    if new:
        rows = torch.tensor(list(new.values()))
        known.update(zip(new, find(child[rows], parents[rows])))
    return [known[key] for key in keys]


def one_apart(
    known: Mapping[Key, Value], child: int, bits: int, n_nodes: int
) -> list[tuple[int, Value]]:
    """Sets with one parent more or less, and what is known of them.

    Example:
        >>> known = {(0, 0b0110): "a", (0, 0b1110): "b", (1, 0b0100): "c"}
        >>> one_apart(known, 0, 0b0100, 4)
        [(6, 'a')]
    """
    others = (bits ^ 1 << j for j in range(n_nodes))
    return [(other, known[child, other]) for other in others if (child, other) in known]
