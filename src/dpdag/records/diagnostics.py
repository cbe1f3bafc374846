"""What a look at the columns tells before, or beside, any learning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..columns import ColumnType, classes, exact_relations
from ..metrics import r2_sortability
from ..ops.columns import standard_columns
from ..ops.labels import label_texts

Array = NDArray[np.float64]

NEAR = 0.98  # correlations above are named: the direction of such an edge can hardly be learned
HEAVY = 10.0  # excess kurtosis; 6 is that of an exponential
SKEWED = 1.5  # skewness; 2 is that of an exponential
FEW = 10  # distinct values
STRONG = 0.3  # distance of R²-sortability from ½, where it tells nothing
MANY = 5  # edges from which a pattern along them is more than chance


@dataclass(frozen=True)
class Diagnostics:
    """Facts about the columns of a table; columns are given by name.

    Attributes:
        rows, columns: Size of the table.
        missing: How many values are NaN, by column, where there are any.
        constant: Columns of one value.
        duplicates: Pairs equal up to shift and scale.
        near_duplicates: Pairs with a correlation above 0.98 that are no duplicates.
        relations: Three columns or more that an exact linear relation ties.
        classes: Pairs of which the second is the first cut into classes.
        heavy_tailed: Columns with an excess kurtosis above 10, those with few values aside.
        few_values: Columns that take at most 10 different values, constant ones aside.
        skewed: Columns without negative values, so that logarithms may help, and a skewness above
            1.5; those with heavy tails or few values aside.
        sortability: What the predictability of columns along a given graph means for its reader;
            None where it means nothing, or without one.
    """

    rows: int
    columns: int
    missing: dict[str, int]
    constant: list[str]
    duplicates: list[tuple[str, str]]
    near_duplicates: list[tuple[str, str]]
    heavy_tailed: list[str]
    few_values: list[str]
    sortability: str | None = None
    skewed: list[str] = field(default_factory=list)
    relations: list[list[str]] = field(default_factory=list)
    classes: list[tuple[str, str]] = field(default_factory=list)

    @property
    def notes(self) -> list[str]:
        """What deserves attention, a sentence each; empty where nothing does."""
        few_rows = self.rows < 10 * self.columns
        tied = [
            f"Tied by arithmetic: {listed(group)} (a total and its parts, or shares of one whole). "
            "Any of them can be computed from the others, so arrows between them mean nothing: "
            "leave the total out, or take logarithms of ratios of shares."
            for group in self.relations
        ]
        cut = [
            f"{coarse} is {fine} cut into classes. No direction is told at either: leave one of "
            f"them out (--drop {coarse})."
            for fine, coarse in self.classes
        ]
        said = {
            f"Only {self.rows} rows for {self.columns} columns: expect doubt.": few_rows,
            f"Values are missing in {listed(list(self.missing))}.": self.missing,
            f"Constant, so without causes: {listed(self.constant)}.": self.constant,
            f"Copies of each other: {listed(self.duplicates)}.": self.duplicates,
            "Almost copies, whose direction is a guess: "
            f"{listed(self.near_duplicates)}.": self.near_duplicates,
            **dict.fromkeys([*tied, *cut], True),
            f"Heavy tails, where a few rows decide: {listed(self.heavy_tailed)}; logarithms may "
            "help (DAGPosterior tries them).": self.heavy_tailed,
            f"Strongly skewed: {listed(self.skewed)}; logarithms may help (DAGPosterior tries "
            "them; elsewhere take them first, of 1 + x where there are zeros).": self.skewed,
            f"Few distinct values, yet taken for continuous: {listed(self.few_values)}. Which way "
            "arrows at them point is a guess; DAGPosterior infers their types where none are "
            "given.": self.few_values,
        }
        return [sentence for sentence, holds in said.items() if holds]


def diagnose(
    X: Any,
    names: Sequence[str] | None = None,
    *,
    graph: Any = None,
    types: Sequence[ColumnType] = (),
) -> Diagnostics:
    """Look at the columns of ``X`` (rows, n), NaN allowed.

    Arguments:
        X: DataFrame or array of numbers.
        names: Names of the columns; a DataFrame's own by default.
        graph: (n, n) adjacency along which to judge sortability, such as the learned one.
        types: Of the columns, where they are known: tails and few values of discrete ones are no
            surprise.
    """
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or not values.size:
        raise ValueError(f"X must be (rows, columns) and not empty; got shape {values.shape}.")
    labels = column_names(X) if names is None else label_texts(names)
    missing = np.isnan(values).sum(0)
    z, constant = standard_columns(values)
    strength = np.triu(np.abs(z.T @ z / len(z)), k=1)
    varies = ~constant & ~np.array([own.discrete for own in types] or [False])

    def pairs(mask: NDArray[np.bool_]) -> list[tuple[str, str]]:
        return [(labels[i], labels[j]) for i, j in np.argwhere(mask).tolist()]

    def named(mask: NDArray[np.bool_]) -> list[str]:
        return [labels[j] for j in np.flatnonzero(mask).tolist()]

    distinct = np.array([len(np.unique(column[~np.isnan(column)])) for column in values.T])
    few = varies & (distinct <= max(2, min(FEW, len(values) // 2)))
    heavy = varies & ~few & ((z**4).mean(0) - 3 > HEAVY)
    skewed = varies & ~(heavy | few) & ~(values < 0).any(0) & ((z**3).mean(0) > SKEWED)
    tied = exact_relations(torch.from_numpy(z)).groups
    return Diagnostics(
        rows=values.shape[0],
        columns=values.shape[1],
        missing={labels[j]: int(missing[j]) for j in np.flatnonzero(missing).tolist()},
        constant=named(constant),
        duplicates=pairs(strength > 1 - 1e-12),
        near_duplicates=pairs((strength > NEAR) & (strength <= 1 - 1e-12)),
        relations=[[labels[k] for k in group] for group in tied if len(group) > 2],
        classes=pairs(classes(torch.from_numpy(z)).numpy()),
        heavy_tailed=named(heavy),
        few_values=named(few),
        skewed=named(skewed),
        sortability=_verdict(values, graph),
    )


def column_names(X: Any) -> list[str]:
    """The names of a DataFrame's columns, or x0, x1, … of an array."""
    if hasattr(X, "columns"):
        return label_texts(X.columns)
    return [f"x{k}" for k in range(np.shape(X)[1])]


def _verdict(values: Array, graph: Any) -> str | None:
    """Whether arrows may be no more than a matter of noise in the measurements."""
    complete = values[~np.isnan(values).any(1)]
    if graph is None or np.sum(graph) < MANY or len(complete) < 2:
        return None
    fit = r2_sortability(complete, np.asarray(graph))
    if abs(fit - 0.5) < STRONG:
        return None
    return (
        f"Effects are nearly always the variables that the others predict "
        f"{'best' if fit > 0.5 else 'worst'}. Noise in a measurement can produce such a pattern "
        "too, and turn arrows around: confirm a direction by an experiment before relying on it, "
        "or fit again and say which variables can only come first (--first). "
        f"(R²-sortability {fit:.2f}.)"
    )


def listed(items: Sequence[Any], limit: int = 6) -> str:
    """A list for people: the first few and how many more."""
    words = [" and ".join(item) if isinstance(item, tuple) else str(item) for item in items]
    more = f" and {len(words) - limit} more" if len(words) > limit else ""
    return ", ".join(words[:limit]) + more
