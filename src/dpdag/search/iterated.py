"""Searches that leave a local optimum and come back, where climbing is cheap."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from ..distributions.knowledge import Constraints, Knowledge
from ..evidence.base import CachedEvidence, Evidence
from ..evidence.screened import ExactScreen
from .lazy import LazyResult, lazy_search

__all__ = ["iterated_search"]


def iterated_search(
    evidence: Evidence,
    *,
    edge_penalty: float = 2.0,
    constraints: Constraints | None = None,
    patience: int = 12,
    random_state: int = 0,
) -> LazyResult:
    """Climb, then repeatedly change the graph at random and climb again, keeping what is better.

    Each round walks through Markov equivalent graphs by turning covered edges round, and takes
    two nodes out. Among equivalent graphs no single change pays, so that plain climbing stops at
    the first directions it happened to choose and covers up for them with false edges.

    Arguments:
        evidence: One that is cheap.
        edge_penalty: What an edge must bring, in nats.
        constraints: Allowed and required edges, and order relations.
        patience: Changes in a row that may bring nothing.
        random_state: Seed of the changes.
    """
    limits = Knowledge().resolve(evidence.n_nodes) if constraints is None else constraints
    screened = ExactScreen(CachedEvidence(evidence))
    climb = partial(lazy_search, screened, edge_penalty=edge_penalty, constraints=limits)
    generator = torch.Generator().manual_seed(random_state)
    best, left = climb(), patience
    while left:
        found = climb(start=_change(best.adjacency, limits, generator))
        rise = _total(found, edge_penalty) - _total(best, edge_penalty)
        left = patience if rise > 1e-6 else left - 1
        best = found if rise > -1e-6 else best
    return best


def _change(graph: Tensor, limits: Constraints, generator: torch.Generator) -> Tensor:
    """An equivalent graph without the edges of two nodes."""
    changed, n = graph.clone(), len(graph)
    for _ in range(3 * n):
        edges = _covered(changed) & limits.allowed.mT & ~limits.required & ~limits.before
        choices = edges.nonzero()
        if not len(choices):
            break
        i, j = choices[int(torch.randint(len(choices), (1,), generator=generator))].tolist()
        changed[i, j], changed[j, i] = False, True
    for node in torch.randperm(n, generator=generator)[:2].tolist():
        changed[node] = changed[:, node] = False
    return changed


def _covered(graph: Tensor) -> Tensor:  # (n, n) bool -> (n, n) bool
    """Edges i → j where j's parents are i and i's own: turned round, they change no dependence."""
    parents = graph.mT  # (child, parent)
    own = torch.eye(len(graph), dtype=torch.bool)
    joined = parents | own  # (i, parents of i and i)
    return graph & (joined[:, None] == parents[None]).all(-1)


def _total(found: LazyResult, penalty: float) -> float:
    return float(found.log_evidence.sum()) - penalty * int(found.adjacency.sum())
