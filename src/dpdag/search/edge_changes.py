"""Moves of a single edge: insert it, with what stands in its way cut, or delete it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .climb import Climb, Edge

__all__ = ["change_edge", "shortlist_edges"]

_MARGIN = 5.0  # nats by which an estimate may miss a change that is worth making
_LITTLE = 0.01  # nats by which a value may stay below what is asked for
_SHORTLIST = 4  # insertions of each child that are evaluated whatever their estimate
_LEAST = 1e-6  # nats: smaller gains are rounding


class _Change(NamedTuple):
    gain: float
    insert: list[Edge]
    remove: list[Edge]


def change_edge(climb: Climb, *, delete: bool = True, reverse: bool = True) -> bool:
    r"""Make the best change of one edge; whether there is any.

    Inserting i → j also removes the cheapest set of edges (a minimum cut) without which no path
    leads from j back to i; so additions, reversals and larger turns are one kind of move. Changes
    are ranked by :meth:`~dpdag.evidence.screened.ScreenedEvidence.screens` and evaluated in full
    from the top until the best confirmed one beats all remaining estimates.

    Arguments:
        delete: Whether edges may be deleted.
        reverse: Whether others may be cut for an insertion.
    """
    best = _best_deletion(climb) if delete else None
    best = _best_insertion(climb, best, cuts=reverse)
    if best is not None:
        climb.apply(best.insert, best.remove)
    return best is not None


def shortlist_edges(climb: Climb) -> bool:
    """Mark each child's most promising insertions for confirmation; whether any is left."""
    open_ = climb.allowed & ~climb.edges & ~climb.exact & ~climb.reach().T & ~climb.tabu
    open_ &= climb.edges.sum(0) < climb.max_parents
    sure = ~climb.edges.any(0) & climb.evidence.screens_roots
    for child in np.flatnonzero(~climb.widened & ~sure):
        candidates = np.flatnonzero(open_[:, child])
        rankings = [climb.change[:, child]]
        probe = climb.evidence.probe(int(child), climb.parents(int(child)))
        if probe is not None:
            rankings.append(probe.numpy())
        for ranking in rankings:
            top = candidates[np.argsort(-ranking[candidates], kind="stable")[:_SHORTLIST]]
            climb.forced[top, child] = True
    progress = bool((~climb.widened).any())
    climb.widened[:] = True
    return progress


def _best_deletion(climb: Climb) -> _Change | None:
    penalty, free = climb.penalty, climb.edges & ~climb.required
    gain = np.where(free, climb.change + penalty, -math.inf)
    doubtful = np.argwhere((gain > -_MARGIN) & ~climb.exact)
    climb.confirm([(int(i), int(j)) for i, j in doubtful], -penalty - _LITTLE)
    gain = np.where(free & climb.exact, climb.change + penalty, -math.inf)
    i, j = (int(k) for k in np.unravel_index(gain.argmax(), gain.shape))
    return _Change(gain[i, j], [], [(i, j)]) if gain[i, j] > _LEAST else None


def _best_insertion(climb: Climb, best: _Change | None, *, cuts: bool) -> _Change | None:
    """The confirmed insertion with the largest gain, if any has more than what is known."""
    penalty, reach = climb.penalty, climb.reach()
    open_ = climb.allowed & ~climb.edges & ~climb.tabu
    open_ &= climb.edges.sum(0) < climb.max_parents
    if not cuts:
        open_ &= ~reach.T
    gain = np.where(open_, climb.change - penalty, -math.inf)
    toll = None if best is None else np.zeros_like(gain)  # then cuts may bring something instead
    waiting = climb.forced & ~climb.exact & open_ & ~reach.T
    gain[waiting] = np.maximum(gain[waiting], _LEAST)
    while True:
        i, j = edge = _first(gain)
        floor = best.gain if best else (0.0 if climb.exact[edge] else -_MARGIN)
        if gain[edge] <= max(floor, 0.0 if reach[j, i] else floor):
            return best
        if not climb.exact[edge] and reach[j, i] and not _worth_cutting(climb, edge, floor):
            gain[edge] = -math.inf
        elif not climb.exact[edge]:
            batch = _most_promising(climb, gain, floor)
            climb.confirm(batch, penalty - _LITTLE)
            for one in batch:
                gain[one] = climb.change[one] - penalty - (0.0 if toll is None else toll[one])
        elif toll is None and reach[j, i]:
            toll = _tolls(climb)
            gain -= np.where(climb.exact & reach.T, toll, 0.0)
        else:
            gain[edge] = -math.inf
            least = best.gain if best else _LEAST
            change = _insertion(climb, edge, acyclic=not reach[j, i], least=least)
            if change and change.gain > least:
                best = change


def _first(gain: np.ndarray) -> Edge:  # (n, n)
    i, j = divmod(int(gain.argmax()), len(gain))
    return i, j


def _tolls(climb: Climb) -> np.ndarray:  # (n, n)
    """The least that letting i → j in can cost, by the edges whose loss is known for sure.

    Every cut holds an edge of the path from j to i whose cheapest edge is dearest, and one of
    each path by way of a single other node.
    """
    known = climb.edges & climb.exact
    loss = np.where(known, np.maximum(-climb.change - climb.penalty, 0.0), 0.0)
    width, short = loss.copy(), loss.copy()
    for node, after in reversed(climb.causal_order()):
        if after:
            own = loss[node, after, None]
            short[node] += np.minimum(own, loss[after]).sum(0)
            width[node] = np.maximum(width[node], np.minimum(own, width[after]).max(0))
    return np.maximum(width, short).T


def _most_promising(climb: Climb, gain: np.ndarray, floor: float) -> list[Edge]:
    ranked = np.argsort(-gain, axis=None)[: climb.evidence.lookahead]
    edges = [(int(k) // len(gain), int(k) % len(gain)) for k in ranked]
    return [edge for edge in edges if gain[edge] > floor and not climb.exact[edge]]


def _worth_cutting(climb: Climb, edge: Edge, floor: float) -> bool:
    cut = climb.cut(*edge)
    if cut is None:
        return False
    gain = float(climb.change[edge]) - climb.penalty
    return 1.5 * gain - climb.loss(cut) > max(floor, 0.0)


def _insertion(climb: Climb, edge: Edge, *, acyclic: bool, least: float) -> _Change | None:
    gain = float(climb.change[edge]) - climb.penalty
    if acyclic:
        return _Change(gain, [edge], [])
    while True:
        cut = climb.cut(*edge, gain - least)
        if cut is None:
            return None
        if all(climb.exact[one] for one in cut):
            return _Change(gain - climb.loss(cut), [edge], cut)
        climb.confirm(cut)
