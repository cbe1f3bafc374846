"""Variables of categories, given as 0/1 columns, and columns of two values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

__all__ = ["Categories"]


@dataclass(frozen=True)
class Categories:
    """Groups of 0/1 columns that stand for one variable each: at most one of a group is 1.

    Arguments:
        groups: Indices of columns, by group.
        low, high: (n,) what 0 and 1 are in the units of the model.
        twofold: Indices of other columns that take only two values, ``low`` and ``high``.

    Example:
        >>> values = torch.tensor([[0.0, 1.0, 3.0], [1.0, 0.0, 4.0], [0.0, 0.0, 5.0]])
        >>> site = Categories.named(["site=B", "site=C", "age"], values, values)
        >>> site.groups
        ((0, 1),)
        >>> Categories.named(["ill", "age"], values[:, 1:], values[:, 1:]).twofold
        (0,)
        >>> site.settle(torch.tensor([[0.7, 0.6, 3.5], [0.3, 0.1, 4.5]])).tolist()
        [[1.0, 0.0, 3.5], [0.0, 0.0, 4.5]]
    """

    groups: Sequence[Sequence[int]] = ()
    low: Tensor = field(default_factory=lambda: torch.zeros(0))
    high: Tensor = field(default_factory=lambda: torch.ones(0))
    twofold: Sequence[int] = ()

    @classmethod
    def named(cls, names: Sequence[Any], values: Tensor, x: Tensor) -> Categories:
        """Groups of columns called "variable=category", where they are 0/1 and exclude each other.

        Other columns of two values are ``twofold``.

        Arguments:
            names: Of all columns.
            values: (rows, n) as observed.
            x: (rows, n) the same in the units of the model.
        """
        bits = values.round()
        binary = ((values - bits).abs() < 1e-6) & (bits >= 0) & (bits <= 1)
        members: dict[str, list[int]] = defaultdict(list)
        for k, name in enumerate(names):
            variable, equals, _ = str(name).rpartition("=")
            if equals and bool(binary[:, k].all()):
                members[variable].append(k)
        exclusive = [group for group in members.values() if bits[:, group].sum(1).max() <= 1]
        grouped = {k for group in exclusive for k in group}
        two = ((values == values.amin(0)) | (values == values.amax(0))).all(0).nonzero()[:, 0]
        twofold = tuple(k for k in two.tolist() if k not in grouped)
        return cls(tuple(map(tuple, exclusive)), x.amin(0), x.amax(0), twofold)

    def share_rows(self, drawn: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """Let the columns of a group draw the row that their first one drew."""
        drawn = drawn.clone()
        for group in self.groups:
            drawn[:, group] = drawn[:, group[:1]]
        return drawn

    def settle(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """Set the largest column of a group to 1 and the others to 0, others to the nearer of two.

        What the columns leave of 1 stands for the category without a column.
        """
        x = x.clone()
        for group in [*map(list, self.groups), *([k] for k in self.twofold)]:
            low, high = self.low[group], self.high[group]
            share = (x[:, group] - low) / (high - low)
            rest = 1 - share.sum(1, keepdim=True)
            winner = torch.cat([share, rest], dim=1).argmax(1, keepdim=True)
            x[:, group] = torch.where(torch.arange(len(group)) == winner, high, low)
        return x
