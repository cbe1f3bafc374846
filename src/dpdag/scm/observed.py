"""What was seen of every column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Of the width of a range; values just beyond it are not far outside.
CHOSEN = 0.1  # for a value that someone sets
HEAPED = 0.02  # share of the rows with the smallest value, or the largest, that makes it a bound
DRAWN = 0.5  # for rows: a few of those drawn from the same distribution lie beyond by chance


@dataclass(frozen=True)
class Observed:
    """The range and the kind of every column, in original units.

    Arguments:
        low, high: (n,) the smallest and the largest value.
        whole: (n,) whether all values are whole numbers.
        bounds: (2, n) the smallest and the largest value where many rows have it, as amounts of
            zero; infinite elsewhere.

    Example:
        >>> seen = Observed.of(np.array([[1.0, 5.0], [3.0, np.nan], [2.0, 9.0]]))
        >>> seen.leaps({0: 3.1, 1: 40.0}, ["age", "dose"])
        ["'dose' is set to 40, far outside its observed range, 5 to 9: the model extrapolates."]
        >>> seen.strays({0: np.array([2.0, 2.0]), 1: np.array([40.0, 7.0])}, ["age", "dose"])
        "X leaves the observed range of 'dose' (5 to 9) by far in 1 of 2 rows: the model
        extrapolates there."
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    whole: NDArray[np.bool_]
    bounds: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls, values: NDArray[np.float64], was_set: NDArray[np.bool_] | bool = False
    ) -> Observed:  # (rows, n) both
        """What ``values`` show, NaN aside; those that were set from outside bound no others."""
        whole = (np.isnan(values) | (values == np.round(values))).all(0)
        low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
        many = max(5, HEAPED * len(values))
        least = np.nanmin(np.where(was_set, np.inf, values), axis=0)
        most = np.nanmax(np.where(was_set, -np.inf, values), axis=0)
        floor = np.where((~was_set & (values == least)).sum(0) >= many, least, -np.inf)
        ceiling = np.where((~was_set & (values == most)).sum(0) >= many, most, np.inf)
        return cls(low, high, whole, np.stack([floor, ceiling]))

    def rounded(self, values: NDArray[np.float64]) -> NDArray[np.float64]:  # (m, n) -> (m, n)
        """Whole numbers in the columns in which no others were seen."""
        return np.where(self.whole, values.round(), values)

    def leaps(self, held: Mapping[int, float], names: Sequence[Any]) -> list[str]:
        """A sentence for every column that is held far outside its range."""
        return [
            f"{str(names[k])!r} is set to {value:.4g}, far outside its observed range, "
            f"{self._range(k)}: the model extrapolates."
            for k, value in held.items()
            if self._far(k, value, CHOSEN)
        ]

    def strays(self, given: Mapping[int, NDArray[np.float64]], names: Sequence[Any]) -> str | None:
        """A sentence on the columns of X, (rows,) each, with values far outside their range."""
        far = {k: self._far(k, values, DRAWN) for k, values in given.items()}
        left = [k for k, rows in far.items() if rows.any()]
        if not left:
            return None
        rows = np.any([far[k] for k in left], axis=0)
        columns = ", ".join(f"{str(names[k])!r} ({self._range(k)})" for k in left)
        return (
            f"X leaves the observed range of {columns} by far in {rows.sum()} of {len(rows)} rows: "
            "the model extrapolates there."
        )

    def _far(self, column: int, values: Any, share: float) -> Any:  # numbers -> bool, elementwise
        low, high = self.low[column], self.high[column]
        margin = share * (high - low)
        return (values < low - margin) | (values > high + margin)

    def _range(self, column: int) -> str:
        return f"{self.low[column]:.4g} to {self.high[column]:.4g}"
