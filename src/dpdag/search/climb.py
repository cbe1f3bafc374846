"""The state of a lazy search: a graph, what is known of its neighbours, and the moves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from ..distributions.knowledge import Constraints
from ..evidence.screened import ScreenedEvidence
from ..ops.graphs import reachability
from .cuts import Network
from .prior import EdgePrior

__all__ = ["Climb", "Move"]

_MARGIN = 5.0  # nats by which an estimate may miss a change that is worth making
_LITTLE = 0.01  # nats that removing any edge costs, so that no more are cut than needed
_SURE = 60.0  # an edge whose screened loss is above this need not be confirmed


@dataclass(frozen=True)
class Move:
    """Edges to remove and to insert together, and what that is worth."""

    gain: float
    remove: list[tuple[int, int]]
    insert: list[tuple[int, int]] = field(default_factory=list)


class Climb:
    """A graph, what is known of its neighbours, and the moves between them."""

    def __init__(
        self,
        evidence: ScreenedEvidence,
        limits: Constraints,
        prior: EdgePrior,
        max_parents: int,
        start: Tensor | None,
    ) -> None:
        n = evidence.n_nodes
        self.evidence, self.prior, self.max_parents = evidence, prior, max_parents
        self.allowed = limits.allowed.numpy()
        self.required = limits.required.numpy()
        self.before = limits.before.numpy()
        self.fixed = self.required | self.before  # that no cut may remove
        self._network: Network | None = None  # of what removing edges costs, while that holds
        self._overstated = 0.0
        first = np.zeros((n, n), bool) if start is None else start.numpy().astype(bool)
        self.edges = first & self.allowed | self.required
        self.change = np.full((n, n), -math.inf)  # by toggling i → j, screened or exact
        self.exact = np.zeros((n, n), bool)
        self.forced = np.zeros((n, n), bool)  # to be confirmed whatever the estimate
        self.tabu = np.zeros((n, n), bool)  # insertions that failed with their cut
        self.widened = np.zeros(n, bool)
        self._tried: dict[tuple[str, int], tuple[bytes, ...]] = {}  # by kind of move and node
        self.value = evidence.log_evidence(torch.arange(n), torch.from_numpy(self.edges.T.copy()))
        self._refresh(list(range(n)))
        self.history = [self.total]

    @property
    def penalty(self) -> float:
        """What one edge more must bring, in nats."""
        return self.prior.cost(int(self.edges.sum()))

    @property
    def total(self) -> float:
        return float(self.value.sum()) + self.prior.log(int(self.edges.sum()))

    def parents(self, child: int) -> Tensor:
        return torch.from_numpy(self.edges[:, child].copy())

    def reach(self) -> np.ndarray:  # (n, n) bool
        """Where a path leads from i to j, or i must come first anyway."""
        return reachability(torch.from_numpy(self.edges | self.before)).numpy()

    def _refresh(self, children: list[int]) -> None:
        parents = torch.from_numpy(self.edges.T[children].copy())
        self.change[:, children] = self.evidence.screens(torch.tensor(children), parents).T.numpy()
        self.exact[:, children] = self.evidence.screens_exactly
        self._network = None
        self.forced[:, children] = self.tabu[:, children] = False
        self.widened[children] = False

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
        self._network = None

    def best_move(self) -> Move | None:
        """The confirmed move with the largest gain, if any has one."""
        best = self._best_deletion()
        reach = self.reach()
        full = self.edges.sum(0) >= self.max_parents
        open_ = self.allowed & ~self.edges & ~self.tabu & ~full
        gain = np.where(open_, self.change - self.penalty, -math.inf)
        # With a removal that pays at hand, cuts may bring something instead.
        toll = self._tolls() if best is None else np.zeros_like(self.change)
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
                self.confirm(batch, self.penalty - _LITTLE)
                for edge in batch:
                    gain[edge] = self.change[edge] - self.penalty
            else:
                most, gain[i, j] = gain[i, j] - toll[i, j], -math.inf
                least = best.gain if best else 1e-6
                if most <= least:
                    continue
                move = self._insertion(i, j, acyclic=not reach[j, i], least=least)
                if move and move.gain > least:
                    best = move

    def _tolls(self) -> np.ndarray:  # (n, n)
        """The least that letting i → j in can cost, by the edges whose worth is known for sure.

        Every cut holds an edge of the path from j to i whose cheapest edge is dearest, and one of
        each path by way of a single other node.
        """
        known = self.edges & self.exact
        width = np.where(known, np.maximum(-self.change - self.penalty, 0.0), 0.0)
        if not self.evidence.screens_exactly:
            return width.T
        loss, short = width.copy(), width.copy()
        for k in range(len(width)):
            short += np.minimum(loss[:, k, None], loss[k])
            np.maximum(width, np.minimum(width[:, k, None], width[k]), out=width)
        return np.maximum(width, short).T

    def _top_open(self, gain: np.ndarray, floor: float) -> list[tuple[int, int]]:
        ranked = np.argsort(-gain, axis=None)[: self.evidence.lookahead]
        edges = [(int(k) // len(gain), int(k) % len(gain)) for k in ranked]
        return [edge for edge in edges if gain[edge] > floor and not self.exact[edge]]

    def _best_deletion(self) -> Move | None:
        free = self.edges & ~self.required
        gain = np.where(free, self.change + self.penalty, -math.inf)
        doubtful = np.argwhere((gain > -_MARGIN) & ~self.exact)
        self.confirm([(int(i), int(j)) for i, j in doubtful], -self.penalty - _LITTLE)
        gain = np.where(free & self.exact, self.change + self.penalty, -math.inf)
        i, j = (int(k) for k in np.unravel_index(gain.argmax(), gain.shape))
        return Move(gain[i, j], [(i, j)]) if gain[i, j] > 1e-6 else None

    def _worth_cutting(self, i: int, j: int, floor: float) -> bool:
        cut = self.cut(i, j)
        if cut is None:
            return False
        loss = -sum(self.change[edge] + self.penalty for edge in cut)
        return 1.5 * (self.change[i, j] - self.penalty) - loss > max(floor, 0.0)

    def cut(self, i: int, j: int, most: float = math.inf) -> list[tuple[int, int]] | None:
        """The cheapest removals that let i → j in.

        None where required relations forbid it, or where it is sure to cost more than ``most``.
        """
        if self._network is None:
            loss = -(self.change + self.penalty)
            capacity = np.where(self.edges, np.maximum(loss, _LITTLE), 0.0)
            self._overstated = float((capacity - loss)[self.edges].sum())
            capacity[self.fixed] = math.inf
            self._network = Network(capacity)
        # Estimates may be too high; what is known exactly is too high by as much as overstated.
        sure = most + self._overstated if self.evidence.screens_exactly else math.inf
        cut = self._network.cut(j, i, most=sure)
        return None if cut is None or any(self.fixed[edge] for edge in cut) else cut

    def freeing(
        self, child: int, *, most: float = math.inf
    ) -> tuple[np.ndarray, dict[int, list[tuple[int, int]]]]:  # (n,)
        """What freeing each node from being a descendant costs, and the edges to remove for it.

        Infinite where it costs more than ``most``, and for parents and forbidden ones.
        """
        cost = np.where(self.allowed[:, child] & ~self.edges[:, child], 0.0, math.inf)
        cuts = {}
        for node in np.flatnonzero(self.reach()[child] & (cost == 0)).tolist():
            cut = self.cut(node, child, most)
            loss = math.inf if cut is None else -sum(self.change[e] + self.penalty for e in cut)
            cost[node] = max(loss, 0.0) if loss < most else math.inf
            if cut is not None:
                cuts[node] = cut
        return cost, cuts

    def is_new(self, move: str, node: int, *situation: np.ndarray) -> bool:
        """Whether a kind of move has not been tried on a node where it stands now."""
        now = tuple(part.tobytes() for part in situation)
        before, self._tried[move, node] = self._tried.get((move, node)), now
        return now != before

    def _insertion(self, i: int, j: int, *, acyclic: bool, least: float) -> Move | None:
        gain = self.change[i, j] - self.penalty
        if acyclic:
            return Move(gain, [], [(i, j)])
        while True:
            cut = self.cut(i, j, gain - least)
            if cut is None:
                return None
            if all(self.exact[edge] for edge in cut):
                break
            self.confirm(cut)
        return Move(gain + sum(self.change[edge] + self.penalty for edge in cut), cut, [(i, j)])

    def apply(self, move: Move) -> bool:
        """Make the move, or undo it where removals together cost more than one by one."""
        before, value = self.total, self.value.clone()
        touched = move.remove + move.insert
        self._toggle(touched)
        children = sorted({j for _, j in touched})
        parents = torch.from_numpy(self.edges.T[children].copy())
        self.value[children] = self.evidence.log_evidence(torch.tensor(children), parents)
        if self.total <= before:
            self._toggle(touched)
            self.value = value
            if len(move.insert) == 1:
                self.tabu[move.insert[0]] = True
            return False
        self._refresh(children)
        self.history.append(self.total)
        return True

    def _toggle(self, edges: list[tuple[int, int]]) -> None:
        for edge in edges:
            self.edges[edge] ^= True
        self._network = None

    def widen(self, shortlist: int) -> bool:
        """Mark each child's most promising insertions for confirmation; whether any is left."""
        reach = self.reach()
        open_ = self.allowed & ~self.edges & ~self.exact & ~reach.T & ~self.tabu
        open_ &= self.edges.sum(0) < self.max_parents
        sure = ~self.edges.any(0) & self.evidence.screens_roots
        for child in np.flatnonzero(~self.widened & ~sure):
            candidates = np.flatnonzero(open_[:, child])
            rankings = [self.change[:, child]]
            probe = self.evidence.probe(int(child), self.parents(int(child)))
            if probe is not None:
                rankings.append(probe.numpy())
            for ranking in rankings:
                top = candidates[np.argsort(-ranking[candidates], kind="stable")[:shortlist]]
                self.forced[top, child] = True
        progress = bool((~self.widened).any())
        self.widened[:] = True
        return progress

    def gains(self) -> np.ndarray:  # (n, n)
        """What each edge brings, present or not; doubtful ones are confirmed.

        Doubtful are weak present edges, and reversals that by their estimate would lose little:
        how sure a direction is hangs on them.
        """
        weak = self.edges & ~self.exact & (self.change > -_SURE)
        self.confirm([(int(i), int(j)) for i, j in np.argwhere(weak)], -_SURE)
        gain = np.where(self.edges, -self.change, self.change)
        reversal = self.edges.T & self.allowed & ~self.exact & (gain > gain.T - _SURE)
        self.confirm([(int(i), int(j)) for i, j in np.argwhere(reversal)])
        return np.where(self.edges, -self.change, self.change)
