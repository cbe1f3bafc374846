"""Evidence of columns of two modes, in which causes decide between the modes."""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from ..columns import Table, standardise, upper_modes
from ..deadline import ENDLESS, Deadline
from .additive import AdditiveEvidence
from .base import Evidence
from .discrete import DiscreteEvidence

SWITCH = "switch"  # its name among kinds of functions


class SwitchEvidence(Evidence):
    r"""Log density of a column, the mode that its values are in following its parents.

    .. math:: \log p(x_v \mid x_S) = \log p(x_v) + \log P(m_v \mid x_S) - \log P(m_v)

    with m the mode, upper or lower, that every value is in, and logistic probabilities P of lines
    and sums of curves. What is switched on by its causes has this density, and no function of them
    with noise around it: such a function takes what is on and what is off for noise. A column of
    one mode has no more than its density.

    Arguments:
        table: Standardised columns.
        root: (n,) log densities of the columns by themselves.
        continuous: (n,) bool, columns that may have modes; all by default.
        categories: Columns whose numbers are names.
        device: Where to compute estimates.
        deadline: Asked before every batch.
    """

    def __init__(
        self,
        table: Table,
        root: Tensor,
        *,
        continuous: Tensor | None = None,
        categories: tuple[int, ...] = (),
        device: torch.device | str = "cpu",
        deadline: Deadline = ENDLESS,
    ) -> None:
        self.n_nodes, self.root = table.x.shape[1], root
        self.has, above = upper_modes(table.y)
        if continuous is not None:
            self.has &= continuous
        self._kinds = ["binary" if mode else "continuous" for mode in self.has]
        for k in categories:
            self._kinds[k] = "category"
        self._table = Table(table.x, above.to(table.x).where(self.has, table.x))
        self._categories, self._device, self._deadline = categories, device, deadline

    @cached_property
    def _modes(self) -> DiscreteEvidence:
        """Which most tables have no need of."""
        x, modes = self._table
        functions = ("linear", "additive")
        return DiscreteEvidence(x, modes, self._kinds, functions=functions, deadline=self._deadline)

    @cached_property
    def _estimate(self) -> AdditiveEvidence:
        x, modes = self._table
        y, categories = standardise(modes)[0], self._categories
        return AdditiveEvidence(x, y=y, categories=categories, device=self._device)

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        value, own = self.root[child].clone(), self.has[child] & parents.any(-1)
        if bool(own.any()):
            found = self._modes.log_evidence(child[own], parents[own])
            value[own] += found - self._modes.log_root[child[own]]
        return value

    def toggles(self, child: Tensor, parents: Tensor, which: Tensor) -> Tensor:  # -> (b, n)
        """Evidences with each node of ``which`` (b, n) toggled, roughly; of others as they are.

        By what sums of curves make of the modes as numbers, all nodes at once.
        """
        value = self.log_evidence(child, parents)[:, None].repeat(1, self.n_nodes)
        rows = self.has[child].nonzero()[:, 0]
        if len(rows):
            asked = child[rows], parents[rows]
            toggled = self._estimate.toggles(*asked, which[rows])
            change = toggled - self._estimate.log_evidence(*asked)[:, None]
            value[rows] += change.where(which[rows], 0.0).nan_to_num(nan=-torch.inf)
        return value
