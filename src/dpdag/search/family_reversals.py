"""Turning round what several causes do only together."""

from __future__ import annotations

import math

import numpy as np
import torch

from .climb import Change, Climb, Edge
from .pairs import Pairs

__all__ = ["reverse_families"]

_SHARE = 0.1  # of what parents explain that may count as nothing
_ROUGH = 0.5  # the same by an estimate, which then is replaced by the value itself
_PROMISE = 0.5  # of what turning children round costs, that they must seem worth one by one


def reverse_families(climb: Climb) -> bool:
    r"""Let a parent become the child of its whole family; whether that was worth it anywhere.

    Of :math:`y = a b` single steps may make :math:`y \to a \leftarrow b`, from which no reversal
    leads to :math:`a \to y \leftarrow b`: neither cause alone explains anything. So where the other
    parents of a child explain nothing without one of them, that one is tried in its place.
    Likewise single steps may make :math:`a \leftarrow y \to b`; so where two children of a node
    promise to explain a good part of what they would lose, both are tried as its parents.
    And where :math:`a \to y` was taken for :math:`y \to a`, the causes of a have become causes of
    y: so a parent whose child promises likewise changes families with it.
    """
    n = len(climb.edges)
    alone = climb.evidence.log_evidence(torch.arange(n), torch.zeros(n, n, dtype=torch.bool))
    gained = (climb.value - alone).numpy()
    others = climb.edges.sum(0) - 1

    def idle(share: float) -> list[Edge]:
        rest = gained + climb.change  # what the others explain of a child without a parent
        least = np.maximum(climb.penalty * others, share * gained)
        return Pairs.of(climb.edges & (others > 0) & (rest < least)).edges()

    before = climb.total
    climb.confirm(idle(_ROUGH))
    _exchange_all(climb, idle(_SHARE))
    _turn_forks(climb)
    swaps = [
        (i, j)
        for i, j in _promising(climb)
        if climb.is_new("swap", (i, j), climb.edges[:, i], climb.edges[:, j])
    ]
    _exchange_all(climb, swaps, swap=True)
    return climb.total > before


def _promising(climb: Climb) -> list[Edge]:
    """Edges whose child promises to explain a good part of what it would lose.

    Of parents with causes of their own: for others that is an ordinary reversal.
    """
    edges = Pairs.of(climb.edges & climb.allowed.T & climb.edges.any(0)[:, None])
    loss = np.maximum(-edges.read(climb.change) - climb.penalty, 0.0)
    return edges[edges.read(climb.change.T) > _PROMISE * loss].edges()


def _exchange_all(climb: Climb, edges: list[Edge], *, swap: bool = False) -> None:
    """Make the exchanges of some edges that can be and pay, one after the other."""
    climb.foresee([one for edge in edges if (one := _exchange(climb, *edge, swap=swap))])
    for edge in edges:
        if exchange := _exchange(climb, *edge, swap=swap):
            climb.apply(*exchange)


def _exchange(climb: Climb, parent: int, child: int, *, swap: bool = False) -> Change | None:
    """Give the child's place among its parents to one of them, where that can be.

    Arguments:
        swap: Whether the child gets the parent's own causes for that.
    """
    family = np.flatnonzero(climb.edges[:, child]).tolist()
    if parent not in family:  # an exchange before this one removed it
        return None
    causes = [child, *(k for k in family if k != parent)]
    own = np.flatnonzero(climb.edges[:, parent]).tolist() if swap else []
    cost, cuts = climb.freeing(parent, causes)
    insert = [(k, parent) for k in causes if not climb.edges[k, parent]]
    possible = all(cost[k] < math.inf for k, _ in insert)
    remove = {edge for k, _ in insert for edge in cuts.get(k, [])}
    remove |= {(k, child) for k in family if k not in own}
    remove |= {(k, parent) for k in own if k not in causes}
    insert += [(k, child) for k in own if k not in family]
    possible &= all(bool(climb.allowed[edge]) for edge in insert)
    kept = not any(climb.required[edge] for edge in remove)
    slim = max(len(own), climb.edges[:, parent].sum() + len(insert)) <= climb.max_parents
    return (insert, sorted(remove)) if possible and kept and slim else None


def _turn_forks(climb: Climb) -> None:
    """Make two children of a node its parents, wherever that pays."""
    turnable = climb.edges & climb.allowed.T
    unseen = [
        node
        for node in range(len(climb.edges))
        if climb.is_new("fork", node, turnable[node], climb.edges[:, node])
    ]
    forks = [(node, fork) for node in unseen if (fork := _fork(climb, node))]
    if not forks:
        return
    nodes = [node for node, _ in forks]
    parents = climb.parents(nodes)
    for own, (_, (insert, _)) in zip(parents, forks):
        own[[k for k, _ in insert]] = True
    price = [2 * climb.penalty + climb.loss(remove) for _, (_, remove) in forks]
    target = climb.value[nodes] + torch.tensor(price)
    values = climb.evidence.reach(torch.tensor(nodes), parents, target)
    for node, better in zip(nodes, (values > target).tolist()):
        if better and (now := _fork(climb, node)):
            climb.apply(*now)


def _fork(climb: Climb, node: int) -> Change | None:
    """Turn the two children of a node round that promise most as its parents, if they may pay."""
    children = np.flatnonzero(climb.edges[node] & climb.allowed[:, node])
    if len(children) < 2 or climb.edges[:, node].sum() + 2 > climb.max_parents:
        return None
    cost, cuts = climb.freeing(node, children)
    worth = climb.change[children, node] - _PROMISE * cost[children]
    best = np.argsort(-worth, kind="stable")[:2]
    if not worth[best].sum() > 0:
        return None
    pair = children[best].tolist()
    remove = sorted({edge for k in pair for edge in cuts.get(k, [])})
    return [(k, node) for k in pair], remove
