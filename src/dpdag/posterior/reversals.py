"""How sure the directions of a graph are, by turning its edges round one after the other."""

from __future__ import annotations

import heapq
import math

import numpy as np
import torch
from torch import Tensor

from ..deadline import OutOfTimeError
from ..distributions.knowledge import Constraints, Knowledge
from ..evidence.screened import ScreenedEvidence
from ..ops.graphs import reachability
from ..search import SearchResult

__all__ = ["direction_odds"]

Edge = tuple[int, int]
# Cost, number, turned edges, the two nodes last changed, gains before that change.
_Waiting = tuple[float, int, frozenset[Edge], tuple[int, ...], np.ndarray]


def direction_odds(
    found: SearchResult,
    evidence: ScreenedEvidence,
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
    start = found.adjacency.numpy()
    weight: dict[frozenset[Edge], float] = {frozenset(): 0.0}  # by the edges that are turned
    waiting: list[_Waiting] = [
        (0.0, 0, frozenset(), (), found.gain.nan_to_num(nan=-math.inf).numpy())
    ]
    expanded = 0
    while waiting and expanded < most:
        cost, _, turned, changed, gain = heapq.heappop(waiting)
        expanded += 1
        graph = _turn(start, turned)
        try:
            gain = _updated(gain, graph, changed, evidence, certainty - cost)
        except OutOfTimeError:
            break
        for i, j in _reversible(graph, limits):
            value = gain[j, i] - gain[i, j] - cost
            further = turned ^ {(i, j) if start[i, j] else (j, i)}
            if value >= -certainty and further not in weight:
                weight[further] = value
                heapq.heappush(waiting, (-value, len(weight), further, (i, j), gain))
    share = torch.softmax(torch.tensor(list(weight.values()), dtype=torch.float64), 0)
    against = torch.zeros(n, n, dtype=torch.float64)
    for turned, part in zip(weight, share):
        for i, j in turned:
            against[i, j] += part
    odds = torch.log((1 - against).clamp_min(1e-12)) - torch.log(against.clamp_min(1e-12))
    odds = odds.clamp(-certainty, certainty).masked_fill(~found.adjacency, 0.0)
    return odds - odds.mT


def _turn(graph: np.ndarray, edges: frozenset[Edge]) -> np.ndarray:  # (n, n) bool -> (n, n)
    turned = graph.copy()
    for i, j in edges:
        turned[i, j], turned[j, i] = False, True
    return turned


def _reversible(graph: np.ndarray, limits: Constraints) -> list[tuple[int, int]]:
    """Edges that can be turned round without closing a cycle or breaking what is known."""
    edges = torch.from_numpy(graph)
    known = edges | limits.before
    cause, effect = (edges & limits.allowed.mT & ~limits.required).nonzero(as_tuple=True)
    # A second path from i to j leads through a successor of i that reaches j.
    free = ~(known[cause] & reachability(known).T[effect]).any(-1)
    return list(zip(cause[free].tolist(), effect[free].tolist()))


def _updated(
    gain: np.ndarray,  # (n, n)
    graph: np.ndarray,  # (n, n) bool
    changed: tuple[int, ...],
    evidence: ScreenedEvidence,
    most: float,
) -> np.ndarray:  # (n, n)
    """Gains after the parents of some nodes have changed, for their neighbours alone.

    Only rough where turning the edge would lose more than ``most`` nats anyway.
    """
    if not changed:
        return gain
    child = torch.tensor(changed)
    base = evidence.log_evidence(child, torch.from_numpy(graph.T[list(changed)].copy()))
    edges = [(i, k) for k, j in enumerate(changed) for i in np.flatnonzero(graph[:, j] | graph[j])]
    source, place = (torch.tensor(part) for part in zip(*edges))
    at, own = source.numpy(), child[place].numpy()
    sets = torch.from_numpy(graph.T[own].copy())
    sets[torch.arange(len(edges)), source] ^= True
    # What the edge brings the other way is known, unless that end has changed too.
    known = np.where(np.isin(at, changed), np.nan, gain[own, at])
    least = np.where(graph[at, own], -known, known) - most
    target = base[place] + torch.from_numpy(np.nan_to_num(least, nan=-math.inf))
    change = (evidence.reach(child[place], sets, target) - base[place]).numpy()
    fresh = gain.copy()
    fresh[at, own] = np.where(graph[at, own], -change, change)
    return fresh
