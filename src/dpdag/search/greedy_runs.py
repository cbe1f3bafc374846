"""Greedy runs of insertions: many parents together may explain what no single one does."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from .climb import Climb, Edge

__all__ = ["run_greedily"]

_PATIENCE = 8  # additions without a better total that end a run
_DIP = 12.0  # nats below the best total that end a run
_SHALLOW, _NARROW = 3, 2  # first additions of a run, and how many of a ranking they look at
_WIDE = 4  # the same of further ones
_CUT = 40.0  # nats that turning round one descendant may cost


def run_greedily(climb: Climb) -> bool:
    """Try a run of additions to each weakly explained child; whether any was worth it.

    A child is tried again only when its parents or its possible parents have changed.
    A run goes on while it has found something better within the last few steps. Descendants that
    cheap cuts would free are candidates too. What a run no longer needs is dropped again by the
    ordinary moves that follow.
    """
    weak = climb.evidence.may_lack_parents(torch.from_numpy(climb.edges.T.copy()), climb.value)
    improved = False
    for child in weak.nonzero()[:, 0].tolist():
        cost, cuts = climb.freeing(child, most=_CUT)
        if not climb.is_new("run", child, climb.edges[:, child], cost < math.inf):
            continue
        inserted = _run(climb, child, cost)
        if inserted:
            remove = sorted({edge for node, _ in inserted for edge in cuts.get(node, [])})
            improved |= climb.apply(inserted, remove)
    return improved


def _run(climb: Climb, child: int, cost: np.ndarray) -> list[Edge]:  # (n,)
    """Insertions that together raise the total most."""
    first = climb.parents(child)
    parents, best = first, None
    best_total = total = float(climb.value[child]) - climb.penalty * int(parents.sum())
    patience = _PATIENCE
    while patience and total > best_total - _DIP and int(parents.sum()) < climb.max_parents:
        # Most runs end soon; those that do not are worth a wider look.
        depth = int((parents & ~first).sum())
        width = _NARROW if depth < _SHALLOW else _WIDE
        paid = climb.penalty * int(parents.sum()) + float(cost[(parents & ~first).numpy()].sum())
        least = best_total - _DIP + climb.penalty + paid
        added = _best_addition(climb, child, parents, cost=cost, shortlist=width, least=least)
        if added is None:
            break
        parents, value = added
        new = (parents & ~first).numpy()
        total = value - climb.penalty * int(parents.sum()) - float(cost[new].sum())
        patience -= 1
        if total > best_total + 1e-6:
            best, best_total, patience = parents, total, _PATIENCE
    if best is None:
        return []
    return [(node, child) for node in (best & ~first).nonzero()[:, 0].tolist()]


def _best_addition(
    climb: Climb,
    child: int,
    parents: Tensor,
    *,
    cost: np.ndarray,
    shortlist: int,
    least: float,
) -> tuple[Tensor, float] | None:
    """The parent set with the best one more node, of those that either ranking puts first.

    Values that stay below ``least`` and what freeing their node costs are only rough.
    """
    nodes = np.flatnonzero((cost < math.inf) & ~parents.numpy())
    top: set[int] = set()
    rankings = (climb.evidence.screen(child, parents), climb.evidence.probe(child, parents))
    for ranking in rankings:
        if ranking is not None:
            order = np.argsort(-ranking.numpy()[nodes], kind="stable")
            top |= set(nodes[order[:shortlist]].tolist())
    if not top:
        return None
    chosen = sorted(top)
    larger = parents.repeat(len(chosen), 1)
    larger[torch.arange(len(chosen)), torch.tensor(chosen)] = True
    price = torch.from_numpy(cost[chosen])
    values = climb.evidence.reach(torch.full((len(chosen),), child), larger, least + price)
    k = int((values - price).argmax())
    return larger[k], float(values[k])
