"""Searches that leave a local optimum and come back, where climbing is cheap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from ..distributions.knowledge import Constraints, Knowledge
from ..evidence.base import Evidence
from ..ops.graphs import is_acyclic
from .hill_climb import ALL_MOVES, Move, SearchResult, hill_climb
from .prior import EdgePrior

__all__ = ["either", "equivalent", "iterated_search", "neighbourhood"]

Change = Callable[[Tensor, Constraints, torch.Generator], Tensor]


def equivalent(graph: Tensor, limits: Constraints, generator: torch.Generator) -> Tensor:
    """A Markov equivalent graph, by turning covered edges round, without the edges of a few nodes.

    Among equivalent graphs no single change pays where noise is Gaussian and mechanisms are
    linear, so that plain climbing stops at the first directions it happened to choose and covers
    up for them with false edges.
    """
    changed, n = graph.numpy().copy(), len(graph)
    allowed, fixed = limits.allowed.numpy(), (limits.required | limits.before).numpy()
    for _ in range(3 * n):
        choices = np.argwhere(_covered(changed) & allowed.T & ~fixed)
        if not len(choices):
            break
        i, j = choices[int(torch.randint(len(choices), (1,), generator=generator))]
        changed[i, j], changed[j, i] = False, True
        if limits.orders and not is_acyclic(torch.from_numpy(changed) | limits.before):
            changed[i, j], changed[j, i] = True, False
    for node in torch.randperm(n, generator=generator)[: max(2, 3 * n // 10)].tolist():
        changed[node] = changed[:, node] = False
    return torch.from_numpy(changed)


def neighbourhood(graph: Tensor, limits: Constraints, generator: torch.Generator) -> Tensor:
    """The graph with one node and its neighbours in another order, or without their edges.

    Where directions can be told, a wrong one is held in place by those around it.
    """
    node = int(torch.randint(len(graph), (1,), generator=generator))
    near = graph[node] | graph[:, node]
    near[node] = True
    inside = near[:, None] & near
    place = torch.rand(len(graph), generator=generator)
    turned = (graph | graph.mT) & inside & (place[:, None] < place)
    changed = (graph & ~inside) | (turned & limits.allowed)
    if torch.rand((), generator=generator) < 0.5 or not is_acyclic(changed | limits.before):
        changed = graph & ~near & ~near[:, None]
    return changed


def either(graph: Tensor, limits: Constraints, generator: torch.Generator) -> Tensor:
    """One of both by chance: each gets out of places where the other stays."""
    first = bool(torch.rand((), generator=generator) < 0.5)
    return (equivalent if first else neighbourhood)(graph, limits, generator)


def iterated_search(
    evidence: Evidence,
    *,
    prior: EdgePrior | None = None,
    constraints: Constraints | None = None,
    patience: int = 30,
    rounds: int = 100,
    start: Tensor | None = None,  # (n, n) bool
    change: Change = equivalent,
    moves: Sequence[Move] = ALL_MOVES,
) -> SearchResult:
    """Climb, then repeatedly change the graph at random and climb again, keeping what is better.

    Arguments:
        evidence: One that is cheap, or remembers.
        prior: How many edges to expect.
        constraints: Allowed and required edges, and order relations.
        patience: Changes in a row that may bring nothing.
        rounds: Changes at most.
        start: Graph to start from.
        change: :func:`equivalent` where directions cannot be told, :func:`neighbourhood` where
            they can, or :func:`either`.
        moves: Of the climbs.
    """
    limits = Knowledge().resolve(evidence.n_nodes) if constraints is None else constraints
    climb = partial(hill_climb, evidence, prior=prior, constraints=limits, moves=moves)
    generator = torch.Generator().manual_seed(0)
    best, left = climb(start=start), patience
    for _ in range(rounds):
        if not left:
            break
        found = climb(start=change(best.adjacency, limits, generator))
        rise = found.total - best.total
        left = patience if rise > 1e-6 else left - 1
        best = found if rise > -1e-6 else best
    return best


def _covered(graph: np.ndarray) -> np.ndarray:  # (n, n) bool -> (n, n) bool
    """Edges i → j where j's parents are i and i's own: turned round, they change no dependence."""
    parents = graph.T  # (child, parent)
    joined = parents | np.eye(len(graph), dtype=bool)  # (i, parents of i and i)
    return np.asarray(graph & (joined[:, None] == parents[None]).all(-1))
