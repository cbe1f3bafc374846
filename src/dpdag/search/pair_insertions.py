"""Two parents at once: what they do only together, no single addition shows."""

from __future__ import annotations

import math

import numpy as np
import torch

from .climb import Climb

__all__ = ["insert_pairs"]

# Of a score that by chance is some 30 at most, among a thousand pairs, and 2 more among e times as
# many: it is a sum of squares.
_CLEAR, _MANY = 40.0, 1000
_TRIED = 4  # pairs of a child


def insert_pairs(climb: Climb) -> bool:
    """Give each child the pair of parents that its residuals ask for; whether any was worth it.

    One of the two may be a parent already. A child is tried again only when its parents or its
    descendants have changed, and only pairs that promise half of their price or more.
    """
    if not climb.evidence.sees_pairs:
        return False
    improved, reach = False, climb.reach()
    clearly = _CLEAR + 2 * math.log(max(1.0, len(climb.edges) ** 2 / 2 / _MANY))
    for child in range(len(climb.edges)):
        full = int(climb.edges[:, child].sum()) + 2 > climb.max_parents
        if full or not climb.is_new("pair", child, climb.edges[:, child], reach[child]):
            continue
        cost, cuts = climb.freeing(child)
        own = climb.edges[:, child]
        cost[own] = 0.0
        found, score = climb.evidence.pair_probe(child, climb.parents(child), clearly)
        pairs, new = found.numpy(), ~own[found.numpy()]
        price = cost[pairs].sum(1) + climb.penalty * new.sum(1)
        promising = np.flatnonzero(new.any(1) & (score.numpy() > price))[:_TRIED]
        pairs, new, price = pairs[promising], new[promising], price[promising]
        if not len(pairs):
            continue
        larger = climb.parents(child).repeat(len(pairs), 1)
        larger[torch.arange(len(pairs))[:, None], torch.from_numpy(pairs)] = True
        target = climb.value[child] + torch.from_numpy(price)
        values = climb.evidence.reach(torch.full((len(pairs),), child), larger, target)
        total = values.numpy() - price
        best = int(total.argmax())
        if total[best] > float(climb.value[child]):
            pair = pairs[best][new[best]].tolist()
            remove = sorted({edge for node in pair for edge in cuts.get(node, [])})
            if climb.apply([(node, child) for node in pair], remove):
                improved, reach = True, climb.reach()
    return improved
