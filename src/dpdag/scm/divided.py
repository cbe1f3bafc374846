"""Mechanisms fitted to the rows in which their column was not set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..columns import TypedColumns, standardise
from ..evidence.mixture import MixtureEvidence
from ..ops.rows import row_groups
from .mixed import fit_mixed
from .model import Mechanisms, UncertainMechanisms, scale_of


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
        centre = self.centre[self.part_of, torch.arange(len(self.part_of))]
        return self.each(x, lambda part, own: part(own)) * self._widths + centre

    def scale(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        """What the noise of every node is multiplied by."""
        return self.each(x, scale_of)

    def variance(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        """Of every node given its parents; its noise alone where no more is known."""
        noise = self.noise * self.scale(x).square()
        known = self.each(x, _variance) * self._widths.square()
        return torch.where(known.isnan(), noise, known)

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


def _variance(part: Mechanisms, x: Tensor) -> Tensor:
    if isinstance(part, UncertainMechanisms):
        return part.variance(x)
    return torch.full_like(x, torch.nan)


def fit_by_rows(
    x: Tensor,  # (rows, n) standardised
    graph: Tensor,  # (n, n) bool
    was_set: Tensor,  # (rows, n) bool
    fit: Callable[[Tensor, Tensor, Tensor], Mechanisms],
) -> Mechanisms:
    """Fit every node to the rows in which it was not set.

    Arguments:
        fit: Mechanisms from standardised rows, the edges into the columns that have them, and the
            numbers of these columns.
    """
    groups = row_groups(was_set)
    n = len(graph)
    if len(groups) == 1:
        return fit(x[groups[0].rows], graph, torch.arange(n))
    parts, part_of, noise = [], torch.empty(n, dtype=torch.long), x.new_empty(n)
    centres, widths = [], []
    for k, (columns, rows) in enumerate(groups):
        own, width = standardise(x[rows])
        edges = torch.zeros_like(graph)
        edges[:, columns] = graph[:, columns]
        part = fit(own, edges, columns)
        left = (own - part(own)) / scale_of(part, own) * width
        noise[columns] = left.square().mean(0)[columns]
        parts.append(part)
        centres.append(x[rows].mean(0))
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

    def fit(x: Tensor, graph: Tensor, columns: Tensor) -> Mechanisms:
        return fit_mixed(x, graph, evidence.part(int(columns[0])), types)

    return fit_by_rows(x, graph, was_set, fit)
