"""Which transformation of each column the data prefer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..columns import TRANSFORMS, Transformed, table_of, transform
from ..columns.table import tied
from ..columns.transforms import PARAMETERS
from ..deadline import Deadline
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
_AT_ONCE = 64  # columns whose transformation is changed in one evaluation


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
    fixed: Tensor | None,  # (n,) bool
    was_set: Tensor,  # (rows, n) bool
    device: str,
    deadline: Deadline,
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
    rows = spaced_rows(x, _ROWS)
    free = ~_mostly_one(x[rows], was_set[rows])
    free = free if fixed is None else free & ~fixed
    plain = ("identity",) * x.shape[1]
    options: dict[str, Any] = {"device": device, "deadline": deadline}
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


@dataclass
class _Judge:
    """Compares transformations of columns on the same rows."""

    x: Tensor  # (rows, n)
    was_set: Tensor  # (rows, n) bool
    prior: EdgePrior
    constraints: Constraints
    options: dict[str, Any]
    functions: Sequence[str] = _CHEAP

    def __post_init__(self) -> None:
        self.price = 0.5 * math.log(len(self.x))  # of one parameter
        self._alike: dict[str, Transformed] = {}

    def alike(self, kind: str) -> Transformed:
        """All columns transformed in one way."""
        if kind not in self._alike:
            self._alike[kind] = transform(self.x, [kind] * self.x.shape[1], self.was_set)
        return self._alike[kind]

    def columns(self, kinds: Sequence[str], columns: Sequence[int] | None = None) -> Transformed:
        """All columns, or some, transformed by their kinds."""
        numbers = range(len(kinds)) if columns is None else columns
        each = [(self.alike(kind), column) for column, kind in zip(numbers, kinds)]
        z = torch.stack([alike.z[:, column] for alike, column in each], -1)
        return Transformed(z, torch.stack([alike.log_jacobian[column] for alike, column in each]))

    def evidence(
        self, z: Tensor, was_set: Tensor, told_by: int | None = None
    ) -> MixtureEvidence:  # (rows, m), (rows, m) bool
        return divided_mixture(
            was_set,
            lambda rows: MixtureEvidence(
                table_of(z[rows], was_set[rows]),
                functions=self.functions,
                told_by=told_by,
                **self.options,
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

    def single_columns(self, scored: _Scored, free: Tensor) -> _Scored:  # (n,) bool
        """Change columns one by one, the most promising first, while that pays."""
        gains = self._own_gains(scored).masked_fill(~free[:, None], -math.inf)  # (n, kinds)
        ranked = gains.flatten().argsort(descending=True, stable=True)
        waiting = [
            (place // len(TRANSFORMS), TRANSFORMS[place % len(TRANSFORMS)])
            for place in ranked[: int((gains > 0).sum())].tolist()
        ]
        while waiting:
            scored, again = self._change(scored, waiting[:_AT_ONCE])
            waiting = again + waiting[_AT_ONCE:]
        return scored

    def _change(
        self, scored: _Scored, changes: Sequence[tuple[int, str]]
    ) -> tuple[_Scored, list[tuple[int, str]]]:
        """Make changes that pay, and name those to be looked at again after them.

        Of a change a column itself and its effects see something. Changes of which no column sees
        two are worth together what they are worth one by one.
        """
        column = torch.tensor([column for column, _ in changes])
        own = self.columns([kind for _, kind in changes], column.tolist())
        concerned = scored.graph[column]  # (k, n)
        concerned[torch.arange(len(column)), column] = True
        which, child = concerned.nonzero(as_tuple=True)
        values = self._changed(scored, column, own, which, child)
        gain = torch.zeros(len(column), dtype=torch.float64)
        gain.index_add_(0, which, values - scored.values[child])
        gain += own.log_jacobian - scored.columns.log_jacobian[column]
        before = (scored.kinds[one] for one, _ in changes)
        more = [PARAMETERS[kind] - PARAMETERS[old] for (_, kind), old in zip(changes, before)]
        pays = gain > self.price * torch.tensor(more)
        again, seen = [], torch.zeros(len(scored.graph), dtype=torch.bool)
        kinds, fresh = list(scored.kinds), scored.values.clone()
        for k, change in enumerate(changes):
            if bool((seen & concerned[k]).any()):
                again.append(change)
            elif pays[k]:
                seen |= concerned[k]
                kinds[change[0]] = change[1]
                fresh[child[which == k]] = values[which == k]
        chosen = tuple(kinds)
        return self._scored(chosen, self.columns(chosen), scored.graph, fresh), again

    def _changed(
        self,
        scored: _Scored,
        column: Tensor,  # (k,)
        own: Transformed,  # (k,)
        which: Tensor,  # (t,) of the changes
        child: Tensor,  # (t,)
    ) -> Tensor:  # -> (t,)
        """Evidence of columns after one change each, other forms being columns more."""
        asked = torch.zeros(len(scored.graph), dtype=torch.bool)
        asked[child] = True
        near = asked | scored.graph[:, asked].any(1)  # with all their causes
        place, other = near.cumsum(0) - 1, int(near.sum()) + which
        z = torch.cat([scored.columns.z[:, near], own.z], -1)
        was_set = torch.cat([self.was_set[:, near], self.was_set[:, column]], -1)
        parents = torch.zeros(len(child), z.shape[1], dtype=torch.bool)
        parents[:, : int(near.sum())] = scored.graph[near][:, child].T
        changed, rows = column[which], torch.arange(len(child))
        is_cause = scored.graph[changed, child]
        parents[rows, place[changed]] &= ~is_cause
        parents[rows, other] = is_cause
        effect = torch.where(changed == child, other, place[child])
        return self.evidence(z, was_set, int(near.sum())).log_evidence(effect, parents)

    def _own_gains(self, scored: _Scored) -> Tensor:  # (n, kinds)
        """What each transformation of a column brings to its own density given its parents."""
        graph, before = scored.graph, scored.columns
        values = []
        for kind in TRANSFORMS:
            columns = self.alike(kind)
            evidence = divided_mixture(self.was_set, partial(self._as_effects, columns, before))
            own = evidence.log_evidence(torch.arange(len(graph)), graph.T.contiguous())
            values.append(own + columns.log_jacobian)
        paid = torch.tensor([self.price * PARAMETERS[kind] for kind in TRANSFORMS])
        stacked = torch.stack(values, -1) - paid
        now = torch.tensor([TRANSFORMS.index(kind) for kind in scored.kinds])
        return stacked - stacked.gather(1, now[:, None])

    def _as_effects(
        self, columns: Transformed, causes: Transformed, rows: Tensor
    ) -> MixtureEvidence:  # (k,)
        """Of some columns given others."""
        table, own = (table_of(one.z[rows], self.was_set[rows]) for one in (causes, columns))
        return MixtureEvidence(table._replace(y=own.y), functions=["additive"], **self.options)

    def _scored(
        self, kinds: tuple[str, ...], columns: Transformed, graph: Tensor, values: Tensor
    ) -> _Scored:
        paid = self.price * sum(PARAMETERS[kind] for kind in kinds)
        total = float(values.sum() + columns.log_jacobian.sum()) - paid
        return _Scored(kinds, columns, graph, values, total + self.prior.log(int(graph.sum())))
