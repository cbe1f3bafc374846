"""Moves of a single edge: insert it, with what stands in its way cut, or delete it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch

from .climb import Climb, Edge
from .cuts import least_tolls
from .pairs import Pairs

__all__ = ["change_edge", "shortlist_edges"]

_MARGIN = 5.0  # nats by which an estimate may miss a change that is worth making
_LITTLE = 0.01  # nats by which a value may stay below what is asked for
_SHORTLIST = 4  # insertions of each child that are evaluated whatever their estimate
_LEAST = 1e-6  # nats: smaller gains are rounding
_SHARE = 0.5  # of what the best change brings, at which others are made along with it


class _Change(NamedTuple):
    gain: float
    insert: list[Edge]
    remove: list[Edge]


def change_edge(climb: Climb, *, delete: bool = True, reverse: bool = True) -> bool:
    r"""Make the best change of one edge, and others that bring half as much; whether there is any.

    Inserting i → j also removes the cheapest set of edges (a minimum cut) without which no path
    leads from j back to i; so additions, reversals and larger turns are one kind of move. Changes
    are ranked by :meth:`~dpdag.evidence.screened.ScreenedEvidence.screens` and evaluated in full
    from the top until the best confirmed one beats all remaining estimates. What changes of
    different children bring adds up, so that the next best ones need not wait for a step of their
    own.

    Arguments:
        delete: Whether edges may be deleted.
        reverse: Whether others may be cut for an insertion.
    """
    found = _deletions(climb) if delete else []
    found += _insertions(climb, _least(found), cuts=reverse)
    least = _least(found)
    ranked = sorted((one for one in found if one.gain > least), key=lambda one: -one.gain)
    climb.apply_all([(one.insert, one.remove) for one in ranked])
    return bool(ranked)


def _least(found: list[_Change]) -> float:
    """What a change must bring to be made along with those found."""
    return max(_LEAST, _SHARE * max((one.gain for one in found), default=0.0))


def shortlist_edges(climb: Climb) -> bool:
    """Mark each child's most promising insertions for confirmation; whether any is left."""
    open_ = climb.allowed & ~climb.edges & ~climb.exact & ~climb.reach().T & ~climb.tabu
    open_ &= climb.parent_counts() < climb.max_parents
    sure = (climb.parent_counts() == 0) & climb.evidence.screens_roots
    children = np.flatnonzero(~climb.widened & ~sure)
    probes = None
    if len(children):
        probes = climb.evidence.probes(torch.from_numpy(children), climb.parents(children))
    for k, child in enumerate(children):
        candidates = np.flatnonzero(open_[:, child])
        rankings = [climb.change[:, child]]
        if probes is not None and probes[k].max() > -math.inf:
            rankings.append(probes[k].numpy())
        for ranking in rankings:
            top = candidates[_first(ranking[candidates], _SHORTLIST)]
            climb.forced[top, child] = True
    progress = bool((~climb.widened).any())
    climb.widened[:] = True
    return progress


def _deletions(climb: Climb) -> list[_Change]:
    penalty, edges = climb.penalty, climb.present
    edges = edges[~edges.read(climb.required)]
    doubtful = (edges.read(climb.change) + penalty > -_MARGIN) & ~edges.read(climb.exact)
    climb.confirm(edges[doubtful].edges(), -penalty - _LITTLE)
    known = edges[edges.read(climb.exact)]
    gain = known.read(climb.change) + penalty
    return [
        _Change(float(gain[k]), [], [known.edge(k)]) for k in np.flatnonzero(gain > _LEAST).tolist()
    ]


