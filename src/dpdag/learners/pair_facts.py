"""What rows and values of a table are worth between two columns, before any search."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ..columns import TypedColumns, classes, column_types, effective_values, exact_relations
from ..evidence.misfit import independent_share, likeness
from ..posterior import fineness
from .targets import told_apart


class Rows(NamedTuple):
    """What the rows of a table are worth between two columns.

    Attributes:
        share: (n, n) that count.
        likeness: (n, n) of the columns.
        tied: (n, n) share of linked pairs among columns of one exact relation.
        settled: (n, n) bool, whether some row had one column set and the other not.
        fineness: (n,) of the columns, zero where their values are few, whatever they are taken
            for, and where one is another one cut into classes.
    """

    share: Tensor
    likeness: Tensor
    tied: Tensor
    settled: Tensor
    fineness: Tensor

    @classmethod
    def of(
        cls,
        x: Tensor,  # (rows, n)
        plain: Tensor,  # (rows, n)
        was_set: Tensor,  # (rows, n) bool
        types: TypedColumns | None,
    ) -> Rows:
        settled = torch.from_numpy(told_apart(was_set.numpy()))
        tied = exact_relations(plain).linked
        few = torch.tensor([own.discrete for own in column_types(plain.numpy())])
        few = few if types is None else few | types.discrete
        cut = classes(plain)
        coarse = few | cut.any(0) | cut.any(1)
        fine = fineness(effective_values(plain, was_set)).masked_fill(coarse, 0.0)
        return cls(counted_share(x, was_set), likeness(x), tied, settled, fine)


def counted_share(x: Tensor, was_set: Tensor) -> Tensor:  # (rows, n), (rows, n) bool -> (n, n)
    """Of the rows between two columns; all of experiments, which are listed one after the other."""
    share = independent_share(x)
    return torch.ones_like(share) if bool(was_set.any()) else share
