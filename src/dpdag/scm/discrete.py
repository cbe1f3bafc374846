"""Distributions of discrete columns given their causes, on a given graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ..columns import TypedColumns
from ..evidence.categories import FunctionBasis, fit_functions
from ..evidence.cells import ordered_cells, pooled_cells
from ..evidence.features import SMOOTHNESS
from ..evidence.laplace import laplace
from ..evidence.likelihoods import (
    DISPERSIONS,
    Likelihood,
    NegativeBinomial,
    Ordered,
    Softmax,
    contrasts,
)
from ..evidence.splines import SplineBasis

_CURVES = 8
_BEYOND = 3.0  # times the largest count seen, that a count may reach


@dataclass(frozen=True)
class DiscreteColumn:
    r"""A discrete column given its causes.

    .. math:: P(x = v) = P(c_v \mid t, f(x_S))\, s_v, \qquad f = \sum_{i \in S} \sum_k w_{ik} u_{ik}

    with cells c of values v, which have shares s of their cells.

    Arguments:
        column: Which column it is.
        kind: "ordered", "softmax" or "negative binomial".
        weight: (n, k, c) w, zero but for causes.
        levels: (q,) t.
        dispersion: Of a negative binomial.
        support: (V,) possible values in the units of the model, lowest first.
        cell: (V,) the cell of each.
        share: (V,) its share of its cell.
    """

    column: int
    kind: str
    weight: Tensor
    levels: Tensor
    dispersion: float
    support: Tensor
    cell: Tensor
    share: Tensor

    def probabilities(self, features: Tensor) -> Tensor:  # (m, n, k) -> (m, V)
        """Of all possible values."""
        f = torch.einsum("rik,ikc->rc", features, self.weight)
        if self.kind == "negative binomial":
            y, r = self.cell.double(), torch.tensor(self.dispersion, dtype=torch.float64)
            log_odds = self.levels + f - r.log()
            constant = torch.lgamma(y + r) - torch.lgamma(y + 1)
            odds = torch.nn.functional.logsigmoid
            return (constant + y * odds(log_odds) + r * odds(-log_odds)).softmax(-1)
        if self.kind == "softmax":
            table = contrasts(len(self.levels) + 1) / math.sqrt(2)
            cells = ((self.levels + f) @ table.T).softmax(-1)
        else:
            below = torch.nn.functional.pad(torch.sigmoid(self.levels - f), (1, 0))
            cells = torch.nn.functional.pad(below, (0, 1), value=1.0).diff(dim=-1).clamp_min(0)
        return cells[:, self.cell] * self.share

    def at(self, x: Tensor, of_values: Tensor) -> Tensor:  # (m, n), (m, V) -> (m,)
        """What is known of all possible values, of the one that is nearest in each row."""
        middle = (self.support[1:] + self.support[:-1]) / 2
        place = torch.searchsorted(middle, x[:, self.column].double().contiguous())
        return of_values.gather(1, place[:, None])[:, 0]


@dataclass(frozen=True)
class DiscreteMechanisms:
    """Discrete columns of a model, each given its causes, drawn by uniform numbers.

    Arguments:
        basis: Functions of the causes.
        columns: One record per discrete column.
        ordered: (n,) whether means say something: not of categories.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> x = torch.randn(500, 2, generator=generator).double()
        >>> x[:, 1] = torch.sign(2 * x[:, 0] + x[:, 1])
        >>> types = TypedColumns(("continuous", "binary"), torch.zeros(2), torch.ones(2))
        >>> model = fit_discrete(x, torch.tensor([[0, 1], [0, 0]]).bool(), types)
        >>> model.means(torch.tensor([[-1.0, 0.0], [1.0, 0.0]]).double())[:, 1].sign().tolist()
        [-1.0, 1.0]
    """

    basis: FunctionBasis | SplineBasis
    columns: tuple[DiscreteColumn, ...]
    ordered: Tensor

    @property
    def places(self) -> Tensor:  # (n,) bool
        """Which columns are discrete."""
        places = torch.zeros(len(self.ordered), dtype=torch.bool)
        places[[own.column for own in self.columns]] = True
        return places

    def probabilities(self, x: Tensor) -> dict[int, Tensor]:  # (m, n) -> (m, V) each
        """Of all possible values of every column, the lowest first."""
        return {own.column: p for own, p in self._laws(x)}

    def means(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """Expected values, of categories the likeliest; zero for other columns."""
        return self._each(
            x,
            lambda own, p: (
                p @ own.support if self.ordered[own.column] else own.support[p.argmax(-1)]
            ),
        )

    def variances(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """Of every column's value given its causes."""
        return self._each(x, lambda own, p: p @ own.support.square() - (p @ own.support).square())

    def quantiles(self, x: Tensor, u: Tensor) -> Tensor:  # (m, n), (m, n) -> (m, n)
        """Values beneath which lies a share ``u`` of each distribution; the likeliest for NaN."""

        def quantile(own: DiscreteColumn, p: Tensor) -> Tensor:
            level = u[:, own.column]
            place = (p.cumsum(-1)[:, :-1] <= level[:, None]).sum(-1)
            return own.support[torch.where(level.isnan(), p.argmax(-1), place)]

        return self._each(x, quantile)

    def ranks(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """The share of each distribution beneath a value, half its own included."""

        def rank(own: DiscreteColumn, p: Tensor) -> Tensor:
            return own.at(x, p.cumsum(-1)) - own.at(x, p) / 2

        return self._each(x, rank)

    def log_probabilities(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """Of every value given its causes."""
        return self._each(x, lambda own, p: own.at(x, p).clamp_min(1e-12).log())

    def _each(
        self, x: Tensor, ask: Callable[[DiscreteColumn, Tensor], Tensor]
    ) -> Tensor:  # (m, n) -> (m, n)
        """What is asked of every column and its probabilities (m, V); zero for other columns."""
        value = torch.zeros_like(x)
        for own, p in self._laws(x):
            value[:, own.column] = ask(own, p)
        return value

    def _laws(self, x: Tensor) -> Iterator[tuple[DiscreteColumn, Tensor]]:  # (m, n)
        features = self.basis(x.double())
        return ((own, own.probabilities(features)) for own in self.columns)


def fit_discrete(
    x: Tensor,  # (rows, n) standardised
    graph: Tensor,  # (n, n) bool
    types: TypedColumns,
    was_set: Tensor | None = None,  # (rows, n) bool
) -> DiscreteMechanisms:
    """The likeliest likelihood and smoothness of every discrete column, at its mode.

    A column is fitted to the rows in which it was not set; what it never was by itself has no
    probability.
    """
    seen = torch.ones_like(x, dtype=torch.bool) if was_set is None else ~was_set
    basis = fit_functions(x, n_functions=_CURVES, categories=types.categories)
    features, grid, used = basis(x), basis.precision(SMOOTHNESS), basis.used
    values = types.values(x)
    columns = [
        _column(k, values[:, k], x[:, k], seen[:, k], graph[:, k], types, used, features, grid)
        for k in types.discrete.nonzero()[:, 0].tolist()
    ]
    ordered = torch.tensor([kind != "category" for kind in types.kinds])
    return DiscreteMechanisms(basis, tuple(columns), ordered)


def _column(
    column: int,
    values: Tensor,  # (rows,)
    x: Tensor,  # (rows,)
    seen: Tensor,  # (rows,) bool
    parents: Tensor,  # (n,) bool
    types: TypedColumns,
    used: Tensor,  # (n, k) bool
    features: Tensor,  # (rows, n, k)
    grid: Tensor,  # (g, n, k)
) -> DiscreteColumn:
    mask = used & parents[:, None]  # (n, k)
    phi, precision = features[seen][:, mask][None], grid[:, mask][None]
    found: list[tuple[float, DiscreteColumn]] = []
    for kind, likelihood, support, cell, share, within in _laws_of(column, values, x, seen, types):
        mode = laplace(likelihood, torch.zeros(1, dtype=torch.long), phi, precision)
        at = int(mode.value.argmax())
        weight = features.new_zeros(*mask.shape, likelihood.n_functions)
        weight[mask] = mode.weight.flatten(0, 2)[at].T
        dispersion = DISPERSIONS[at // len(grid)] if kind == "negative binomial" else 0.0
        levels = mode.levels.flatten(0, 2)[at]
        own = DiscreteColumn(column, kind, weight, levels, dispersion, support, cell, share)
        found.append((float(mode.value.flatten()[at]) + within, own))
    return max(found, key=lambda one: one[0])[1]


def _laws_of(
    column: int, values: Tensor, x: Tensor, seen: Tensor, types: TypedColumns
) -> Iterator[tuple[str, Likelihood, Tensor, Tensor, Tensor, float]]:
    """Likelihoods of a column, with possible values, their cells and their shares of these."""
    kind, values = types.kinds[column], values[seen]
    counted = values.round() if kind == "count" else values.unique(return_inverse=True)[1]
    cells = (
        pooled_cells(counted)
        if kind == "category"
        else ordered_cells(counted.long(), bounded=kind != "count")
    )
    support, which = x.unique(return_inverse=True)
    times = which[seen].bincount(minlength=len(support))
    cell = cells.code.new_zeros(len(support)).scatter_(0, which[seen], cells.code)
    share = times / torch.bincount(cell, weights=times.double())[cell]
    make = Softmax if kind == "category" else Ordered
    name = "softmax" if kind == "category" else "ordered"
    yield name, make(cells.code[None], cells.number), support, cell, share, cells.log_within
    if kind == "count":
        most = torch.arange(int(_BEYOND * float(counted.max())) + 10).double()
        known = (most - types.location[column]) / types.scale[column]
        law = NegativeBinomial(counted[None])
        yield "negative binomial", law, known, most.long(), torch.ones_like(most), 0.0