def _insertions(climb: Climb, least: float, *, cuts: bool) -> list[_Change]:
    """Confirmed insertions that bring more than ``least`` and about half of what the best does."""
    penalty, found = climb.penalty, []
    pairs, against = _candidates(climb, cuts=cuts)
    gain, exact = pairs.read(climb.change) - penalty, pairs.read(climb.exact)
    waiting = pairs.read(climb.forced) & ~exact & ~against
    gain[waiting] = np.maximum(gain[waiting], _LEAST)
    toll = None if least <= _LEAST else np.zeros_like(gain)  # then cuts may bring something instead
    while len(gain):
        k = int(gain.argmax())
        edge = pairs.edge(k)
        floor = least if least > _LEAST else (0.0 if exact[k] else -_MARGIN)
        if gain[k] <= max(floor, 0.0 if against[k] else floor):
            break
        if not exact[k]:
            ranked = _first(gain, 2 * climb.evidence.lookahead)
            ranked = ranked[(gain[ranked] > floor) & ~exact[ranked]]
            batch, hopeless = _confirm_first(climb, pairs, ranked, against, floor)
            gain[hopeless] = -math.inf
            exact[batch] = True
            gain[batch] = pairs[batch].read(climb.change) - penalty
            gain[batch] -= 0.0 if toll is None else toll[batch]
        elif toll is None and against[k]:
            toll = np.zeros_like(gain)
            known = climb.present[climb.present.read(climb.exact)]
            loss = np.maximum(-known.read(climb.change) - penalty, 0.0)
            bar = -_margin(climb)
            toll[against] = least_tolls(pairs[against], gain[against], known, loss, bar)
            gain -= np.where(exact, toll, 0.0)
        else:
            cut: list[Edge] | None = []
            if against[k]:
                next_ones = np.where(exact & against, gain, -math.inf)
                cut = _known_cut(climb, edge, pairs, next_ones, least)
            gain[k] = -math.inf
            if cut is None:
                continue
            own = float(climb.change[edge]) - penalty - climb.loss(cut)
            if own > least:
                found.append(_Change(own, [edge], cut))
                least = max(least, _least(found))
                gain[(pairs.child == edge[1]) & (gain <= own)] = -math.inf
                open_ = gain > least  # others will not be looked at any more
                pairs, against = pairs[open_], against[open_]
                gain, exact = gain[open_], exact[open_]
                toll = None if toll is None else toll[open_]
    return found


def _confirm_first(
    climb: Climb, pairs: Pairs, ranked: np.ndarray, against: np.ndarray, floor: float
) -> tuple[np.ndarray, np.ndarray]:
    """Confirm the first of some insertions but those that cuts make hopeless: both."""
    cuts = [_likely_cut(climb, pairs.edge(k), floor) if against[k] else [] for k in ranked.tolist()]
    hopeless, room = np.array([cut is None for cut in cuts]), climb.evidence.lookahead
    batch = ranked[~hopeless][:room]
    going = dict.fromkeys(edge for cut in cuts for edge in cut or ())
    also = list(going)[: room - len(batch)]  # which costs no time
    climb.confirm(pairs[batch].edges(), climb.penalty - _LITTLE, cuts=also)
    return batch, ranked[hopeless]


def _first(gain: np.ndarray, count: int) -> np.ndarray:  # (m,) -> (count,)
    """Where the largest numbers are, in descending order; of equal ones the first."""
    some = np.arange(len(gain))
    if len(gain) > count:
        some = np.flatnonzero(gain >= np.partition(gain, -count)[-count])
    return some[np.argsort(-gain[some], kind="stable")[:count]]


def _candidates(climb: Climb, *, cuts: bool) -> tuple[Pairs, np.ndarray]:  # (m,), (m,) bool
    """Insertions that may be worth making, and which of them close a cycle."""
    pairs = Pairs.of((climb.change >= climb.penalty - _margin(climb)) | climb.forced)
    against = climb.reach()[pairs.child, pairs.source]
    open_ = pairs.read(climb.allowed) & ~pairs.read(climb.edges) & ~pairs.read(climb.tabu)
    open_ &= (climb.parent_counts() < climb.max_parents)[pairs.child]
    if not cuts:
        open_ &= ~against
    return pairs[open_], against[open_]


def _margin(climb: Climb) -> float:
    """Nats below zero at which a change may still turn out to be worth making."""
    return 0.0 if climb.evidence.screens_exactly else _MARGIN


def _likely_cut(climb: Climb, edge: Edge, floor: float) -> list[Edge] | None:
    """What by all estimates would go for an edge; None where it is not worth that."""
    most = 1.5 * (float(climb.change[edge]) - climb.penalty) - max(floor, 0.0)
    cut = climb.cut(*edge, most, roughly=True)
    return cut if cut is not None and climb.loss(cut) < most else None


def _known_cut(
    climb: Climb,
    edge: Edge,
    pairs: Pairs,
    gain: np.ndarray,  # (m,)
    least: float,
) -> list[Edge] | None:
    """What must go for an edge, all of it evaluated in full; None where that costs too much.

    Where something is not, cuts for the next best insertions are evaluated along with it.
    """

    def cut(one: Edge) -> list[Edge] | None:
        return climb.cut(*one, float(climb.change[one]) - climb.penalty - least)

    while (own := cut(edge)) is not None and not all(climb.exact[one] for one in own):
        ranked = _first(gain, climb.evidence.lookahead)
        others = [cut(one) or [] for one in pairs[ranked[gain[ranked] > least]].edges()]
        climb.confirm(sorted({one for some in (own, *others) for one in some}))
    return own
