"""Mechanisms fitted to the rows in which their column was not set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..columns import TypedColumns, standardise
from ..evidence.mixture import MixtureEvidence
from ..ops.rows import row_groups
from .mixed import fit_mixed
from .model import Mechanisms, ScaledMechanisms, UncertainMechanisms

__all__ = ["DividedMechanisms", "OwnRows", "fit_by_rows", "fit_mixed_by_rows"]


class OwnRows(NamedTuple):
    """Rows that some columns are fitted to, and the units in which all are standardised there."""

    columns: Tensor  # (m,)
    rows: Tensor  # (k,)
    centre: Tensor  # (n,)
    width: Tensor  # (n,)


@dataclass(frozen=True)
class DividedMechanisms:
    r"""Every node by the mechanisms that were fitted to its own rows, in their units.

    .. math:: f_j(x) = c_{kj} + w_{kj}\, f^{(k)}_j\big((x - c_k) / w_k\big), \qquad k = k(j)

    Arguments:
        parts: Mechanisms on different rows.
        part_of: (n,) k, which of them each node has.
        centre, width: (parts, n) c and w.
        noise: (n,) variance of every node's noise.
    """

    parts: tuple[Mechanisms, ...]
    part_of: Tensor
    centre: Tensor
    width: Tensor
    noise: Tensor

    def __call__(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        return self.values(x, lambda part, own: part(own))

    def scale(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        """What the noise of every node is multiplied by."""
        return self.each(x, lambda part, own: _scale(part, own))

    def variance(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        """Of every node given its parents; its noise alone where no more is known."""
        noise = self.noise * self.scale(x).square()
        known = self.each(x, lambda part, own: _variance(part, own)) * self._widths.square()
        return torch.where(known.isnan(), noise, known)

    @property
    def discrete(self) -> Any:
        """Distributions of the nodes that have probabilities, where there are some."""
        return DividedDiscrete(self) if getattr(self.parts[0], "discrete", None) else None

    @property
    def _widths(self) -> Tensor:  # (n,)
        return self.width[self.part_of, torch.arange(len(self.part_of))]

    def each(self, x: Tensor, ask: Callable[[Any, Tensor], Tensor]) -> Tensor:  # (rows, n)
        """What every node's part answers of rows in its units."""
        value = torch.zeros_like(x)
        for k, part in enumerate(self.parts):
            answer = ask(part, (x - self.centre[k]) / self.width[k])
            value = torch.where(self.part_of == k, answer, value)
        return value

    def values(self, x: Tensor, ask: Callable[[Any, Tensor], Tensor]) -> Tensor:  # (rows, n)
        """The same where answers are values of the nodes."""
        centre = self.centre[self.part_of, torch.arange(len(self.part_of))]
        return self.each(x, ask) * self._widths + centre


class DividedDiscrete(NamedTuple):
    """Discrete nodes of divided mechanisms, as :class:`~dpdag.scm.DiscreteMechanisms`."""

    model: DividedMechanisms

    @property
    def places(self) -> Tensor:  # (n,) bool
        """Which nodes are discrete."""
        own: Tensor = self.model.parts[0].discrete.places  # type: ignore[attr-defined]
        return own

    def quantiles(self, x: Tensor, u: Tensor) -> Tensor:  # (m, n), (m, n) -> (m, n)
        """Values beneath which lies a share ``u`` of each distribution."""
        return self.model.values(x, lambda part, own: part.discrete.quantiles(own, u))

    def ranks(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """The share of each distribution beneath a value, half its own included."""
        return self.model.each(x, lambda part, own: part.discrete.ranks(own))

    def log_probabilities(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """Of every value given its causes."""
        return self.model.each(x, lambda part, own: part.discrete.log_probabilities(own))


def _scale(part: Mechanisms, x: Tensor) -> Tensor:
    return part.scale(x) if isinstance(part, ScaledMechanisms) else torch.ones_like(x)


def _variance(part: Mechanisms, x: Tensor) -> Tensor:
    if isinstance(part, UncertainMechanisms):
        return part.variance(x)
    return torch.full_like(x, torch.nan)


def fit_by_rows(
    x: Tensor,  # (rows, n) standardised
    graph: Tensor,  # (n, n) bool
    was_set: Tensor,  # (rows, n) bool
    fit: Callable[[Tensor, Tensor, OwnRows], Mechanisms],
) -> Mechanisms:
    """Fit every node to the rows in which it was not set.

    Arguments:
        fit: Mechanisms from standardised rows and the edges into the columns that have them.

    Example:
        >>> from dpdag.scm import fit_linear
        >>> x = torch.tensor([[1.0, 2.0], [-1.0, -2.0], [3.0, 0.0]]).double()
        >>> was_set = torch.tensor([[False, False], [False, False], [False, True]])
        >>> graph = torch.tensor([[False, True], [False, False]])
        >>> model = fit_by_rows(x, graph, was_set, lambda x, graph, _: fit_linear(x, graph))
        >>> model(torch.tensor([[2.0, 0.0]]).double())[0, 1].round(decimals=3).item()
        4.0
    """
    groups = row_groups(was_set)
    n = len(graph)
    if len(groups) == 1:
        every = torch.arange(n)
        zero, one = x.new_zeros(n), x.new_ones(n)
        rows = groups[0].rows
        return fit(x[rows], graph, OwnRows(every, rows, zero, one))
    parts, part_of, noise = [], torch.empty(n, dtype=torch.long), x.new_empty(n)
    centres, widths = [], []
    for k, (columns, rows) in enumerate(groups):
        own, width = standardise(x[rows])
        unit = OwnRows(columns, rows, x[rows].mean(0), width)
        edges = torch.zeros_like(graph)
        edges[:, columns] = graph[:, columns]
        part = fit(own, edges, unit)
        left = (own - part(own)) / _scale(part, own) * width
        noise[columns] = left.square().mean(0)[columns]
        parts.append(part)
        centres.append(unit.centre)
        widths.append(width)
        part_of[columns] = k
    return DividedMechanisms(
        tuple(parts), part_of, torch.stack(centres), torch.stack(widths), noise
    )


def fit_mixed_by_rows(
    x: Tensor,  # (rows, n) standardised
    graph: Tensor,  # (n, n) bool
    *,
    was_set: Tensor,  # (rows, n) bool
    evidence: MixtureEvidence,
    types: TypedColumns | None = None,
) -> Mechanisms:
    """The functions that hold most of each column's evidence, on its own rows."""

    def fit(x: Tensor, graph: Tensor, own: OwnRows) -> Mechanisms:
        kinds = None if types is None else types.rescaled(own.centre, own.width)
        return fit_mixed(x, graph, evidence.part(int(own.columns[0])), kinds)

    return fit_by_rows(x, graph, was_set, fit)
