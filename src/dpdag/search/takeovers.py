"""Turning round what several causes do only together."""

from __future__ import annotations

import numpy as np
import torch

from ..ops.graphs import is_acyclic
from .climb import Climb, Move

__all__ = ["take_over"]

_SHARE = 0.1  # of what parents explain that may count as nothing
_ROUGH = 0.3  # the same by an estimate, which then is replaced by the value itself


def take_over(climb: Climb) -> bool:
    r"""Let a parent become the child of its whole family; whether that was worth it anywhere.

    Of :math:`y = a b` single steps may make :math:`y \to a \leftarrow b`, from which no reversal
    leads to :math:`a \to y \leftarrow b`: neither cause alone explains anything. So where the other
    parents of a child explain nothing without one of them, that one is tried in its place.
    """
    n = len(climb.edges)
    alone = climb.evidence.log_evidence(torch.arange(n), torch.zeros(n, n, dtype=torch.bool))
    gained = (climb.value - alone).numpy()
    others = climb.edges.sum(0) - 1

    def idle(share: float) -> list[tuple[int, int]]:
        rest = gained + climb.change  # what the others explain of a child without a parent
        least = np.maximum(climb.penalty * others, share * gained)
        pairs = np.argwhere(climb.edges & (others > 0) & (rest < least))
        return [(int(parent), int(child)) for parent, child in pairs]

    climb.confirm([pair for pair in idle(_ROUGH) if not climb.exact[pair]])
    before = climb.total
    for parent, child in idle(_SHARE):
        _exchange(climb, parent, child)
    return climb.total > before


def _exchange(climb: Climb, parent: int, child: int) -> None:
    """Give the child's place among its parents to one of them, where that raises the total."""
    others = np.flatnonzero(climb.edges[:, child]).tolist()
    if parent not in others:  # an exchange before this one removed it
        return
    others.remove(parent)
    remove = [(k, child) for k in (parent, *others)]
    remove += [(parent, k) for k in others if climb.edges[parent, k]]
    insert = [(k, parent) for k in (child, *others) if not climb.edges[k, parent]]
    graph = climb.edges.copy()
    for edge in remove + insert:
        graph[edge] ^= True
    kept = not any(climb.required[edge] for edge in remove)
    possible = all(climb.allowed[edge] for edge in insert)
    slim = graph[:, parent].sum() <= climb.max_parents
    sound = kept and possible and slim and is_acyclic(torch.from_numpy(graph | climb.before))
    if sound:
        climb.apply(Move(0.0, remove, insert))
