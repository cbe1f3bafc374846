"""What rows and values of a table are worth between two columns, before any search."""

from __future__ import annotations

import torch
from torch import Tensor

from ..columns import TypedColumns, classes, column_types, effective_values, exact_relations
from ..evidence.misfit import independent_share, likeness
from ..posterior import ColumnFacts, fineness
from .targets import told_apart


def column_facts(
    x: Tensor,  # (rows, n)
    plain: Tensor,  # (rows, n)
    was_set: Tensor,  # (rows, n) bool
    types: TypedColumns | None,
) -> ColumnFacts:
    """What a table tells of its columns, as the model sees them and ``plain``.

    Columns are not fine where their values are few, whatever they are taken for, and where one is
    another one cut into classes.
    """
    few = torch.tensor([own.discrete for own in column_types(plain.numpy())])
    few = few if types is None else few | types.discrete
    cut = classes(plain)
    coarse = few | cut.any(0) | cut.any(1)
    return ColumnFacts(
        likeness=likeness(x),
        tied=exact_relations(plain).linked,
        settled=torch.from_numpy(told_apart(was_set.numpy())),
        fineness=fineness(effective_values(plain, was_set)).masked_fill(coarse, 0.0),
    )


def counted_share(x: Tensor, was_set: Tensor) -> Tensor:  # (rows, n), (rows, n) bool -> (n, n)
    """Of the rows between two columns; all of experiments, which are listed one after the other."""
    share = independent_share(x)
    return torch.ones_like(share) if bool(was_set.any()) else share
