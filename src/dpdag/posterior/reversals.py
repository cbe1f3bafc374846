"""How sure the directions of a graph are, by turning its edges round one after the other."""

from __future__ import annotations

import heapq
import math

import numpy as np
import torch
from torch import Tensor

from ..deadline import OutOfTimeError
from ..distributions.knowledge import Constraints
from ..evidence.screened import ScreenedEvidence
from ..ops.graphs import reachability
from ..search import SearchResult

__all__ = ["direction_odds"]

_CERTAINTY = 12.0  # nats, the largest odds
_MOST = 48  # graphs to expand

# Cost, number, edges that are turned, the two nodes last changed, gains before that change.
_Waiting = tuple[float, int, frozenset[int], tuple[int, ...], np.ndarray]


def direction_odds(
    found: SearchResult,
    evidence: ScreenedEvidence,
    *,
    constraints: Constraints,
) -> Tensor:  # (n, n)
    r"""Log-odds that each edge points as it does, over the graphs that reversals can reach.

    .. math:: P(i \to j) = \frac{\sum_G [i \to j \in G]\, p(x \mid G)}{\sum_G p(x \mid G)}

    Starting from the graph found, edges are turned round one at a time wherever that loses less
    than 12 nats, the best graphs first. Markov equivalent graphs of linear Gaussian
    data are reached in this way, so that directions they disagree on come out open; where the
    data are clear, no graph but the first is ever looked at.

    Arguments:
        found: A graph with the gain of every edge, present or not.
        evidence: That it was found with.
        constraints: Directions that are known stay.
    """
    n = len(found.adjacency)
    edges = found.adjacency.nonzero().numpy()
    gain = found.gain.nan_to_num(nan=-math.inf).numpy()
    gains = np.stack([gain[edges[:, 0], edges[:, 1]], gain[edges[:, 1], edges[:, 0]]], 1)
    weight: dict[frozenset[int], float] = {frozenset(): 0.0}  # by the edges that are turned
    waiting: list[_Waiting] = [(0.0, 0, frozenset(), (), gains)]
    each, expanded = np.arange(len(edges)), 0
    while waiting and expanded < _MOST:
        cost, _, turned, changed, gains = heapq.heappop(waiting)
        expanded += 1
        way = np.isin(each, list(turned)).astype(int)
        cause, effect = edges[each, way], edges[each, 1 - way]
        graph = torch.zeros(n, n, dtype=torch.bool)
        graph[cause, effect] = True
        try:
            gains = _updated(gains, edges, way, graph, changed, evidence, _CERTAINTY - cost)
        except OutOfTimeError:
            break
        value = gains[each, 1 - way] - gains[each, way] - cost
        likely = np.flatnonzero(value >= -_CERTAINTY)
        open_ = _reversible(graph, cause[likely], effect[likely], constraints)
        for edge in likely[open_].tolist():
            further = turned ^ {edge}
            if further not in weight:
                weight[further] = float(value[edge])
                ends = tuple(edges[edge].tolist())
                heapq.heappush(waiting, (-weight[further], len(weight), further, ends, gains))
    share = torch.softmax(torch.tensor(list(weight.values()), dtype=torch.float64), 0)
    of_edge = np.zeros(len(edges))
    for turned, part in zip(weight, share.tolist()):
        of_edge[list(turned)] += part
    against = torch.zeros(n, n, dtype=torch.float64)
    against[tuple(edges.T)] = torch.from_numpy(of_edge)
    odds = torch.log((1 - against).clamp_min(1e-12)) - torch.log(against.clamp_min(1e-12))
    odds = odds.clamp(-_CERTAINTY, _CERTAINTY).masked_fill(~found.adjacency, 0.0)
    return odds - odds.mT


def _reversible(
    graph: Tensor,  # (n, n) bool
    cause: np.ndarray,  # (m,)
    effect: np.ndarray,  # (m,)
    limits: Constraints,
) -> np.ndarray:  # -> (m,) bool
    """Which edges can be turned round without closing a cycle or breaking what is known."""
    if not len(cause):
        return np.zeros(0, dtype=bool)
    known = graph | limits.before
    open_ = limits.allowed[effect, cause] & ~limits.required[cause, effect]
    # A second path from i to j leads through a successor of i that reaches j.
    second = (known[cause] & reachability(known).T[effect]).any(-1)
    return (open_ & ~second).numpy()


def _updated(
    gains: np.ndarray,  # (m, 2) of every edge as it was, and turned
    edges: np.ndarray,  # (m, 2)
    way: np.ndarray,  # (m,) 1 where an edge is turned, else 0
    graph: Tensor,  # (n, n) bool
    changed: tuple[int, ...],
    evidence: ScreenedEvidence,
    most: float,
) -> np.ndarray:  # (m, 2)
    """Gains after the parents of some nodes have changed, for their neighbours alone.

    Only rough where turning the edge would lose more than ``most`` nats anyway.
    """
    if not changed:
        return gains
    parents = graph.T.contiguous()
    child = torch.tensor(changed)
    base = evidence.log_evidence(child, parents[child])
    place, at = (edges == np.array(changed)[:, None, None]).any(-1).nonzero()
    own = child[place].numpy()
    into = (edges[at, 0] == own).astype(int)  # which of both gains is that of this end
    source = edges[at, into]
    there = way[at] == into
    sets = parents[own]
    sets[torch.arange(len(at)), source] ^= True
    # What the edge brings the other way is known, unless that end has changed too.
    known = np.where(np.isin(source, changed), np.nan, gains[at, 1 - into])
    least = np.where(there, -known, known) - most
    target = base[place] + torch.from_numpy(np.nan_to_num(least, nan=-math.inf))
    change = (evidence.reach(child[place], sets, target) - base[place]).numpy()
    fresh = gains.copy()
    fresh[at, into] = np.where(there, -change, change)
    return fresh
