"""The best graph that climbs from several starts find: cheap functions first, then all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from torch import Tensor

from ..deadline import OutOfTimeError
from ..distributions.knowledge import Constraints
from ..evidence.base import CachedEvidence
from ..evidence.linear import LinearEvidence
from ..evidence.mixture import MixtureEvidence
from ..ops.precedence import precedence_mask
from .edge_changes import change_edge
from .hill_climb import SearchResult, hill_climb
from .iterated import either, iterated_search
from .lingam import lingam_order
from .prior import EdgePrior

__all__ = ["find_graph"]

_NODES = 30  # beyond, one climb has to do


def find_graph(
    evidence: MixtureEvidence,
    *,
    prior: EdgePrior,
    constraints: Constraints,
    start: Tensor | None = None,  # (n, n) bool
    counts: Callable[[SearchResult, MixtureEvidence], bool] | None = None,
) -> tuple[SearchResult, MixtureEvidence]:
    """Climb from the best graph of lines and sums of curves; that graph has to do without time.

    What several causes do only together is not in such a graph; the climb with processes that
    follows adds it. Only lines and curves need several starts: where processes explain most columns
    better, directions are clear to single steps. The second value is the evidence that the graph
    was found with.

    Arguments:
        counts: Whether a graph found with an evidence tells enough to look for better ones nearby.
    """
    climb = partial(hill_climb, evidence, prior=prior, constraints=constraints)
    cheap = evidence.without_processes()
    if cheap is None:
        return climb(start=start), evidence
    found = hill_climb(cheap, prior=prior, constraints=constraints, start=start)
    try:
        if evidence.n_nodes <= _NODES and evidence.holds(cheap.functions, found.adjacency):
            found = _from_lines(found, cheap, prior, constraints)
            if counts is None or counts(found, cheap):
                found = _climbed_again(found, cheap, prior, constraints)
        return climb(start=found.adjacency) if evidence.processes else found, evidence
    except OutOfTimeError:
        return found, cheap


def _from_lines(
    best: SearchResult, evidence: MixtureEvidence, prior: EdgePrior, constraints: Constraints
) -> SearchResult:
    """The best that climbs from graphs of lines find too, where lines explain most columns.

    There directions hang together over long distances: so climbs begin with the best linear
    Gaussian graph and with the graph of the order that the shape of the noise gives.
    """
    if not evidence.holds(["linear"], best.adjacency):
        return best
    climb = partial(hill_climb, evidence, prior=prior, constraints=constraints)
    lines, fixed = evidence.lines, prior.fixed()
    starts = (
        _best_lines(lines, fixed, constraints),
        _lines_along_order(lines, evidence.table.y, fixed, constraints),
    )
    return max([best, *(climb(start=start) for start in starts)], key=lambda one: one.total)


def _climbed_again(
    best: SearchResult, evidence: MixtureEvidence, prior: EdgePrior, constraints: Constraints
) -> SearchResult:
    """The best that climbs from changes of a graph find."""
    again = iterated_search(
        evidence,
        prior=prior.fixed(),  # where a falling price of edges would lead into thickets
        constraints=constraints,
        start=best.adjacency,
        change=either,
        patience=10,
        rounds=40,
        moves=(change_edge,),
    )
    found = hill_climb(evidence, prior=prior, constraints=constraints, start=again.adjacency)
    return max(best, found, key=lambda one: one.total)


def _best_lines(lines: LinearEvidence, prior: EdgePrior, constraints: Constraints) -> Tensor:
    cached = CachedEvidence(lines)
    plain = iterated_search(cached, prior=prior, constraints=constraints, moves=(change_edge,))
    return plain.adjacency


def _lines_along_order(
    lines: LinearEvidence, x: Tensor, prior: EdgePrior, constraints: Constraints
) -> Tensor:  # (N, n) -> (n, n)
    order = lingam_order(x, constraints.before)
    along = replace(constraints, allowed=constraints.allowed & precedence_mask(order))
    return hill_climb(lines, prior=prior, constraints=along, moves=(change_edge,)).adjacency
