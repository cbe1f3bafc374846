"""Two parents at once: what they do only together, no single addition shows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from .climb import Climb

__all__ = ["exchange_for_pairs", "insert_pairs"]

# Of a score that by chance is some 30 at most, among a thousand pairs, and 2 more among e times as
# many: it is a sum of squares.
_CLEAR, _MANY = 40.0, 1000
_TRIED = 4  # pairs of a child
_LIKE_IT = 0.5  # of what a parent explains, that a pair in its place must seem to


class _Tried(NamedTuple):
    """Pairs of parents that a child may be given.

    Attributes:
        pairs: (k, 2) nodes.
        new: (k, 2) bool, which are no parents yet.
        parents: (k, n) bool, with the pair.
        price: (k,) of both.
        instead: The parent that they take the place of.
    """

    child: int
    pairs: np.ndarray
    new: np.ndarray
    parents: Tensor
    price: Tensor
    instead: int | None = None


def insert_pairs(climb: Climb) -> bool:
    """Give each child the pair of parents that its residuals ask for; whether any was worth it.

    One of the two may be a parent already. A child is tried again only when its parents or its
    descendants have changed, and only pairs that promise half of their price or more.
    """
    if not climb.evidence.sees_pairs:
        return False
    asked = [child for child in range(len(climb.edges)) if _may_want_pairs(climb, child, "pair")]
    if not asked:
        return False
    parents = climb.parents(asked)
    found = climb.evidence.pair_probes(torch.tensor(asked), parents, _clear(climb), parents)
    each = (_promising(climb, child, *found.of_row(k)) for k, child in enumerate(asked))
    return _give_best(climb, [one for one in each if one])


def _clear(climb: Climb) -> float:
    """The score of a pair that chance does not reach."""
    return _CLEAR + 2 * math.log(max(1.0, len(climb.edges) ** 2 / 2 / _MANY))


def _give_best(climb: Climb, tried: list[_Tried]) -> bool:
    """Make the best change of each child that is worth its price; whether there was any."""
    if not tried:
        return False
    price = torch.cat([one.price for one in tried])
    child = torch.cat([torch.full((len(one.pairs),), one.child) for one in tried])
    parents = torch.cat([one.parents for one in tried])
    values = climb.evidence.reach(child, parents, climb.value[child] + price) - price
    improved = False
    for one, totals in zip(tried, values.split([len(one.pairs) for one in tried])):
        if one.instead is not None and not climb.edges[one.instead, one.child]:
            continue  # a change before this one removed it
        best = int(totals.argmax())
        if totals[best] > climb.value[one.child]:
            nodes = one.pairs[best][one.new[best]].tolist()
            remove = [] if one.instead is None else [(one.instead, one.child)]
            improved |= climb.adopt(one.child, nodes, remove=remove)
    return improved


def exchange_for_pairs(climb: Climb) -> bool:
    """Give up a parent for a pair that explains as much and more; whether any was worth it.

    One column may stand for two: while it is a parent, what is left of the child does not ask for
    them. Only where parents act together; a child is tried again only when its parents or its
    descendants have changed.
    """
    if not climb.evidence.sees_pairs:
        return False
    together = climb.evidence.acts_together(climb.parents(range(len(climb.edges)))).numpy()
    several = np.flatnonzero(together & (climb.edges.sum(0) > 1)).tolist()
    asked = [child for child in several if _may_want_pairs(climb, child, "exchange")]
    free = climb.edges & ~climb.required
    edges = [
        (parent, child) for child in asked for parent in np.flatnonzero(free[:, child]).tolist()
    ]
    if not edges:
        return False
    parent, child = np.array(edges).T
    now = climb.parents(child)
    fewer = now.clone()
    fewer[np.arange(len(edges)), parent] = False
    found = climb.evidence.pair_probes(torch.from_numpy(child), fewer, _clear(climb), now)
    # Scores are shares of a variance, in rows; so is what nats say that the parent explains.
    rows = climb.evidence.n_rows
    least = _LIKE_IT * rows * -np.expm1(2 * climb.change[parent, child] / rows)
    each = []
    for k, edge in enumerate(edges):
        pairs, score = found.of_row(k)
        kept = (pairs != edge[0]).all(-1) & (score > least[k])
        each.append(_promising(climb, edge[1], pairs[kept], score[kept], instead=edge[0]))
    return _give_best(climb, [one for one in each if one])


def _may_want_pairs(climb: Climb, child: int, move: str) -> bool:
    """Whether there is room, and a move was not tried where it stands now."""
    own = climb.edges[:, child]
    room = int(own.sum()) + 2 <= climb.max_parents
    return room and climb.is_new(move, child, own, climb.reach()[child])


def _promising(
    climb: Climb, child: int, found: Tensor, score: Tensor, *, instead: int | None = None
) -> _Tried | None:  # (k, 2), (k,)
    """The clearest pairs that may be worth their price."""
    if not len(found):
        return None
    own = climb.edges[:, child]
    pairs = found.numpy()
    cost, _ = climb.freeing(child, np.unique(pairs))
    cost[own] = 0.0
    new = ~own[pairs]
    price = cost[pairs].sum(1) + climb.penalty * new.sum(1)
    worth = np.flatnonzero(new.any(1) & (score.numpy() > price))[:_TRIED]
    if not len(worth):
        return None
    larger = climb.parents(child).repeat(len(worth), 1)
    if instead is not None:
        larger[:, instead] = False
        price -= climb.penalty
    larger[torch.arange(len(worth))[:, None], found[worth]] = True
    price_of = torch.from_numpy(price[worth])
    return _Tried(child, pairs[worth], new[worth], larger, price_of, instead)
