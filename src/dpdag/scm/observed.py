"""What was seen of every column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Observed"]

MARGIN = 0.1  # of the width of a range; a value just beyond it is no leap


@dataclass(frozen=True)
class Observed:
    """The range and the kind of every column, in original units.

    Arguments:
        low, high: (n,) the smallest and the largest value.
        whole: (n,) whether all values are whole numbers.

    Example:
        >>> seen = Observed.of(np.array([[1.0, 5.0], [3.0, np.nan], [2.0, 9.0]]))
        >>> seen.leaps({0: 3.1, 1: 40.0}, ["age", "dose"])
        ["'dose' is set to 40, far outside its observed range, 5 to 9: the model extrapolates."]
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    whole: NDArray[np.bool_]

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Observed:
        """What ``values`` (rows, n) show, NaN aside."""
        whole = (np.isnan(values) | (values == np.round(values))).all(0)
        return cls(np.nanmin(values, axis=0), np.nanmax(values, axis=0), whole)

    def leaps(self, held: Mapping[int, float], names: Sequence[Any]) -> list[str]:
        """A sentence for every column that is held far outside its range."""
        said = []
        for k, value in held.items():
            low, high = float(self.low[k]), float(self.high[k])
            margin = MARGIN * (high - low)
            if not low - margin <= value <= high + margin:
                said.append(
                    f"{str(names[k])!r} is set to {value:.4g}, far outside its observed range, "
                    f"{low:.4g} to {high:.4g}: the model extrapolates."
                )
        return said
