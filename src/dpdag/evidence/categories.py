"""Categories as features of functions: every value has an effect of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from .likelihoods import contrasts
from .splines import SplineBasis, fit_splines, smoothness_grid


@dataclass(frozen=True)
class Indicators:
    r"""A category as features, all together of variance one, none of its K values special.

    .. math:: \phi = (1[x = k] - p_k)_k\, C / \sqrt{1 - \textstyle\sum_k p_k^2}

    with C orthonormal contrasts. Equal precisions of the weights then are equal and independent
    effects of all values; two values are the standardised column. A value that is none of the K
    has features of zero, their mean.

    Arguments:
        column: Its place in a table.
        values: (K,) increasing.
        features: (K, K - 1) of each value.

    Example:
        >>> x = torch.tensor([[0.0], [0.0], [1.0], [1.0]])
        >>> Indicators.of(x, 0)(x)[:, 0].square().sum()
        tensor(4.0000, dtype=torch.float64)
    """

    column: int
    values: Tensor
    features: Tensor

    @classmethod
    def of(cls, x: Tensor, column: int) -> Indicators:  # (N, n)
        """Of the values that a column has in a table."""
        values, count = x[:, column].unique(return_counts=True)
        share = count.double() / len(x)
        centred = torch.eye(len(values), dtype=torch.float64) - share
        centred = centred / (1 - share.square().sum()).clamp_min(1e-12).sqrt()
        return cls(column, values, centred @ contrasts(len(values)))

    def __call__(self, x: Tensor) -> Tensor:  # (N, n) -> (N, K - 1)
        own = x[:, self.column].contiguous()
        steps = self.values.diff()
        place = torch.searchsorted((self.values[1:] + self.values[:-1]) / 2, own)
        near = pad(steps, (0, 1), value=math.inf).min() / 2
        known = (own - self.values[place]).abs() < near
        return self.features[place] * known.unsqueeze(-1)


@dataclass(frozen=True)
class Encoding:
    """Columns as features: numbers as they are, categories as indicators.

    Arguments:
        categories: The columns that are no numbers.

    Example:
        >>> x = torch.tensor([[0.0, 5.0], [1.0, 6.0], [2.0, 5.0]]).double()
        >>> encoding = Encoding.of(x, [0])
        >>> encoding(x).shape, encoding.owner(2).tolist()
        (torch.Size([3, 3]), [0, 0, 1])
    """

    categories: tuple[Indicators, ...] = ()

    @classmethod
    def of(cls, x: Tensor, categories: Sequence[int]) -> Encoding:  # (N, n)
        """With categories in some places of a table."""
        return cls(tuple(Indicators.of(x, k) for k in categories))

    def __call__(self, x: Tensor) -> Tensor:  # (N, n) -> (N, F)
        blocks = list(x.split(1, dim=1))
        for own in self.categories:
            blocks[own.column] = own(x)
        return torch.cat(blocks, -1)

    def owner(self, n: int) -> Tensor:  # (F,)
        """The column of each feature, of n."""
        width = torch.ones(n, dtype=torch.long)
        for own in self.categories:
            width[own.column] = own.features.shape[1]
        return torch.arange(n).repeat_interleave(width)


@dataclass(frozen=True)
class FunctionBasis:
    """Functions of all columns that sums are made of: splines of numbers, any of categories.

    Arguments:
        splines: Of all columns.
        categories: Those whose indicators stand in the place of splines.
    """

    splines: SplineBasis
    categories: tuple[Indicators, ...] = ()

    @property
    def size(self) -> int:
        """Functions per column, of which some columns have fewer."""
        return max(self.splines.size, *(own.features.shape[1] for own in self.categories), 0)

    @property
    def used(self) -> Tensor:  # (n, k) bool
        """Which functions exist."""
        used = pad(self.splines.used, (0, self.size - self.splines.size))
        for own in self.categories:
            used[own.column] = torch.arange(self.size) < own.features.shape[1]
        return used

    def __call__(self, x: Tensor) -> Tensor:  # (N, n) -> (N, n, k)
        """Values of all functions; zero for those that do not exist."""
        return self.with_categories(self.splines(x), x)

    def with_categories(self, smooth: Tensor, x: Tensor) -> Tensor:  # (N, n, k), (N, n)
        """The same from values of the splines."""
        if not self.categories:
            return smooth
        value = pad(smooth, (0, self.size - self.splines.size))
        for own in self.categories:
            features = own(x)
            value[:, own.column] = pad(features, (0, self.size - features.shape[1]))
        return value

    def precision(self, points: Sequence[tuple[float, float]]) -> Tensor:  # -> (g, n, k)
        """A smoothness grid, in which effects of all values of a category have one prior."""
        used = self.used
        grid = smoothness_grid(used, points)
        amplitude = torch.tensor([a for a, _ in points], dtype=torch.float64)[:, None]
        for own in self.categories:
            grid[:, own.column] = torch.where(used[own.column], amplitude, 1.0)
        return grid


def fit_functions(
    x: Tensor,  # (N, n) standardised
    *,
    n_functions: int,
    categories: Sequence[int] = (),
) -> FunctionBasis:
    """The ``n_functions`` smoothest splines of every number, indicators of categories."""
    splines = fit_splines(x, n_functions=n_functions)
    return FunctionBasis(splines, Encoding.of(x, categories).categories)
