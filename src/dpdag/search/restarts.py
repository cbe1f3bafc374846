"""The best graph that climbs from several starts find: cheap functions first, then all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from torch import Tensor

from ..deadline import OutOfTimeError
from ..distributions.knowledge import Constraints
from ..evidence.base import CachedEvidence
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
    counts: Callable[[SearchResult, MixtureEvidence], bool],
    start: Tensor | None = None,  # (n, n) bool
) -> tuple[SearchResult, MixtureEvidence]:
    """Climb from the best graph of lines and sums of curves; that graph has to do without time.

    What several causes do only together is not in such a graph; the climb with processes that
    follows adds it. Only lines and curves need several starts: where processes explain most columns
    better, directions are clear to single steps. The second value is the evidence that the graph
    was found with.

    Arguments:
        counts: Whether a graph found with an evidence tells enough to look for better ones nearby,
            which of lines it always does: a wrong one among many edges seems to tell little.
    """
    climb = partial(hill_climb, prior=prior, constraints=constraints)
    cheap = evidence.without_processes()
    if cheap is None:
        return climb(evidence, start=start), evidence
    found = climb(cheap, start=start)
    try:
        if evidence.n_nodes <= _NODES and evidence.holds(cheap.functions, found.adjacency):
            # Where lines explain most columns, directions hang together over long distances.
            lines = cheap.holds(["linear"], found.adjacency)
            if lines:
                starts = _graphs_of_lines(cheap, prior.fixed(), constraints)
                found = _best([found, *(climb(cheap, start=own) for own in starts)])
            if lines or counts(found, cheap):
                again = iterated_search(
                    cheap,
                    prior=prior.fixed(),  # where a falling price of edges would lead into thickets
                    constraints=constraints,
                    start=found.adjacency,
                    change=either,
                    patience=10,
                    rounds=40,
                    moves=(change_edge,),
                )
                found = _best([found, climb(cheap, start=again.adjacency)])
        return climb(evidence, start=found.adjacency) if evidence.processes else found, evidence
    except OutOfTimeError:
        return found, cheap


def _best(found: list[SearchResult]) -> SearchResult:
    return max(found, key=lambda one: one.total)


def _graphs_of_lines(
    evidence: MixtureEvidence, prior: EdgePrior, constraints: Constraints
) -> list[Tensor]:
    """The best linear Gaussian graph, and that of the order which the shape of the noise gives."""
    climbs: dict[str, Any] = {"prior": prior, "moves": (change_edge,)}
    best = iterated_search(CachedEvidence(evidence.lines), constraints=constraints, **climbs)
    order = lingam_order(evidence.table.y, constraints.before)
    along = replace(constraints, allowed=constraints.allowed & precedence_mask(order))
    return [best.adjacency, hill_climb(evidence.lines, constraints=along, **climbs).adjacency]
