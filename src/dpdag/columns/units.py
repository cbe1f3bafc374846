"""Between the values of columns and the numbers that models work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .monotone import MonotoneColumns

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Units:
    """Between original values and those that a model works on.

    Arguments:
        location: (n,) means, and ``scale``: (n,) standard deviations of the columns.
        columns: What the standardised columns are transformed by, if anything.
    """

    location: Array
    scale: Array
    columns: MonotoneColumns | None = None

    def to_model(self, values: Array) -> Tensor:  # (m, n) -> (m, n)
        """Standardised, and transformed where the model works on transformed columns."""
        x = self.standardised(values)
        return x if self.columns is None else self.columns(x)

    def standardised(self, values: Array) -> Tensor:  # (m, n) -> (m, n)
        """Of mean zero and variance one in the data that were learned from."""
        return torch.from_numpy((values - self.location) / self.scale)

    def given(self, some: Sequence[int], values: Array) -> Tensor:  # (m, some) -> (m, n)
        """The model's rows for values of some columns, all others at their means."""
        rows = np.tile(self.location, (len(values), 1))
        rows[:, list(some)] = values
        return self.to_model(rows)

    def deviation(
        self, mean: Tensor, size: Tensor, noise: Tensor
    ) -> Array:  # (m, n), (m, n), (N, n) -> (m, n)
        """Standard deviations of original values around a mean in the model's units.

        Arguments:
            size: Of the noise.
            noise: Draws of deviation one that have its shape.
        """
        if self.columns is not None:
            size = self.columns.deviation(mean, size, noise)
        return size.numpy() * self.scale

    def to_original(self, x: Tensor) -> Array:  # (m, n) -> (m, n)
        """Back again."""
        x = x if self.columns is None else self.columns.inverse(x)
        return x.numpy() * self.scale + self.location
