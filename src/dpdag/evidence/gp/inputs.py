"""Children with parent sets, and columns as kernels read them: a category is several features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ...columns import Table
from ..categories import Encoding
from ..gram import padded_members


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

    def own(self, parameters: Tensor) -> list[Tensor]:  # (b, w + 2) -> (|S| + 2,) each
        """Kernel parameters of every set without those that pad it."""
        kept = torch.nn.functional.pad(self.mask, (0, 2), value=True)
        return [each[some] for each, some in zip(parameters, kept)]

    def parameters(self, scales: Tensor, ends: Tensor) -> Tensor:  # (b, n), (b, 2) -> (b, w + 2)
        """Those of every set from the scales of all nodes."""
        return torch.cat([scales.gather(1, self.members), ends], -1)

    def children(self, table: Table) -> Tensor:  # -> (b, N)
        """Values of the children."""
        return table.y[:, self.child.to(table.y.device)].T


class Read(NamedTuple):
    """What a batch of kernels reads, and which parameter each of its features has.

    Attributes:
        x: (b, N, W) zero where padded.
        place: (b, W) of the length scale among those of the set; None where each column has one.
    """

    x: Tensor
    place: Tensor | None

    def spread(self, parameters: Tensor) -> Tensor:  # (b, w + 2) -> (b, W + 2)
        """The length scale of every feature, and the two other parameters."""
        if self.place is None:
            return parameters
        return torch.cat([parameters[:, :-2].gather(1, self.place), parameters[:, -2:]], -1)

    def gather(self, slopes: Tensor, width: int) -> Tensor:  # (b, W + 2) -> (b, w + 2)
        """Slopes in the parameters of sets from those in the parameters of features."""
        if self.place is None:
            return slopes
        summed = slopes.new_zeros(len(slopes), width).scatter_add(1, self.place, slopes[:, :-2])
        return torch.cat([summed, slopes[:, -2:]], -1)


class Inputs(NamedTuple):
    r"""Features of all columns, those of a category at one distance from each other.

    .. math:: k(a, b) = e^{-c / \ell^2} \text{ for different values } a \ne b \text{ of a category}

    so that one length scale says how much its values have to do with each other.

    Attributes:
        values: (N, F).
        owner: (F,) the column of each, in order.
        plain: Whether every column is one feature.
    """

    values: Tensor
    owner: Tensor
    plain: bool

    @classmethod
    def of(cls, x: Tensor, categories: Sequence[int]) -> Inputs:  # (N, n)
        """Of a table with categories in some places, as indicators."""
        encoding = Encoding.of(x, categories)
        return cls(encoding(x), encoding.owner(x.shape[1]), not categories)

    def first(self, rows: int) -> Inputs:
        """Its first rows."""
        return self._replace(values=self.values[:rows])

    def read(self, families: Families) -> Read:
        """The features of the parents of each child."""
        if self.plain:
            return Read(self._take(families.members, families.mask), None)
        n = int(self.owner[-1]) + 1
        node = families.members.where(families.mask, n)  # what pads a set is a column that is none
        parents = torch.zeros(len(node), n + 1, dtype=torch.bool).scatter(1, node, True)
        own = parents[:, self.owner]  # (b, F)
        feature = own.int().argsort(dim=-1, descending=True, stable=True)
        feature = feature[:, : int(own.sum(-1).max())]
        count = torch.arange(node.shape[1]).expand_as(node)
        place = torch.zeros(len(node), n + 1, dtype=torch.long).scatter(1, node, count)
        x = self._take(feature, own.gather(1, feature))
        return Read(x, place.gather(1, self.owner[feature]))

    def _take(self, feature: Tensor, mask: Tensor) -> Tensor:  # (b, W), (b, W) -> (b, N, W)
        x = self.values[:, feature.to(self.values.device)].movedim(0, 1)
        return x * mask.to(x).unsqueeze(-2)
