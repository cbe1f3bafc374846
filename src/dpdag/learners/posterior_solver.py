"""A posterior over DAGs with the functions integrated out: columns, search, posterior."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..columns import (
    MonotoneColumns,
    TypedColumns,
    order_by_values,
    table_of,
    transform,
)
from ..deadline import ENDLESS, Deadline
from ..distributions import Constraints
from ..evidence.discrete import DiscreteEvidence
from ..evidence.divided import divided_mixture
from ..evidence.families import AUTO, KERNEL_OF
from ..evidence.gp import affordable_rows, device_speed, search_seconds
from ..evidence.mixture import MixtureEvidence
from ..evidence.typed import TypedEvidence
from ..ops.rows import drawn_rows, varied_rows
from ..posterior import (
    ColumnFacts,
    Doubt,
    LocalPosterior,
    coarse_posterior,
    direction_odds,
    doubts,
    fit_locally,
    likely_graphs,
)
from ..search import EdgePrior, SearchResult, change_edge, hill_climb
from ..search.restarts import find_graph
from ..search.transformations import choose_transforms
from ..seeding import torch_generator
from ..training import LONG, Stages
from .pair_facts import column_facts, counted_share

_ENUMERATED = 5  # columns up to which the posterior is over all graphs
_PER_PAIR = 7e-5  # seconds of sums at a thousand rows on one CPU core; half of it was seen
_PATIENCE = 600.0  # seconds of a search with processes that a fit of no set time may begin
_CHEAP = ("linear", "additive")
_EQUAL = 1e-6  # nats between graphs that explain the same
_COARSE = 0.5  # weight of one from which the search for the best graph is over soon
_LITTLE = 0.05  # weight beneath which a coarsened posterior is not worth its time
# Shares of all time that stages may end at; functions are fitted after them.
_COLUMNS, _SEARCH, _WEIGHED, _HALVES = 0.15, 0.6, 0.75, 0.8


@dataclass(frozen=True)
class Plan:
    """What is asked of a fit.

    Attributes:
        functions: Kinds that are averaged.
        edge_prior: Probability of an edge; learned where None.
        resamples: Random halves of the rows.
        rows: That evidences read at most.
        types: Of the columns; None where all are continuous.
        deadline: Of the whole fit.
    """

    functions: Sequence[str] = AUTO
    edge_prior: float | None = None
    resamples: int = 0
    rows: int = 1000
    device: str = "cpu"
    random_state: Any = None
    types: TypedColumns | None = None
    deadline: Deadline = ENDLESS

    @classmethod
    def within(cls, columns: int, seconds: float, device: str, **others: Any) -> Plan:
        """With as many rows as seconds and memory allow."""
        work = columns * 2 ** (columns - 1) / 3 if columns <= _ENUMERATED else 0  # of all sets
        rows = affordable_rows(max(columns, work), seconds=seconds, device=device)
        return cls(rows=rows, device=device, **others)

    def within_patience(self, columns: int, rows: int) -> Plan:
        """The same without processes where a search with them would take more than ten minutes."""
        slow = expected_seconds(columns, rows, self) > _PATIENCE
        return replace(self, functions=_CHEAP) if slow else self

    def evidence(
        self,
        x: Tensor,  # (rows, n)
        was_set: Tensor | None = None,  # (rows, n) bool
        asked: Tensor | None = None,  # (n,) bool
    ) -> MixtureEvidence:
        """Of some rows, drawn at random, the same ones each time and for all columns.

        Equally many of every experiment, and of each column those in which it was not set.
        """
        was_set = torch.zeros_like(x, dtype=torch.bool) if was_set is None else was_set
        rows = drawn_rows(x, was_set, self.rows)
        x, was_set = x[rows], was_set[rows]
        return divided_mixture(was_set, lambda rows: self._evidence(x[rows], was_set[rows], asked))

    def _evidence(
        self, x: Tensor, was_set: Tensor, asked: Tensor | None
    ) -> MixtureEvidence:  # (rows, n), (rows, n) bool, (n,)
        table = table_of(x, was_set)
        options: dict[str, Any] = {"functions": self.functions, "deadline": self.deadline}
        processes = {"asked": asked, "device": self.device}
        if self.types is None or not bool(self.types.discrete.any()):
            return MixtureEvidence(table, **options, **processes)
        values, kinds = self.types.values(x), self.types.kinds
        discrete = DiscreteEvidence(table.x, values, kinds, **options)
        return TypedEvidence(table, discrete, **options, **processes)

    def relabelled(self, order: Tensor) -> Plan:  # (n,)
        """For a table with column ``order[k]`` in place k."""
        return replace(self, types=None if self.types is None else self.types.relabelled(order))


class Found(NamedTuple):
    """The best graph a search found and the posterior, as one DP-DAG or several.

    Attributes:
        graph: With the gain of every edge.
        posteriors: What is stated.
        weights: (k,) of these.
        doubt: Why no more is.
        guessed: (n, n) probabilities of edges as if all columns were measured finely.
        possible: (n, n) bool, edges that may be right beside a coarsened posterior; None without.
    """

    graph: SearchResult
    posteriors: Sequence[LocalPosterior]
    weights: Tensor
    doubt: Doubt
    guessed: Tensor
    possible: Tensor | None = None

    def beside(self, coarse: LocalPosterior, share: float) -> Found:
        """The same with a coarsened posterior of that weight, which knows of any direction.

        Effects of one cause look linked to it; of links that the search has not found either, more
        are wrong than right.
        """
        weights = torch.cat([self.weights.double() * (1 - share), torch.tensor([share]).double()])
        return self._replace(
            posteriors=[*self.posteriors, coarse],
            weights=weights,
            guessed=torch.lerp(self.guessed, coarse.edge_probabilities, share),
            possible=self.graph.adjacency | self.graph.adjacency.mT,
        )

    def relabelled(self, order: Tensor) -> Found:  # (n,)
        """The same with node ``order[k]`` in place k."""
        return self._replace(
            graph=_relabelled(self.graph, order),
            posteriors=[one.relabelled(order) for one in self.posteriors],
            doubt=_relabelled(self.doubt, order),
            guessed=self.guessed[order][:, order],
            possible=None if self.possible is None else self.possible[order][:, order],
        )


def _relabelled(record: Any, order: Tensor) -> Any:  # (n,)
    """A dataclass with node ``order[k]`` in place k along every axis of its tensors."""
    parts = {name: part for name, part in vars(record).items() if isinstance(part, Tensor)}
    for name, part in parts.items():
        for axis in range(part.ndim):
            parts[name] = parts[name].index_select(axis, order)
    return replace(record, **parts)


class Chosen(NamedTuple):
    """What is done to columns before a search.

    Attributes:
        kinds: Transformations by name.
        columns: The functions that do it; None for nothing.
        graph: (n, n) bool, that lines and sums of curves then have; None where nobody looked.
    """

    kinds: tuple[str, ...]
    columns: MonotoneColumns | None = None
    graph: Tensor | None = None


def choose_columns(
    x: Tensor,  # (rows, n) standardised
    was_set: Tensor,  # (rows, n) bool
    constraints: Constraints,
    plan: Plan,
) -> Chosen:
    """What is done to every column."""
    order = order_by_values(x)
    with plan.deadline.stage("transformations (columns are as they came)", until=_COLUMNS):
        chosen, graph = choose_transforms(
            x[:, order],
            prior=EdgePrior.of(constraints, plan.edge_prior),
            constraints=constraints.relabelled(order),
            functions=plan.functions,
            fixed=None if plan.types is None else plan.types.relabelled(order).discrete,
            was_set=was_set[:, order],
            device=plan.device,
            deadline=plan.deadline,
        )
        back = order.argsort()
        kinds, graph = tuple(chosen[k] for k in back.tolist()), graph[back][:, back]
        if all(kind == "identity" for kind in kinds):
            return Chosen(kinds, None, graph)
        return Chosen(kinds, MonotoneColumns.through(x, transform(x, kinds, was_set).z), graph)
    return Chosen(("identity",) * x.shape[1])


class _Setting(NamedTuple):
    """What the searches and posteriors of one table have in common.

    Attributes:
        facts: Of the columns.
        share: (n, n) of the rows that count between two columns.
    """

    prior: EdgePrior
    constraints: Constraints
    facts: ColumnFacts
    share: Tensor

    def climb(self, evidence: MixtureEvidence, **options: Any) -> SearchResult:
        return hill_climb(evidence, prior=self.prior, constraints=self.constraints, **options)

    def density(self, graph: SearchResult) -> float:
        """Probability of an edge, given how many there are."""
        return self.prior.density(int(graph.adjacency.sum()))

    def doubts(self, graph: SearchResult, evidence: MixtureEvidence, density: float) -> Doubt:
        return doubts(graph, evidence, self.facts, self.share, edge_prior=density)


def solve(
    x: Tensor,  # (rows, n) in the units of the model
    plain: Tensor,  # (rows, n) as they came, standardised
    was_set: Tensor,  # (rows, n) bool
    constraints: Constraints,
    plan: Plan,
    stages: Stages,
    start: Tensor | None = None,  # (n, n) bool
) -> tuple[list[Found], MixtureEvidence]:
    """Find a graph on all rows, mend it on halves of them, and fit a posterior around each.

    Searches see the columns in an order of their own, so that nothing depends on the given one.
    """
    order = order_by_values(x)
    x, plain, was_set = x[:, order], plain[:, order], was_set[:, order]
    constraints, plan = constraints.relabelled(order), plan.relabelled(order)
    start = None if start is None else start[order][:, order]
    stages.show("searching a graph", 0.05, 0.6)
    evidence = plan.evidence(x, was_set)
    prior, share = EdgePrior.of(constraints, plan.edge_prior), counted_share(x, was_set)
    facts = column_facts(x, plain, was_set, plan.types)
    setting = _Setting(prior, constraints, facts, share)
    graph, evidence = _search(evidence, setting, start)
    stages.show("weighing its neighbours", 0.6, 0.8)
    found = [_with_posterior(graph, evidence, setting)]
    best, count = found[0].graph.adjacency, plan.resamples
    parents = best.T.contiguous()
    asked = evidence.acts_together(parents) & (parents.sum(-1) > 1)
    with plan.deadline.stage(f"some of the {count} random halves of the rows", until=_HALVES):
        for k in range(count):
            stages.show(f"checking it on half of the rows, {k + 1} of {count}", 0.8, 0.9)
            half = _half(x, k, plan.random_state)
            own = plan.evidence(x[half], was_set[half], asked)
            graph = setting.climb(own, start=best, moves=(change_edge,))
            plan.deadline.check()  # half a search says nothing
            found.append(_with_posterior(graph, own, setting))
    weight = found[0].doubt.coarse_share * float(share.mean())  # series are alike by chance
    if weight > _LITTLE:
        with plan.deadline.stage("a coarsened posterior beside the graph", until=_HALVES):
            own = replace(plan, functions=_CHEAP).evidence(plain, was_set)
            coarse = coarse_posterior(own, prior=prior, constraints=constraints, share=share)
            found = [one.beside(coarse, weight) for one in found]
    back = order.argsort()
    return [one.relabelled(back) for one in found], evidence.relabelled(back)


def _search(
    evidence: MixtureEvidence, setting: _Setting, start: Tensor | None
) -> tuple[SearchResult, MixtureEvidence]:
    """The best graph within the time of a search, and the evidence that it was found with."""

    def counts(graph: SearchResult, evidence: MixtureEvidence) -> bool:
        return setting.doubts(graph, evidence, setting.density(graph)).coarse_share < _COARSE

    prior, constraints = setting.prior, setting.constraints
    with evidence.deadline.stage("the end of the search (its best graph stands)", until=_SEARCH):
        return find_graph(
            evidence, prior=prior, constraints=constraints, start=start, counts=counts
        )
    curves = evidence.by_curves()  # for a first look, without which nothing can be said
    return setting.climb(curves, moves=()), curves


def _half(x: Tensor, k: int, random_state: Any) -> Tensor:  # (rows, n) -> (rows / 2,)
    generator = torch_generator(random_state, "resamples", k)
    drawn = torch.randperm(len(x), generator=generator)[: max(5, len(x) // 2)]
    return varied_rows(x, drawn)


def _with_posterior(graph: SearchResult, evidence: MixtureEvidence, setting: _Setting) -> Found:
    """Where all graphs are seen, the search cannot miss the best of them."""
    constraints, density, deadline = setting.constraints, setting.density(graph), evidence.deadline
    if evidence.n_nodes <= _ENUMERATED:
        with deadline.stage(
            "the posterior over all graphs (one near the best stands)", until=_WEIGHED
        ):
            likely = likely_graphs(evidence, edge_prior=density, constraints=constraints)
            other = setting.climb(evidence, start=likely.best)
            if other.total > graph.total + _EQUAL:
                graph = other
            doubt = setting.doubts(graph, evidence, density)
            return _found(graph, doubt, likely.weights, partial(likely.posteriors, constraints))
    with deadline.stage("some graphs with other directions", until=_WEIGHED):
        odds = direction_odds(graph, evidence, constraints=constraints)
    doubt = _doubts(graph, evidence, setting, density)

    def local(doubt: Doubt) -> list[LocalPosterior]:
        return [fit_locally(graph, odds, edge_prior=density, constraints=constraints, doubt=doubt)]

    return _found(graph, doubt, torch.ones(1).double(), local)


def _found(
    graph: SearchResult,
    doubt: Doubt,
    weights: Tensor,  # (k,)
    posteriors: Callable[[Doubt], list[LocalPosterior]],
) -> Found:
    """What is stated with that doubt, and what would be guessed."""
    own = posteriors(doubt)
    guesses = posteriors(doubt.guessing) if bool((doubt.fineness < 1).any()) else own
    each = torch.stack([one.edge_probabilities for one in guesses])
    return Found(graph, own, weights, doubt, torch.einsum("k,kij->ij", weights.to(each), each))


def _doubts(
    graph: SearchResult, evidence: MixtureEvidence, setting: _Setting, density: float
) -> Doubt:
    """By lines and sums of curves where there is no time for more."""
    with evidence.deadline.stage("processes in how sure links are (curves decide)", until=_WEIGHED):
        return setting.doubts(graph, evidence, density)
    return setting.doubts(graph, evidence.by_curves(), density)


def expected_seconds(columns: int, rows: int, plan: Plan) -> float:
    """What a fit takes, roughly: by pairs of columns for sums, by columns for processes."""
    used = min(rows, plan.rows)
    sums = _PER_PAIR * columns**2 * used / 1000 / device_speed(plan.device)
    if not _has_processes(plan):
        return sums
    return max(sums, search_seconds(columns, used, plan.device))


def forecast(columns: int, rows: int, plan: Plan) -> str | None:
    """What to expect of a search that takes more than half a minute."""
    used, seconds = min(rows, plan.rows), expected_seconds(columns, rows, plan)
    if seconds < LONG:
        return None
    where = "a CPU" if plan.device == "cpu" else "this device"
    how = "with Gaussian processes " if _has_processes(plan) else ""
    return (
        f"Searching {columns} columns {how}on {used} of {rows} rows takes some "
        f"{seconds / 2:.0f} to {2 * seconds:.0f} seconds on {where}; CAM() takes less."
    )


def _has_processes(plan: Plan) -> bool:
    return bool(set(plan.functions) & set(KERNEL_OF))
