"""Batches of (child, parent set) pairs and the range of their kernel parameters."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["Families", "as_bits", "parameter_bounds", "start_parameters"]

_LENGTH_SCALE = (0.3, 1.4, 20.0)  # lower bound, start, upper bound, in standard deviations
_NOISE = (0.01, 0.25, 64.0)  # noise variance over amplitude; float32 is safe from 0.01
_LINEAR = (1e-3, 0.01, 64.0)  # variance of the linear part over amplitude


class Families(NamedTuple):
    """A batch of children with parent sets, padded to one width."""

    child: Tensor  # (b,)
    members: Tensor  # (b, w)
    mask: Tensor  # (b, w) bool

    @classmethod
    def of(cls, child: Tensor, parents: Tensor) -> Families:  # (b,), (b, n) bool
        """Members of each set, first ones first, padded to the widest."""
        width = int(parents.sum(-1).max())
        members = parents.int().argsort(dim=-1, descending=True, stable=True)[:, :width]
        return cls(child, members, parents.gather(-1, members))

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


def start_parameters(width: int) -> Tensor:  # (w + 2,)
    """Logarithms of the length scales, the noise ratio and the linear weight to start from."""
    start = [_LENGTH_SCALE[1]] * width + [_NOISE[1], _LINEAR[1]]
    return torch.tensor(start, dtype=torch.float64).log()


def parameter_bounds(width: int, *, linear: bool) -> tuple[Tensor, Tensor]:  # (w + 2,), (w + 2,)
    """Bounds of the logarithms; without the linear kernel its weight is pinned to its least."""
    top = _LINEAR[2] if linear else _LINEAR[0]
    lower = torch.tensor([_LENGTH_SCALE[0]] * width + [_NOISE[0], _LINEAR[0]]).double()
    upper = torch.tensor([_LENGTH_SCALE[2]] * width + [_NOISE[2], top]).double()
    return lower.log(), upper.log()
