"""Greedy runs of insertions: many parents together may explain what no single one does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .climb import Climb

__all__ = ["run_greedily"]

_PATIENCE = 8  # additions in a row that bring nothing and so end a run
_DIP = 12.0  # nats below the best total that end a run
_SHALLOW, _NARROW = 3, 2  # first additions of a run, and how many of a ranking they look at
_WIDE = 4  # the same of further ones
_CUT = 40.0  # nats that turning round one descendant may cost


def run_greedily(climb: Climb) -> bool:
    """Try a run of additions to each weakly explained child; whether any was worth it.

    A child is tried again only when its parents or its possible parents have changed.
    A run goes on while one of its last few additions brought something. Descendants that cheap cuts
    would free are candidates too. What a run no longer needs is dropped again by the
    ordinary moves that follow. All runs go side by side, so that their steps are evaluated at once.
    """
    parents = climb.parents(range(len(climb.edges)))
    weak = climb.evidence.may_lack_parents(parents, climb.value)
    runs = []
    for child in weak.nonzero()[:, 0].tolist():
        cost, _ = climb.freeing(child, most=_CUT)
        if climb.is_new("run", child, climb.edges[:, child], cost < math.inf):
            runs.append(_Run.of(climb, child, cost))
    active: Sequence[_Run] = runs
    while active := [run for run in active if run.goes_on]:
        _extend(climb, active)
    improved = False
    for run in runs:
        nodes = (run.best & ~run.first).nonzero()[:, 0].tolist()
        improved |= bool(nodes) and climb.adopt(run.child, nodes, most=_CUT)
    return improved


@dataclass
class _Run:
    """Additions to one child.

    Attributes:
        cost: (n,) of freeing each node from being a descendant.
        penalty: Of an edge.
        most: Parents that there is room for.
        first: (n,) bool, parents before.
        total: Evidence of the present parents less what they cost.
        parents: (n,) bool, now.
        best: (n,) bool, parents of the best total so far, which follows.
    """

    child: int
    cost: np.ndarray
    penalty: float
    most: int
    first: Tensor
    total: float

    def __post_init__(self) -> None:
        self.parents = self.best = self.first
        self.best_total, self.patience, self.ended = self.total, _PATIENCE, False

    @classmethod
    def of(cls, climb: Climb, child: int, cost: np.ndarray) -> _Run:  # (n,)
        """Before its first addition."""
        first = climb.parents(child)
        total = float(climb.value[child]) - climb.penalty * int(first.sum())
        return cls(child, cost, climb.penalty, climb.max_parents, first, total)

    @property
    def goes_on(self) -> bool:
        near = self.total > self.best_total - _DIP
        room = int(self.parents.sum()) < self.most
        return not self.ended and self.patience > 0 and near and room

    @property
    def added(self) -> Tensor:  # (n,) bool
        return self.parents & ~self.first

    @property
    def paid(self) -> float:
        """What the parents cost."""
        freed = float(self.cost[self.added.numpy()].sum())
        return self.penalty * int(self.parents.sum()) + freed

    def candidates(self, rankings: Sequence[np.ndarray]) -> list[int]:  # (n,) each
        """Nodes that any ranking puts first."""
        nodes = np.flatnonzero((self.cost < math.inf) & ~self.parents.numpy())
        # Most runs end soon; those that do not are worth a wider look.
        width = _NARROW if int(self.added.sum()) < _SHALLOW else _WIDE
        tops = [(one, nodes[np.argsort(-one[nodes], kind="stable")[:width]]) for one in rankings]
        return sorted({node for one, top in tops for node in top[one[top] > -math.inf].tolist()})

    def add(self, parents: Tensor, value: float) -> None:  # (n,) bool
        """Go on with these parents."""
        before, self.parents = self.total, parents
        self.total = value - self.paid
        self.patience = _PATIENCE if self.total > before else self.patience - 1
        if self.total > self.best_total + 1e-6:
            self.best, self.best_total = parents, self.total


def _extend(climb: Climb, runs: Sequence[_Run]) -> None:
    """Give each run the best node more, of those that any ranking puts first.

    Values that stay too low for a run to go on are only rough.
    """
    evidence, child = climb.evidence, torch.tensor([run.child for run in runs])
    parents = torch.stack([run.parents for run in runs])
    joint = evidence.joint_screens(child, parents)
    rankings = evidence.screens(child, parents), evidence.probes(child, parents), joint
    ranked = [one.numpy() for one in rankings if one is not None]
    chosen = [run.candidates([one[k] for one in ranked]) for k, run in enumerate(runs)]
    row = torch.tensor([k for k, nodes in enumerate(chosen) for _ in nodes], dtype=torch.long)
    node = torch.tensor([one for nodes in chosen for one in nodes], dtype=torch.long)
    price = torch.tensor([float(run.cost[one]) for run, some in zip(runs, chosen) for one in some])
    larger = parents[row]
    larger[torch.arange(len(row)), node] = True
    least = torch.tensor([run.best_total - _DIP + run.penalty + run.paid for run in runs])
    target = least.double()[row] + price
    afresh = None if joint is None else joint[row, node] > -math.inf
    asked = child[row], larger, target, afresh
    values = evidence.reach(*asked) - price if len(row) else price
    for k, run in enumerate(runs):
        own = (row == k).nonzero()[:, 0]
        run.ended = not len(own)
        if len(own):
            best = int(own[values[own].argmax()])
            run.add(larger[best], float(values[best] + price[best]))
