"""Greedy search that evaluates in full only what a cheap screening finds worth it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from ..distributions.knowledge import Constraints, Knowledge
from ..evidence.screened import ScreenedEvidence
from ..ops.graphs import reachability
from .cuts import minimum_cut

__all__ = ["LazyResult", "lazy_search"]

_MARGIN = 5.0  # nats by which an estimate may miss a change that is worth making
_PATIENCE = 5  # additions without a better total that end a run
_DIP = 10.0  # nats below the best total that end a run
_SURE = 60.0  # an edge whose screened loss is above this need not be confirmed


@dataclass(frozen=True)
class LazyResult:
    """The best graph found and what each single change of it would bring.

    Attributes:
        adjacency: (n, n) bool.
        log_evidence: (n,) of every child.
        gain: (n, n) evidence that the edge i → j brings: lost by dropping it where present, won by
            adding it where absent; without the edge penalty. Estimated where not confirmed.
        confirmed: (n, n) bool, where ``gain`` is a full evaluation.
        history: Total evidence less penalties after every accepted move.
    """

    adjacency: Tensor
    log_evidence: Tensor
    gain: Tensor
    confirmed: Tensor
    history: list[float] = field(default_factory=list)


def lazy_search(
    evidence: ScreenedEvidence,
    *,
    edge_penalty: float = 2.0,
    constraints: Constraints | None = None,
    max_parents: int = 14,
    start: Tensor | None = None,  # (n, n) bool
    shortlist: int = 4,
) -> LazyResult:
    r"""Climb to a DAG of high evidence by inserting and deleting edges.

    Inserting i → j also removes the cheapest set of edges (a minimum cut) without which no path
    leads from j back to i; so additions, reversals and larger turns are one kind of move. The best
    move is taken each time. Changes are ranked by :meth:`ScreenedEvidence.screen` and evaluated in
    full from the top until the best confirmed one beats all remaining estimates. Where nothing
    promising is left, the ``shortlist`` best of each child by screening and by
    :meth:`ScreenedEvidence.probe` are evaluated whatever their estimate.

    Arguments:
        edge_penalty: What an edge must bring, in nats: minus its prior logit.
        constraints: Allowed and required edges, and order relations.
        start: Graph to start from; the required edges are added.

    Example:
        >>> from dpdag.evidence.gp import GPEvidence
        >>> generator = torch.Generator().manual_seed(0)
        >>> cause, noise = torch.randn(2, 200, generator=generator)
        >>> x = torch.stack([torch.sin(2 * cause) + noise / 4, cause], -1)
        >>> lazy_search(GPEvidence(x)).adjacency.int().tolist()
        [[0, 0], [1, 0]]
    """
    n = evidence.n_nodes
    limits = Knowledge().resolve(n) if constraints is None else constraints
    climb = _Climb(evidence, limits, edge_penalty, max_parents, start)
    while True:
        move = climb.best_move()
        if move is not None:
            climb.apply(move)
        elif not climb.widen(shortlist) and not climb.explore(shortlist):
            return climb.result()


@dataclass(frozen=True)
class _Move:
    gain: float
    remove: list[tuple[int, int]]
    insert: tuple[int, int] | None = None


class _Climb:
    """A graph, what is known of its neighbours, and the moves between them."""

    def __init__(
        self,
        evidence: ScreenedEvidence,
        limits: Constraints,
        penalty: float,
        max_parents: int,
        start: Tensor | None,
    ) -> None:
        n = evidence.n_nodes
        self.evidence, self.penalty, self.max_parents = evidence, penalty, max_parents
        self.allowed = limits.allowed.numpy()
        self.required = limits.required.numpy()
        self.before = limits.before.numpy()
        first = np.zeros((n, n), bool) if start is None else start.numpy().astype(bool)
        self.edges = first & self.allowed | self.required
        self.change = np.full((n, n), -math.inf)  # by toggling i → j, screened or exact
        self.exact = np.zeros((n, n), bool)
        self.forced = np.zeros((n, n), bool)  # to be confirmed whatever the estimate
        self.tabu = np.zeros((n, n), bool)  # insertions that failed with their cut
        self.widened = np.zeros(n, bool)
        self.explored = np.zeros(n, bool)
        self.value = evidence.log_evidence(torch.arange(n), torch.from_numpy(self.edges.T.copy()))
        for child in range(n):
            self._refresh(child)
        self.history = [self.total]

    @property
    def total(self) -> float:
        return float(self.value.sum()) - self.penalty * int(self.edges.sum())

    def _parents(self, child: int) -> Tensor:
        return torch.from_numpy(self.edges[:, child].copy())

    def _refresh(self, child: int) -> None:
        self.change[:, child] = self.evidence.screen(child, self._parents(child)).numpy()
        for table in (self.exact, self.forced, self.tabu):
            table[:, child] = False
        self.widened[child] = self.explored[child] = False

    def confirm(self, edges: list[tuple[int, int]], bar: float = -math.inf) -> None:
        """Replace estimates by full evaluations; ones that stay below ``bar`` only roughly."""
        edges = [edge for edge in edges if not self.exact[edge]]
        if not edges:
            return
        child = torch.tensor([j for _, j in edges])
        parents = torch.from_numpy(self.edges.T[child.numpy()].copy())
        source = torch.tensor([i for i, _ in edges])
        parents[torch.arange(len(edges)), source] ^= True
        base = self.value[child]
        values = self.evidence.reach(child, parents, base + bar)
        for edge, gain in zip(edges, (values - base).tolist()):
            self.change[edge], self.exact[edge] = gain, True

    def best_move(self) -> _Move | None:
        """The confirmed move with the largest gain, if any has one."""
        best = self._best_deletion()
        reach = reachability(torch.from_numpy(self.edges | self.before)).numpy()
        full = self.edges.sum(0) >= self.max_parents
        open_ = self.allowed & ~self.edges & ~self.tabu & ~full
        gain = np.where(open_, self.change - self.penalty, -math.inf)
        waiting = self.forced & ~self.exact & open_ & ~reach.T
        gain[waiting] = np.maximum(gain[waiting], 1e-6)
        while True:
            i, j = (int(k) for k in np.unravel_index(gain.argmax(), gain.shape))
            floor = best.gain if best else (0.0 if self.exact[i, j] else -_MARGIN)
            if gain[i, j] <= max(floor, 0.0 if reach[j, i] else floor):
                return best
            if not self.exact[i, j] and reach[j, i] and not self._worth_cutting(i, j, floor):
                gain[i, j] = -math.inf
            elif not self.exact[i, j]:
                batch = self._top_open(gain, floor)
                self.confirm(batch, self.penalty - 2 * _MARGIN)
                for edge in batch:
                    gain[edge] = self.change[edge] - self.penalty
            else:
                gain[i, j] = -math.inf
                move = self._insertion(i, j, acyclic=not reach[j, i])
                if move and move.gain > (best.gain if best else 1e-6):
                    best = move

    def _top_open(self, gain: np.ndarray, floor: float) -> list[tuple[int, int]]:
        ranked = np.argsort(-gain, axis=None)[: self.evidence.lookahead]
        edges = [(int(k) // len(gain), int(k) % len(gain)) for k in ranked]
        return [edge for edge in edges if gain[edge] > floor and not self.exact[edge]]

    def _best_deletion(self) -> _Move | None:
        free = self.edges & ~self.required
        gain = np.where(free, self.change + self.penalty, -math.inf)
        doubtful = np.argwhere((gain > -_MARGIN) & ~self.exact)
        self.confirm([(int(i), int(j)) for i, j in doubtful], -self.penalty - 2 * _MARGIN)
        gain = np.where(free & self.exact, self.change + self.penalty, -math.inf)
        i, j = (int(k) for k in np.unravel_index(gain.argmax(), gain.shape))
        return _Move(gain[i, j], [(i, j)]) if gain[i, j] > 1e-6 else None

    def _worth_cutting(self, i: int, j: int, floor: float) -> bool:
        cut = self._cut(i, j)
        if cut is None:
            return False
        loss = -sum(self.change[edge] + self.penalty for edge in cut)
        return 1.5 * (self.change[i, j] - self.penalty) - loss > max(floor, 0.0)

    def _cut(self, i: int, j: int) -> list[tuple[int, int]] | None:
        """The cheapest removals that let i → j in; None where required relations forbid it."""
        loss = np.where(self.edges, np.maximum(-self.change - self.penalty, 0.01), 0.0)
        fixed = self.required | self.before
        loss[fixed] = math.inf
        cut = minimum_cut(loss, j, i)
        return None if any(fixed[edge] for edge in cut) else cut

    def _insertion(self, i: int, j: int, *, acyclic: bool) -> _Move | None:
        gain = self.change[i, j] - self.penalty
        if acyclic:
            return _Move(gain, [], (i, j))
        while True:
            cut = self._cut(i, j)
            if cut is None:
                return None
            if all(self.exact[edge] for edge in cut):
                break
            self.confirm(cut)
        return _Move(gain + sum(self.change[edge] + self.penalty for edge in cut), cut, (i, j))

    def apply(self, move: _Move) -> None:
        """Make the move, or undo it where removals together cost more than one by one."""
        before, value = self.total, self.value.clone()
        touched = list(move.remove) + ([move.insert] if move.insert else [])
        for edge in touched:
            self.edges[edge] ^= True
        children = sorted({j for _, j in touched})
        parents = torch.from_numpy(self.edges.T[children].copy())
        self.value[children] = self.evidence.log_evidence(torch.tensor(children), parents)
        if self.total <= before:
            for edge in touched:
                self.edges[edge] ^= True
            self.value = value
            self.tabu[move.insert or touched[0]] = True
            self.change[touched[0]] = -math.inf if not move.insert else self.change[touched[0]]
            return
        for child in children:
            self._refresh(child)
        self.history.append(self.total)

    def widen(self, shortlist: int) -> bool:
        """Mark each child's most promising insertions for confirmation; whether any is left."""
        reach = reachability(torch.from_numpy(self.edges | self.before)).numpy()
        open_ = self.allowed & ~self.edges & ~self.exact & ~reach.T & ~self.tabu
        open_ &= self.edges.sum(0) < self.max_parents
        for child in np.flatnonzero(~self.widened):
            candidates = np.flatnonzero(open_[:, child])
            rankings = [self.change[:, child]]
            probe = self.evidence.probe(int(child), self._parents(int(child)))
            if probe is not None:
                rankings.append(probe.numpy())
            for ranking in rankings:
                top = candidates[np.argsort(-ranking[candidates], kind="stable")[:shortlist]]
                self.forced[top, child] = True
        progress = bool((~self.widened).any())
        self.widened[:] = True
        return progress

    def explore(self, shortlist: int) -> bool:
        """Try a run of additions to each weakly explained child; whether any was worth it.

        Many parents together may explain what no single one does. A run goes on while it has
        found something better within the last few steps; what it no longer needs is dropped again
        by the ordinary moves that follow.
        """
        weak = self.evidence.weakly_explained(self.value.numpy())
        improved = False
        for child in np.flatnonzero(weak & ~self.explored):
            self.explored[child] = True
            improved |= self._run(int(child), shortlist)
        return improved

    def _run(self, child: int, shortlist: int) -> bool:
        reach = reachability(torch.from_numpy(self.edges | self.before)).numpy()
        open_ = self.allowed[:, child] & ~reach[child]
        parents = self._parents(child)
        best_total = float(self.value[child]) - self.penalty * int(parents.sum())
        best, patience = None, _PATIENCE
        total = best_total
        while patience and total > best_total - _DIP and int(parents.sum()) < self.max_parents:
            candidates = open_ & ~parents.numpy()
            added = self._best_addition(child, parents, candidates, max(1, shortlist // 2))
            if added is None:
                break
            parents, value = added
            total = value - self.penalty * int(parents.sum())
            patience -= 1
            if total > best_total + 1e-6:
                best, best_total, patience = parents, total, _PATIENCE
        if best is None:
            return False
        self.edges[:, child] = best.numpy()
        self.value[child] = self.evidence.log_evidence(torch.tensor([child]), best[None])[0]
        self._refresh(child)
        self.explored[child] = True
        self.history.append(self.total)
        return True

    def _best_addition(
        self, child: int, parents: Tensor, candidates: np.ndarray, shortlist: int
    ) -> tuple[Tensor, float] | None:
        nodes = np.flatnonzero(candidates)
        top: set[int] = set()
        for ranking in (self.evidence.screen(child, parents), self.evidence.probe(child, parents)):
            if ranking is not None:
                order = np.argsort(-ranking.numpy()[nodes], kind="stable")
                top |= set(nodes[order[:shortlist]].tolist())
        if not top:
            return None
        larger = parents.repeat(len(top), 1)
        larger[torch.arange(len(top)), torch.tensor(sorted(top))] = True
        values = self.evidence.log_evidence(torch.full((len(top),), child), larger)
        k = int(values.argmax())
        return larger[k], float(values[k])

    def result(self) -> LazyResult:
        weak = self.edges & ~self.exact & (self.change > -_SURE)
        self.confirm([(int(i), int(j)) for i, j in np.argwhere(weak)], -_SURE)
        gain = np.where(self.edges, -self.change, self.change)
        return LazyResult(
            adjacency=torch.from_numpy(self.edges.copy()),
            log_evidence=self.value.clone(),
            gain=torch.from_numpy(gain),
            confirmed=torch.from_numpy(self.exact.copy()),
            history=self.history,
        )
