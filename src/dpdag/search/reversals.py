"""How sure the directions of a graph are, by turning its edges round one after the other."""

from __future__ import annotations

import heapq
import math

import numpy as np
import torch
from torch import Tensor

from ..distributions.knowledge import Constraints, Knowledge
from ..evidence.base import CachedEvidence, Evidence
from ..ops.graphs import reachability
from .lazy import LazyResult

__all__ = ["direction_odds"]


def direction_odds(
    found: LazyResult,
    evidence: Evidence,
    *,
    constraints: Constraints | None = None,
    certainty: float = 12.0,
    most: int = 48,
) -> Tensor:  # (n, n)
    r"""Log-odds that each edge points as it does, over the graphs that reversals can reach.

    .. math:: P(i \to j) = \frac{\sum_G [i \to j \in G]\, p(x \mid G)}{\sum_G p(x \mid G)}

    Starting from the graph found, edges are turned round one at a time wherever that loses less
    than ``certainty`` nats, the best graphs first. Markov equivalent graphs of linear Gaussian
    data are reached in this way, so that directions they disagree on come out open; where the
    data are clear, no graph but the first is ever looked at.

    Arguments:
        found: A graph with the gain of every edge, present or not.
        evidence: That it was found with.
        constraints: Directions that are known stay.
        most: Graphs to expand at most.
    """
    n = len(found.adjacency)
    limits = Knowledge().resolve(n) if constraints is None else constraints
    cached = CachedEvidence(evidence)
    gain = found.gain.nan_to_num(nan=-math.inf).numpy().copy()
    start = found.adjacency.numpy().copy()
    weight = {start.tobytes(): 0.0}
    waiting = [(0.0, 0, start, gain)]
    expanded = 0
    while waiting and expanded < most:
        cost, _, graph, gain = heapq.heappop(waiting)
        expanded += 1
        for i, j in _reversible(graph, limits):
            value = gain[j, i] - gain[i, j] - cost
            if value < -certainty:
                continue
            turned = graph.copy()
            turned[i, j], turned[j, i] = False, True
            if turned.tobytes() in weight:
                continue
            weight[turned.tobytes()] = value
            fresh = _updated(gain, turned, (i, j), cached)
            heapq.heappush(waiting, (-value, len(weight), turned, fresh))
    graphs = np.stack([np.frombuffer(key, dtype=bool).reshape(n, n) for key in weight])
    share = torch.softmax(torch.tensor(list(weight.values()), dtype=torch.float64), 0)
    p = torch.einsum("g,gij->ij", share, torch.from_numpy(graphs).double())
    odds = torch.log(p.clamp_min(1e-12)) - torch.log(p.mT.clamp_min(1e-12))
    return odds.clamp(-certainty, certainty)


def _reversible(graph: np.ndarray, limits: Constraints) -> list[tuple[int, int]]:
    """Edges that can be turned round without closing a cycle or breaking what is known."""
    edges = torch.from_numpy(graph)
    paths = reachability(edges)
    # A second path from i to j leads through a child of i that reaches j.
    detour = (edges.double() @ paths.double()) > 0
    free = edges & ~detour & limits.allowed.mT & ~limits.required
    return [(int(i), int(j)) for i, j in free.nonzero().tolist()]


def _updated(
    gain: np.ndarray,  # (n, n)
    graph: np.ndarray,  # (n, n) bool
    changed: tuple[int, int],
    evidence: Evidence,
) -> np.ndarray:  # (n, n)
    """Gains after the parents of two nodes have changed, for their neighbours alone."""
    fresh = gain.copy()
    for child in changed:
        near = np.flatnonzero(graph[:, child] | graph[child])
        parents = torch.from_numpy(graph[:, child].copy())
        sets = parents.repeat(len(near) + 1, 1)
        sets[torch.arange(len(near)), torch.from_numpy(near)] ^= True
        values = evidence.log_evidence(torch.full((len(sets),), child), sets)
        change = (values[:-1] - values[-1]).numpy()
        fresh[near, child] = np.where(graph[near, child], -change, change)
    return fresh
