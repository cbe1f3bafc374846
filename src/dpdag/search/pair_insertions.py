"""Two parents at once: what they do only together, no single addition shows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from .climb import Climb

__all__ = ["insert_pairs"]

# Of a score that by chance is some 30 at most, among a thousand pairs, and 2 more among e times as
# many: it is a sum of squares.
_CLEAR, _MANY = 40.0, 1000
_TRIED = 4  # pairs of a child


class _Tried(NamedTuple):
    """Pairs of parents that a child may be given.

    Attributes:
        pairs: (k, 2) nodes.
        new: (k, 2) bool, which are no parents yet.
        parents: (k, n) bool, with the pair.
        price: (k,) of both.
    """

    child: int
    pairs: np.ndarray
    new: np.ndarray
    parents: Tensor
    price: Tensor


def insert_pairs(climb: Climb) -> bool:
    """Give each child the pair of parents that its residuals ask for; whether any was worth it.

    One of the two may be a parent already. A child is tried again only when its parents or its
    descendants have changed, and only pairs that promise half of their price or more.
    """
    if not climb.evidence.sees_pairs:
        return False
    asked = [child for child in range(len(climb.edges)) if _may_want_pairs(climb, child)]
    if not asked:
        return False
    clearly = _CLEAR + 2 * math.log(max(1.0, len(climb.edges) ** 2 / 2 / _MANY))
    parents = torch.from_numpy(climb.edges.T[asked].copy())
    found = climb.evidence.pair_probes(torch.tensor(asked), parents, clearly)
    each = (_promising(climb, child, *found.of_row(k)) for k, child in enumerate(asked))
    tried = [one for one in each if one]
    if not tried:
        return False
    price = torch.cat([one.price for one in tried])
    child = torch.cat([torch.full((len(one.pairs),), one.child) for one in tried])
    parents = torch.cat([one.parents for one in tried])
    values = climb.evidence.reach(child, parents, climb.value[child] + price) - price
    improved = False
    for one, totals in zip(tried, values.split([len(one.pairs) for one in tried])):
        best = int(totals.argmax())
        if totals[best] > climb.value[one.child]:
            nodes = one.pairs[best][one.new[best]].tolist()
            # What cuts cost and which there are depends on the pairs before.
            cost, cuts = climb.freeing(one.child, nodes)
            if (cost[nodes] < math.inf).all():
                remove = sorted({edge for node in nodes for edge in cuts.get(node, [])})
                improved |= climb.apply([(node, one.child) for node in nodes], remove)
    return improved


def _may_want_pairs(climb: Climb, child: int) -> bool:
    """Whether there is room, and pairs were not tried where it stands now."""
    own = climb.edges[:, child]
    room = int(own.sum()) + 2 <= climb.max_parents
    return room and climb.is_new("pair", child, own, climb.reach()[child])


def _promising(
    climb: Climb, child: int, found: Tensor, score: Tensor
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
    larger[torch.arange(len(worth))[:, None], found[worth]] = True
    return _Tried(child, pairs[worth], new[worth], larger, torch.from_numpy(price[worth]))
