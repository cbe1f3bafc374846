"""Which transformation of each column the data prefer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..columns import TRANSFORMS, Table, Transformed, table_of, transform
from ..columns.table import tied
from ..columns.transforms import PARAMETERS
from ..deadline import ENDLESS, Deadline
from ..distributions.knowledge import Constraints
from ..evidence.divided import divided_mixture
from ..evidence.mixture import MixtureEvidence
from ..evidence.switches import SWITCH
from ..ops.rows import row_groups, spaced_rows
from .hill_climb import hill_climb
from .prior import EdgePrior

__all__ = ["choose_transforms"]

_CHEAP = ("linear", "additive", SWITCH)
_ROWS = 1000  # by which transformations are compared
_FEW_ROWS = 300  # of a comparison with processes
_NODES = 50  # beyond, processes are not asked
_MOSTLY = 0.25  # share of the rows with one value above which a column is more of a category


class _Scored(NamedTuple):
    kinds: tuple[str, ...]
    columns: Transformed
    graph: Tensor  # (n, n) bool
    values: Tensor  # (n,) evidence of every column given its causes
    total: float


def choose_transforms(
    x: Tensor,  # (rows, n) standardised
    *,
    prior: EdgePrior,
    constraints: Constraints,
    functions: Sequence[str],
    any_noise: bool = True,
    fixed: Tensor | None = None,  # (n,) bool
    was_set: Tensor | None = None,  # (rows, n) bool
    device: torch.device | str = "cpu",
    deadline: Deadline = ENDLESS,
) -> tuple[tuple[str, ...], Tensor]:
    r"""The transformation of each column under which all of them together are likeliest.

    .. math:: \sum_v \log p(z_v \mid z_{\mathrm{pa}(v)}) + \sum_v \log |g_v'(x_v)| + \log P(A),
        \qquad z_v = g_v(x_v)

    compared by lines and sums of curves: first one kind for all columns, then single columns, each
    change at the price of its parameters. What wins must hold under processes too, on few rows,
    because causes that act only together look like odd columns to sums.
    Columns that mostly have one value stay as they are, and those that are ``fixed``. Rows in
    which a column was set say nothing of its density. The second value is the graph of lines and
    sums of curves that the columns then have.
    """
    was_set = torch.zeros_like(x, dtype=torch.bool) if was_set is None else was_set
    rows = spaced_rows(x, _ROWS)
    free = ~_mostly_one(x[rows], was_set[rows])
    free = free if fixed is None else free & ~fixed
    plain = ("identity",) * x.shape[1]
    options: dict[str, Any] = {"any_noise": any_noise, "device": device, "deadline": deadline}
    judge = _Judge(x[rows], was_set[rows], prior, constraints, options)
    first = judge.climb(plain)
    alike = [tuple(kind if own else "identity" for own in free) for kind in TRANSFORMS[1:]]
    tried = (one for kinds in alike for one in judge.evaluate(kinds, first.graph))
    best = max(tried, key=lambda one: one.total)
    best = judge.climb(best.kinds, best.graph) if best.total > first.total else first
    best = judge.single_columns(max(first, best, key=lambda one: one.total), free)
    if best.kinds == plain:
        return plain, best.graph
    processes = [name for name in functions if name not in _CHEAP]
    if processes and x.shape[1] <= _NODES:
        rows = spaced_rows(x, _FEW_ROWS)
        few = _Judge(x[rows], was_set[rows], prior, constraints, options, functions)
        after, before = (
            max(one.total for one in few.evaluate(kinds, first.graph, best.graph))
            for kinds in (best.kinds, plain)
        )
        if after < before:
            return plain, first.graph
    return best.kinds, best.graph


def _mostly_one(x: Tensor, was_set: Tensor) -> Tensor:  # (rows, n), (rows, n) bool -> (n,)
    found = torch.zeros(x.shape[1], dtype=torch.bool)
    for columns, rows in row_groups(was_set):
        found[columns] = tied(x[rows][:, columns], _MOSTLY)
    return found


class _Judge:
    """Compares transformations of columns on the same rows."""

    def __init__(
        self,
        x: Tensor,  # (rows, n)
        was_set: Tensor,  # (rows, n) bool
        prior: EdgePrior,
        constraints: Constraints,
        options: dict[str, Any],
        functions: Sequence[str] = _CHEAP,
    ) -> None:
        self.x, self.was_set = x, was_set
        self.prior, self.constraints = prior, constraints
        self.functions, self.options = functions, options
        self.price = 0.5 * math.log(len(x))  # of one parameter

    def columns(self, kinds: Sequence[str]) -> Transformed:
        """Transformed by their kinds."""
        return transform(self.x, kinds, self.was_set)

    def evidence(self, z: Tensor, was_set: Tensor) -> MixtureEvidence:  # (rows, m), (rows, m) bool
        return divided_mixture(
            was_set,
            lambda rows: MixtureEvidence(
                table_of(z[rows], was_set[rows]), functions=self.functions, **self.options
            ),
        )

    def climb(self, kinds: tuple[str, ...], start: Tensor | None = None) -> _Scored:
        """On a graph of its own."""
        columns = self.columns(kinds)
        found = hill_climb(
            self.evidence(columns.z, self.was_set),
            prior=self.prior,
            constraints=self.constraints,
            start=start,
        )
        return self._scored(kinds, columns, found.adjacency, found.log_evidence)

    def evaluate(self, kinds: tuple[str, ...], *graphs: Tensor) -> list[_Scored]:
        """On given graphs."""
        columns = self.columns(kinds)
        evidence = self.evidence(columns.z, self.was_set)
        every = torch.arange(len(kinds))
        return [
            self._scored(kinds, columns, graph, evidence.log_evidence(every, graph.T.contiguous()))
            for graph in graphs
        ]

    def changed(self, scored: _Scored, column: int, kind: str) -> _Scored:
        """With another transformation of one column, which is seen by itself and its effects."""
        own = transform(self.x[:, [column]], [kind], self.was_set[:, [column]])
        z, log_jacobian = scored.columns.z.clone(), scored.columns.log_jacobian.clone()
        z[:, [column]], log_jacobian[column] = own.z, own.log_jacobian[0]
        concerned = scored.graph[column].clone()
        concerned[column] = True
        near = concerned | scored.graph[:, concerned].any(1)  # with all their causes
        asked = concerned[near].nonzero()[:, 0], scored.graph[near][:, concerned].T.contiguous()
        values = scored.values.clone()
        own_evidence = self.evidence(z[:, near], self.was_set[:, near])
        values[concerned] = own_evidence.log_evidence(*asked)
        kinds = (*scored.kinds[:column], kind, *scored.kinds[column + 1 :])
        return self._scored(kinds, Transformed(z, log_jacobian), scored.graph, values)

    def single_columns(self, scored: _Scored, free: Tensor) -> _Scored:  # (n,) bool
        """Change columns one by one, the most promising first, while that pays."""
        gains = self._own_gains(scored).masked_fill(~free[:, None], -math.inf)  # (n, kinds)
        for place in gains.flatten().argsort(descending=True, stable=True).tolist():
            column, kind = divmod(place, len(TRANSFORMS))
            if gains[column, kind] <= 0:
                break
            if scored.kinds[column] == TRANSFORMS[kind]:
                continue
            other = self.changed(scored, column, TRANSFORMS[kind])
            scored = max(scored, other, key=lambda one: one.total)
        return scored

    def _own_gains(self, scored: _Scored) -> Tensor:  # (n, kinds)
        """What each transformation of a column brings to its own density given its parents."""
        graph, before = scored.graph, scored.columns
        values = []
        for kind in TRANSFORMS:
            columns = self.columns([kind] * len(graph))
            evidence = divided_mixture(self.was_set, partial(self._as_effects, columns, before))
            own = evidence.log_evidence(torch.arange(len(graph)), graph.T.contiguous())
            values.append(own + columns.log_jacobian)
        paid = torch.tensor([self.price * PARAMETERS[kind] for kind in TRANSFORMS])
        stacked = torch.stack(values, -1) - paid
        now = torch.tensor([TRANSFORMS.index(kind) for kind in scored.kinds])
        return stacked - stacked.gather(1, now[:, None])

    def _table(self, columns: Transformed, rows: Tensor) -> Table:  # (k,)
        return table_of(columns.z[rows], self.was_set[rows])

    def _as_effects(
        self, columns: Transformed, causes: Transformed, rows: Tensor
    ) -> MixtureEvidence:  # (k,)
        """Of some columns given others."""
        table = self._table(causes, rows)._replace(y=self._table(columns, rows).y)
        return MixtureEvidence(table, functions=["additive"], **self.options)

    def _scored(
        self, kinds: tuple[str, ...], columns: Transformed, graph: Tensor, values: Tensor
    ) -> _Scored:
        paid = self.price * sum(PARAMETERS[kind] for kind in kinds)
        total = float(values.sum() + columns.log_jacobian.sum()) - paid
        return _Scored(kinds, columns, graph, values, total + self.prior.log(int(graph.sum())))
