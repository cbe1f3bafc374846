"""Two parents at once: what they do only together, no single addition shows."""

from __future__ import annotations

import math

import numpy as np
import torch

from .climb import Climb

__all__ = ["insert_pairs"]

_CLEAR = 40.0  # of a score that by chance is some 30 at most, among a thousand pairs
_TRIED = 2  # pairs of a child


def insert_pairs(climb: Climb) -> bool:
    """Give each child the pair of parents that its residuals ask for; whether any was worth it.

    One of the two may be a parent already. A child is tried again only when its parents or its
    descendants have changed.
    """
    if not climb.evidence.sees_pairs:
        return False
    improved, reach = False, climb.reach()
    for child in range(len(climb.edges)):
        full = int(climb.edges[:, child].sum()) + 2 > climb.max_parents
        if full or not climb.is_new("pair", child, climb.edges[:, child], reach[child]):
            continue
        cost, cuts = climb.freeing(child)
        own = climb.edges[:, child]
        cost[own] = 0.0
        score = climb.evidence.pair_probe(child, climb.parents(child))
        possible = (cost[:, None] < math.inf) & (cost < math.inf) & ~(own[:, None] & own)
        clear = np.argwhere(np.triu(possible & (score.numpy() > _CLEAR), 1))
        clear = clear[np.argsort(-score.numpy()[tuple(clear.T)], kind="stable")[:_TRIED]]
        if not len(clear):
            continue
        larger = climb.parents(child).repeat(len(clear), 1)
        larger[torch.arange(len(clear))[:, None], torch.from_numpy(clear)] = True
        price = cost[clear].sum(1) + climb.penalty * (~own[clear]).sum(1)
        target = climb.value[child] + torch.from_numpy(price)
        values = climb.evidence.reach(torch.full((len(clear),), child), larger, target)
        total = values.numpy() - price
        best = int(total.argmax())
        if total[best] > float(climb.value[child]):
            pair = [node for node in clear[best].tolist() if not own[node]]
            remove = sorted({edge for node in pair for edge in cuts.get(node, [])})
            if climb.apply([(node, child) for node in pair], remove):
                improved, reach = True, climb.reach()
    return improved
