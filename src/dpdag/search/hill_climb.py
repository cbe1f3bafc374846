"""Hill climbing over DAGs: the one search, with any evidence and any set of moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..deadline import OutOfTimeError
from ..distributions.knowledge import Constraints, Knowledge
from ..evidence.base import Evidence
from ..evidence.screened import ExactScreen, ScreenedEvidence
from ..ops.graphs import find_cycle, reachability, topological_order
from .climb import Climb
from .edge_changes import change_edge, shortlist_edges
from .family_reversals import reverse_families
from .greedy_runs import run_greedily
from .pair_insertions import exchange_for_pairs, insert_pairs
from .prior import EdgePrior

__all__ = ["ALL_MOVES", "Move", "SearchResult", "hill_climb"]

Move = Callable[[Climb], bool]  # changes a climb; whether there may be more to do
ALL_MOVES: tuple[Move, ...] = (
    change_edge,
    shortlist_edges,
    run_greedily,
    insert_pairs,
    reverse_families,
    exchange_for_pairs,
)


@dataclass(frozen=True)
class SearchResult:
    """The best graph found and what each single change of it would bring.

    Attributes:
        adjacency: (n, n) bool.
        log_evidence: (n,) of every child.
        gain: (n, n) evidence that the edge i → j brings: lost by dropping it where present, won by
            adding it where absent; without the price of an edge. Estimated where that is enough.
        total: Evidence and log prior of the graph.
        history: The total after every accepted move.
    """

    adjacency: Tensor
    log_evidence: Tensor
    gain: Tensor
    total: float = 0.0
    history: list[float] = field(default_factory=list)

    def order(self, before: Tensor) -> Tensor:  # (n, n) bool -> (n,) nodes
        """Causes first, and i before j wherever that must be."""
        return topological_order(self.adjacency | before)

    def edge_scores(self, constraints: Constraints) -> Tensor:  # -> (n, n)
        r"""Present edges by the evidence they carry, others by what they would add.

        .. math:: s = 1 + \max(g, 0) \;\text{ or }\; \tfrac12 \bigl(1 + g / (1 + |g|)\bigr)

        Edges against the order of the graph come last: to add them, others would have to go.
        """
        gain = self.gain.nan_to_num(nan=-1e6, neginf=-1e6, posinf=1e6)
        absent = 0.5 * (1 + gain / (1 + gain.abs()))
        against = reachability(self.adjacency | constraints.before).mT
        absent = torch.where(against, 0.1 * absent, absent)
        scores = torch.where(self.adjacency, 1 + gain.clamp_min(0), absent)
        return scores.masked_fill(~constraints.allowed, 0.0)


def hill_climb(
    evidence: Evidence,
    *,
    prior: EdgePrior | None = None,
    constraints: Constraints | None = None,
    max_parents: int = 14,
    start: Tensor | None = None,  # (n, n) bool
    moves: Sequence[Move] = ALL_MOVES,
) -> SearchResult:
    r"""Climb to a DAG of high evidence, one move after the other.

    .. math:: \max_A \sum_v \log p(x_v \mid x_{\mathrm{pa}(v)}) + \log P(A)

    The first of the moves that changes something is made, again and again, until none does. Of an
    evidence with cheap estimates only what looks promising is evaluated in full. Where the
    evidence's deadline is met on the way, the graph reached by then is the result.

    Arguments:
        evidence: Any.
        prior: How many edges to expect.
        constraints: Allowed and required edges, and order relations.
        start: Graph to start from; the required edges are added.
        moves: The cheapest first.

    Example:
        >>> from dpdag.columns import table_of
        >>> from dpdag.evidence.mixture import MixtureEvidence
        >>> generator = torch.Generator().manual_seed(0)
        >>> cause, noise = torch.randn(2, 200, generator=generator)
        >>> x = torch.stack([torch.sin(2 * cause) + noise / 4, cause], -1)
        >>> hill_climb(MixtureEvidence(table_of(x))).adjacency.int().tolist()
        [[0, 0], [1, 0]]
    """
    n = evidence.n_nodes
    limits = Knowledge().resolve(n) if constraints is None else constraints
    screened = evidence if isinstance(evidence, ScreenedEvidence) else ExactScreen(evidence)
    climb = Climb(screened, limits, prior or EdgePrior.of(limits), max_parents, start)
    if cycle := find_cycle(torch.from_numpy(climb.edges) | limits.before):
        path = " → ".join(map(str, cycle))
        raise ValueError(f"'start' with the required edges has the cycle {path}.")
    with suppress(OutOfTimeError):
        moved = True
        while moved:
            while any(move(climb) for move in moves):
                pass
            climb.confirm_doubtful()  # which may show that something was estimated too well
            moved = any(move(climb) for move in moves)
    return SearchResult(
        adjacency=torch.from_numpy(climb.edges.copy()),
        log_evidence=climb.value.clone(),
        gain=torch.from_numpy(climb.gains()),
        total=climb.total,
        history=climb.history,
    )
