"""Kinds of mechanisms whose functions can be integrated out, and how each is searched with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from ..distributions import Constraints
from ..evidence.additive import AdditiveEvidence
from ..evidence.base import CachedEvidence, Evidence, row_counts
from ..evidence.bge import BGeEvidence
from ..evidence.budget import TIME_BUDGET, affordable_rows
from ..evidence.free_noise import FreeNoiseEvidence
from ..evidence.gp import GPEvidence
from ..evidence.linear import LinearEvidence
from ..evidence.screened import ExactScreen, ScreenedEvidence
from ..ops.precedence import precedence_mask
from ..ops.rows import spaced, varied_rows
from ..registry import Registry
from ..scm import Mechanisms, fit_additive, fit_gp, fit_linear, fit_location_scale
from ..search import greedy
from ..search.iterated import either, iterated_search, neighbourhood
from ..search.lazy import LazyResult, lazy_search
from ..search.lingam import lingam_order

__all__ = [
    "CPU",
    "INTEGRATED",
    "LAZY_NODES",
    "PROCESSES",
    "Family",
    "Resources",
    "climb_from",
    "graph_by_shape",
    "graph_evidence",
    "mend",
]

LAZY_NODES = 30  # beyond, cheap evidences are searched by plain greedy steps
_ORDER_ROWS = 2000  # by which an order is found from the shape of the noise
_FREE_ROWS = 3000  # that evidences with noise of any shape use at most

Fit = Callable[[Tensor, Tensor, Evidence | None], Mechanisms]
Search = Callable[[Tensor, ScreenedEvidence, Constraints, float], LazyResult]


class Resources(NamedTuple):
    """What a search may use: a device, and seconds and rows of one with Gaussian processes."""

    device: str = "cpu"
    seconds: float = TIME_BUDGET
    rows: int | None = None

    def settled(self, columns: int) -> Resources:
        """With as many rows as the seconds and the memory of this moment allow."""
        return self._replace(
            rows=affordable_rows(columns, seconds=self.seconds, device=self.device)
        )


CPU = Resources()


@dataclass(frozen=True)
class Family:
    """A kind of mechanism whose functions can be integrated out.

    Attributes:
        build: What :meth:`evidence` calls.
        fit: From columns, an (n, n) adjacency and the evidence if there is one, the functions on
            that graph.
        search: From columns, evidence, constraints and the penalty of an edge, a good graph.
        exact_nodes: Up to how many columns the posterior is over all graphs.
        gaussian: Whether noise is taken to be Gaussian, so that other residuals speak against it.
        kernel: Of Gaussian processes; None for other kinds.
        most_rows: From the number of columns and resources, how many rows the evidence looks at.
    """

    build: Callable[[Tensor, Resources, Tensor | None], ScreenedEvidence]
    fit: Fit
    search: Search
    exact_nodes: int = 10
    gaussian: bool = True
    kernel: str | None = None
    most_rows: Callable[[int, Resources], float] = lambda n, resources: math.inf

    def evidence(
        self,
        x: Tensor,  # (rows, n)
        resources: Resources = CPU,
        *,
        replicas: Tensor | None = None,  # (r, k)
    ) -> ScreenedEvidence:
        """The evidence of parent sets, on all rows or on those of each of several replicas."""
        return self.build(x, resources, replicas)


def _lazily(
    x: Tensor, evidence: ScreenedEvidence, constraints: Constraints, penalty: float
) -> LazyResult:
    return lazy_search(evidence, edge_penalty=penalty, constraints=constraints)


def _additively(
    x: Tensor, evidence: ScreenedEvidence, constraints: Constraints, penalty: float
) -> LazyResult:
    if x.shape[1] > LAZY_NODES:
        return _greedily(x, evidence, constraints, penalty)
    return iterated_search(
        evidence,
        edge_penalty=penalty,
        constraints=constraints,
        change=either,
        patience=10,
        rounds=40,
    )


def _linearly(
    x: Tensor, evidence: ScreenedEvidence, constraints: Constraints, penalty: float
) -> LazyResult:
    if x.shape[1] > LAZY_NODES:
        return _greedily(x, evidence, constraints, penalty)
    return iterated_search(evidence, edge_penalty=penalty, constraints=constraints)


def _from_gaussian_noise(
    x: Tensor, evidence: ScreenedEvidence, constraints: Constraints, penalty: float
) -> LazyResult:
    """Turn round and mend a graph found with Gaussian noise: dependences are right in it already.

    From nothing, single steps go astray where the shape of the noise decides on directions. Where
    few relations are straight, that shape also gives an order, and another graph to mend.
    """
    straight, curved = LinearEvidence(x, criterion="bic"), AdditiveEvidence(x)
    graph = greedy(curved, constraints=constraints).adjacency
    bent = graph_evidence(curved, graph).sum() > graph_evidence(straight, graph).sum()
    few = x.shape[1] <= LAZY_NODES
    if bent:
        search = _lazily if few else _greedily
        starts = [search(x, ExactScreen(curved), constraints, penalty).adjacency]
    else:
        family = INTEGRATED["linear"]
        starts = [family.search(x, family.evidence(x), constraints, penalty).adjacency]
    if few and not bent:
        starts.append(graph_by_shape(x, constraints, penalty))
    return mend(starts, evidence, constraints, penalty, straight=not bool(bent))


def mend(
    starts: Iterable[Tensor],  # (n, n) bool
    evidence: ScreenedEvidence,
    constraints: Constraints,
    penalty: float,
    *,
    straight: bool,
) -> LazyResult:
    """Climb from each of several graphs, then go on from the best while that is quick.

    Arguments:
        straight: Whether relations are lines, so that a graph found with Gaussian noise may be any
            of many equivalent ones, and the right one far from it.
    """
    best = climb_from(starts, evidence, constraints, penalty)
    if evidence.n_nodes > LAZY_NODES:
        return best
    return iterated_search(
        evidence,
        edge_penalty=penalty,
        constraints=constraints,
        start=best.adjacency,
        change=either if straight else neighbourhood,
        patience=10 if straight else 5,
        rounds=40 if straight else 12,
    )


def climb_from(
    starts: Iterable[Tensor],  # (n, n) bool
    evidence: ScreenedEvidence,
    constraints: Constraints,
    penalty: float,
) -> LazyResult:
    """The best that a climb from any of several graphs finds."""
    climb = partial(lazy_search, evidence, edge_penalty=penalty, constraints=constraints)
    return max((climb(start=start) for start in starts), key=lambda found: found.total(penalty))


def graph_by_shape(x: Tensor, constraints: Constraints, penalty: float) -> Tensor:  # -> (n, n)
    """A graph of straight lines along the order that the shape of the noise gives."""
    order = lingam_order(spaced(x, _ORDER_ROWS), constraints.before)
    along = replace(constraints, allowed=constraints.allowed & precedence_mask(order))
    return greedy(LinearEvidence(x, criterion="bic"), constraints=along, penalty=penalty).adjacency


def _greedily(
    x: Tensor, evidence: ScreenedEvidence, constraints: Constraints, penalty: float
) -> LazyResult:
    """Plain greedy steps, for many nodes and an evidence that is cheap."""
    inner: Evidence = evidence
    while isinstance(inner, ExactScreen | CachedEvidence):
        inner = inner.evidence
    found = greedy(inner, constraints=constraints, penalty=penalty)
    every = torch.arange(evidence.n_nodes)
    change = evidence.screens(every, found.adjacency.T.contiguous()).T
    return LazyResult(
        adjacency=found.adjacency,
        log_evidence=graph_evidence(evidence, found.adjacency),
        gain=torch.where(found.adjacency, -change, change),
        confirmed=torch.ones_like(found.adjacency),
    )


def _process(kernel: str) -> Family:
    """Gaussian processes over all parents jointly."""

    def evidence(x: Tensor, resources: Resources, replicas: Tensor | None) -> ScreenedEvidence:
        rows, device = most_rows(x.shape[1], resources), resources.device
        return GPEvidence(x, kernel=kernel, rows=rows, device=device, replicas=replicas)

    def fit(x: Tensor, graph: Tensor, known: Evidence | None) -> Mechanisms:
        own = known if isinstance(known, GPEvidence) else None
        return fit_gp(x, graph, evidence=own, kernel=kernel)

    def most_rows(n: int, resources: Resources) -> int:
        return resources.rows or resources.settled(n).rows or 1

    return Family(evidence, fit, _lazily, exact_nodes=5, kernel=kernel, most_rows=most_rows)


def _direct(
    evidence: Callable[[Tensor, Tensor | None], Evidence],
    fit: Callable[[Tensor, Tensor], Mechanisms],
    search: Search,
) -> Family:
    """An evidence that is cheap on all rows."""

    def screened(x: Tensor, resources: Resources, replicas: Tensor | None) -> ScreenedEvidence:
        return ExactScreen(evidence(x, replicas))

    return Family(screened, _alone(fit), search)


def _sums(x: Tensor, replicas: Tensor | None) -> Evidence:
    weights = None if replicas is None else row_counts(replicas, len(x))
    return AdditiveEvidence(x, weights=weights)


def _lines(x: Tensor, replicas: Tensor | None) -> Evidence:
    return CachedEvidence(BGeEvidence(x, replicas=replicas))


def _free(*, scaled: bool) -> Family:
    """Noise of any shape."""

    def evidence(x: Tensor, resources: Resources, replicas: Tensor | None) -> ScreenedEvidence:
        if replicas is None:
            x = spaced(x, _FREE_ROWS)
        else:
            replicas = torch.stack([varied_rows(x, rows[:_FREE_ROWS]) for rows in replicas])
        inner = FreeNoiseEvidence(x, scaled=scaled, replicas=replicas)
        return ExactScreen(CachedEvidence(inner), complete=True)

    return Family(
        evidence,
        _alone(fit_location_scale if scaled else fit_additive),
        _from_gaussian_noise,
        gaussian=False,
        most_rows=lambda n, resources: _FREE_ROWS,
    )


def _alone(fit: Callable[[Tensor, Tensor], Mechanisms]) -> Fit:
    """Functions that need nothing from an evidence."""

    def fitted(x: Tensor, graph: Tensor, known: Evidence | None) -> Mechanisms:
        return fit(x, graph)

    return fitted


INTEGRATED: Registry[Family] = Registry("mechanism")
INTEGRATED.register("gp")(_process("rbf"))
INTEGRATED.register("network")(_process("network"))
INTEGRATED.register("additive")(_direct(_sums, fit_additive, _additively))
INTEGRATED.register("linear")(_direct(_lines, fit_linear, _linearly))
INTEGRATED.register("free-noise")(_free(scaled=False))
INTEGRATED.register("location-scale")(_free(scaled=True))
PROCESSES = ("gp", "network")


def graph_evidence(evidence: Evidence, graph: Tensor) -> Tensor:  # (n, n) bool -> (n,)
    """The evidence of every node given its parents in a graph."""
    return evidence.log_evidence(torch.arange(len(graph)), graph.T.contiguous())
