"""What is known of Gaussian processes that were fitted, and what that promises of others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

_DOUBT = 6.0, 0.25  # nats, and share of it, by which a change on few rows may miss that on all
_UNKNOWN = math.inf, 0.0


class GPFit(NamedTuple):
    """Gaussian processes of several parent sets.

    Attributes:
        value: (b,) log evidence, or less where it stays below what was asked for.
        residual: (b, N) on rows left out one by one, in units of their deviation; only where the
            value is final.
        final: (b,) whether the value was followed to the end.
        rough: (b,) the same on the rows of the screening, by which processes can be compared.
    """

    value: Tensor
    residual: Tensor
    final: Tensor
    rough: Tensor

    @classmethod
    def empty(cls, count: int, rows: int, device: torch.device) -> GPFit:
        """Nothing that matters."""
        nothing = torch.full((count,), -math.inf, dtype=torch.float64)
        residual = torch.zeros(count, rows, dtype=torch.float64, device=device)
        return cls(nothing, residual, torch.zeros(count, dtype=torch.bool), nothing.clone())

    def put(self, rows: Tensor, part: GPFit) -> None:
        """Write some of them."""
        for whole, own in zip(self, part):
            whole[rows] = own


class Known(NamedTuple):
    """The same of one set, followed to the end."""

    value: float
    rough: float
    parameters: Tensor  # (|S| + 2,)
    residual: Tensor  # (N,)


def promised(
    rough: Tensor,  # (b,)
    near: Sequence[tuple[int, Known] | None],
    scale: float,
) -> tuple[Tensor, Tensor]:  # (b,), (b,)
    """Values on all rows, if a neighbour's changes as it does on few rows, and how far to trust."""
    known = [_UNKNOWN if one is None else (one[1].value, one[1].rough) for one in near]
    value, before = torch.tensor(known, dtype=torch.float64).unbind(-1)
    change = scale * (rough - before)
    least, share = _DOUBT
    return value + change, least + share * change.abs()
