"""Greedy search that evaluates in full only what a cheap screening finds worth it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from ..distributions.knowledge import Constraints, Knowledge
from ..evidence.screened import ScreenedEvidence
from .climb import Climb
from .pairs import pair_up
from .prior import EdgePrior
from .runs import explore
from .takeovers import take_over

__all__ = ["LazyResult", "lazy_search"]


@dataclass(frozen=True)
class LazyResult:
    """The best graph found and what each single change of it would bring.

    Attributes:
        adjacency: (n, n) bool.
        log_evidence: (n,) of every child.
        gain: (n, n) evidence that the edge i → j brings: lost by dropping it where present, won by
            adding it where absent; without the edge penalty. Estimated where not confirmed.
        confirmed: (n, n) bool, where ``gain`` is a full evaluation.
        total: Evidence and log prior of the graph.
        history: The total after every accepted move.
    """

    adjacency: Tensor
    log_evidence: Tensor
    gain: Tensor
    confirmed: Tensor
    total: float = 0.0
    history: list[float] = field(default_factory=list)

    def relabelled(self, order: Tensor) -> LazyResult:  # (n,)
        """The same with node ``order[k]`` in place k."""
        return replace(
            self,
            adjacency=self.adjacency[order][:, order],
            log_evidence=self.log_evidence[order],
            gain=self.gain[order][:, order],
            confirmed=self.confirmed[order][:, order],
        )


def lazy_search(
    evidence: ScreenedEvidence,
    *,
    prior: EdgePrior | None = None,
    constraints: Constraints | None = None,
    max_parents: int = 14,
    start: Tensor | None = None,  # (n, n) bool
    shortlist: int = 4,
) -> LazyResult:
    r"""Climb to a DAG of high evidence by inserting and deleting edges.

    Inserting i → j also removes the cheapest set of edges (a minimum cut) without which no path
    leads from j back to i; so additions, reversals and larger turns are one kind of move. The best
    move is taken each time. Changes are ranked by :meth:`ScreenedEvidence.screen` and evaluated in
    full from the top until the best confirmed one beats all remaining estimates. Where nothing
    promising is left, the ``shortlist`` best of each child by screening and by
    :meth:`ScreenedEvidence.probe` are evaluated whatever their estimate, and then parents that
    explain something only together.

    Arguments:
        prior: How many edges to expect.
        constraints: Allowed and required edges, and order relations.
        start: Graph to start from; the required edges are added.
        shortlist: Zero where what looks promising is enough.

    Example:
        >>> from dpdag.columns import table_of
        >>> from dpdag.evidence.mixture import MixtureEvidence
        >>> generator = torch.Generator().manual_seed(0)
        >>> cause, noise = torch.randn(2, 200, generator=generator)
        >>> x = torch.stack([torch.sin(2 * cause) + noise / 4, cause], -1)
        >>> lazy_search(MixtureEvidence(table_of(x))).adjacency.int().tolist()
        [[0, 0], [1, 0]]
    """
    n = evidence.n_nodes
    limits = Knowledge().resolve(n) if constraints is None else constraints
    climb = Climb(evidence, limits, prior or EdgePrior.of(limits), max_parents, start)
    while True:
        move = climb.best_move()
        if move is not None:
            climb.apply(move)
        elif not shortlist or not (
            climb.widen(shortlist)
            or explore(climb, shortlist=shortlist)
            or pair_up(climb)
            or take_over(climb)
        ):
            break
    gain = climb.gains()
    return LazyResult(
        adjacency=torch.from_numpy(climb.edges.copy()),
        log_evidence=climb.value.clone(),
        gain=torch.from_numpy(gain),
        confirmed=torch.from_numpy(climb.exact.copy()),
        total=climb.total,
        history=climb.history,
    )
