"""Evidence of tables whose columns are of several types: densities and probabilities together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..columns import Table
from .discrete import DiscreteEvidence
from .mixture import MixtureEvidence
from .noise import NOISES, Levels


class TypedEvidence(MixtureEvidence):
    r"""The mixture for columns of all types: a discrete child has a probability.

    .. math:: \log p(x_1, \dots, x_n) = \sum_{v \,\text{continuous}} \log p(x_v \mid x_S)
        + \sum_{v \,\text{discrete}} \log P(x_v \mid x_S)

    As causes, discrete columns are numbers, categories sets of values, all as far apart. A
    probability stands in the place of Gaussian noise; a network process has none.

    Arguments:
        table: Standardised columns.
        discrete: Probabilities of the discrete ones.
        options: Of :class:`MixtureEvidence`.
    """

    def __init__(self, table: Table, discrete: DiscreteEvidence, **options: Any) -> None:
        self.discrete = discrete
        # Values are not spread out: as causes they are what they are.
        x, y = (part.double().cpu() for part in table)
        super().__init__(
            Table(x, torch.where(discrete.discrete, x, y)),
            categories=discrete.categories,
            continuous=~discrete.discrete,
            **options,
        )
        self._roots[discrete.discrete] = -math.inf
        self._roots[discrete.discrete, 0] = discrete.log_root[discrete.discrete]

    def _alike(
        self, functions: Sequence[str], order: Tensor | slice, **more: Any
    ) -> MixtureEvidence:
        discrete = self.discrete.relabelled(torch.arange(self.n_nodes)[order], functions)
        return super()._alike(functions, order, discrete=discrete, **more)

    def _given(
        self, child: Tensor, parents: Tensor, goal: Tensor, dear: Tensor
    ) -> tuple[Tensor, Tensor]:
        shape = len(child), len(self.functions), len(NOISES)
        terms = torch.full(shape, -math.inf, dtype=torch.float64)
        final = torch.ones(len(child), dtype=torch.bool)
        own = self.discrete.discrete[child]
        if bool(own.any()):
            terms[own, :, 0], final[own] = self._probabilities(child[own], parents[own], dear[own])
        if not bool(own.all()):
            terms[~own], final[~own] = super()._given(
                child[~own], parents[~own], goal[~own], dear[~own]
            )
        return terms, final

    def _probabilities(
        self, child: Tensor, parents: Tensor, dear: Tensor
    ) -> tuple[Tensor, Tensor]:  # (b,), (b, n), (b, processes) -> (b, f), (b,)
        """Terms of discrete children, and whether they are final."""
        names = list(self.processes)
        asked = dear[:, names.index("gp")] if "gp" in names else torch.ones_like(parents[:, 0])
        values = self.discrete.terms(child, parents, asked)
        terms = values.new_full((len(child), len(self.functions)), -math.inf)
        for k, name in enumerate(self.discrete.functions):
            terms[:, self.functions.index(name) if name in self.functions else 0] = values[:, k]
        return terms, asked | (parents.sum(-1) < 2)

    def _levels(self, parents: Tensor) -> Sequence[Levels]:  # (b, n)
        return [Levels(parents[:, k], code) for k, code in self.discrete.cells.items()]

    def misfits(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, n)
        """But on discrete causes of continuous columns, whose noise may depend on them."""
        own = self.discrete.discrete
        shaped = own & parents & ~own[child, None]
        return super().misfits(child, parents).masked_fill(shaped, 0.0)

    def _likely_residual(self, child: int, parents: Tensor) -> Tensor:  # (n,) bool -> (N,)
        if not self.discrete.discrete[child]:
            return super()._likely_residual(child, parents)
        return self.discrete.residuals(torch.tensor([child]), parents[None])[0]

    def screens(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b, n)
        own = self.discrete.discrete[child]
        change = self.table.x.new_empty(parents.shape)
        if bool(own.any()):
            change[own] = self.discrete.screens(child[own], parents[own])
        if not bool(own.all()):
            change[~own] = super().screens(child[~own], parents[~own])
        return change

    def _held_by(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        """Of a continuous child; a discrete one is probed by what curves leave of its codes."""
        return torch.where(self.discrete.discrete[child], -1, super()._held_by(child, parents))

    def joint_screens(self, child: Tensor, parents: Tensor) -> Tensor | None:  # -> (b, n)
        """Of continuous children; processes of the others are latent ones."""
        continuous = ~self.discrete.discrete[child]
        return super().joint_screens(child, parents & continuous[:, None])
