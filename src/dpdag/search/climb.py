"""The state of a search: a graph, and what is known of its neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ..deadline import OutOfTimeError
from ..distributions.knowledge import Constraints
from ..evidence.screened import ScreenedEvidence
from ..ops.graphs import reachability
from .cuts import Network
from .pairs import Pairs
from .prior import EdgePrior

__all__ = ["Change", "Climb", "Edge"]

Edge = tuple[int, int]
Change = tuple[list[Edge], list[Edge]]  # edges to insert, and to remove
_LITTLE = 0.01  # nats that removing any edge costs, so that no more are cut than needed
_ROUNDING = 1e-6  # nats, for which nothing is changed
_SURE = 60.0  # an edge whose screened loss is above this need not be confirmed


class Climb:
    """A graph, what is known of its neighbours, and the way between them."""

    def __init__(
        self,
        evidence: ScreenedEvidence,
        limits: Constraints,
        prior: EdgePrior,
        max_parents: int,
        start: Tensor | None = None,  # (n, n) bool
    ) -> None:
        n = evidence.n_nodes
        self.evidence, self.prior, self.max_parents = evidence, prior, max_parents
        self.allowed = limits.allowed.numpy()
        self.required = limits.required.numpy()
        self.before = limits.before.numpy()
        self.fixed = self.required | self.before  # that no cut may remove
        self._known = Pairs.of(self.before)  # ways that are no edges
        self._network: Network | None = None  # of what removing edges costs, while that holds
        self._overstated = 0.0
        self._paths: np.ndarray | None = None
        first = np.zeros((n, n), bool) if start is None else start.numpy().astype(bool)
        self.edges = first & self.allowed | self.required
        self.present = Pairs.of(self.edges)
        self.change = np.full((n, n), -math.inf)  # by toggling i → j, screened or exact
        self.exact = np.zeros((n, n), bool)
        self.forced = np.zeros((n, n), bool)  # to be confirmed whatever the estimate
        self.tabu = np.zeros((n, n), bool)  # insertions that failed with their cut
        self.widened = np.zeros(n, bool)
        self._tried: dict[tuple[str, int | Edge], tuple[bytes, ...]] = {}  # by move and place
        self.value = evidence.log_evidence(torch.arange(n), self.parents(range(n)))
        self._refresh(list(range(n)))
        self.history = [self.total]

    @property
    def penalty(self) -> float:
        """What one edge more must bring, in nats."""
        return self.prior.cost(len(self.present))

    @property
    def total(self) -> float:
        return float(self.value.sum()) + self.prior.log(len(self.present))

    def parent_counts(self) -> np.ndarray:  # (n,)
        """How many parents every node has."""
        return np.bincount(self.present.child, minlength=len(self.edges))

    def parents(self, child: int | Sequence[int] | np.ndarray) -> Tensor:  # -> (n,) or (b, n)
        """Those of one child, or of several."""
        return torch.from_numpy(self.edges.T[child].copy())

    def reach(self) -> np.ndarray:  # (n, n) bool
        """Where a path leads from i to j, or i must come first anyway."""
        if self._paths is None:
            self._paths = reachability(torch.from_numpy(self.edges | self.before)).numpy()
        return self._paths

    def descendants(self, node: int) -> np.ndarray:  # (n,) bool
        """The same of one node."""
        if self._paths is not None:
            return self._paths[node]
        below, newest = np.zeros(len(self.edges), bool), np.array([node])
        while len(newest):
            after = self.edges[newest].any(0) | self.before[newest].any(0)
            newest = np.flatnonzero(after & ~below)
            below[newest] = True
        return below

    def _refresh(self, children: list[int]) -> None:
        screens = self.evidence.screens(torch.tensor(children), self.parents(children))
        self.change[:, children] = screens.T.numpy()
        self.exact[:, children] = self.evidence.screens_exactly
        self._network = None
        self.forced[:, children] = self.tabu[:, children] = False
        self.widened[children] = False

    def confirm(
        self, edges: Sequence[Edge], bar: float = -math.inf, *, cuts: Sequence[Edge] = ()
    ) -> None:
        """Replace estimates by full evaluations; ones that stay below ``bar`` only roughly.

        Arguments:
            cuts: Further edges, to be evaluated to the end.
        """
        bars = dict.fromkeys(cuts, -math.inf) | dict.fromkeys(edges, bar)
        edges = [edge for edge in bars if not self.exact[edge]]
        if not edges:
            return
        child = torch.tensor([j for _, j in edges])
        parents = self.parents(child.numpy())
        source = torch.tensor([i for i, _ in edges])
        parents[torch.arange(len(edges)), source] ^= True
        base = self.value[child]
        least = base + torch.tensor([bars[edge] for edge in edges], dtype=base.dtype)
        values = self.evidence.reach(child, parents, least)
        for edge, gain in zip(edges, (values - base).tolist()):
            self.change[edge], self.exact[edge] = gain, True
        if any(self.edges[edge] for edge in edges):
            self._network = None

    def loss(self, edges: list[Edge]) -> float:
        """Nats that removing edges costs, one by one."""
        penalty = self.penalty
        return -sum(float(self.change[edge]) + penalty for edge in edges)

    def cut(
        self, i: int, j: int, most: float = math.inf, *, roughly: bool = False
    ) -> list[Edge] | None:
        """The cheapest removals that let i → j in.

        None where required relations forbid it, or where it is sure to cost more than ``most``;
        or seems to, if that is asked for ``roughly``.
        """
        if self._network is None:
            loss = -(self.present.read(self.change) + self.penalty)
            cost = np.maximum(loss, _LITTLE)
            self._overstated = float((cost - loss).sum())
            cost[self.present.read(self.fixed)] = math.inf
            every = Pairs(np.union1d(self.present.index, self._known.index), len(self.edges))
            capacity = np.full(len(every), math.inf)
            capacity[np.searchsorted(every.index, self.present.index)] = cost
            self._network = Network(every, capacity)
        # Estimates may be too high; what is known exactly is too high by as much as overstated.
        known = roughly or self.evidence.screens_exactly
        sure = most + self._overstated if known else math.inf
        cut = self._network.cut(j, i, most=sure)
        return None if cut is None or any(self.fixed[edge] for edge in cut) else cut

    def freeing(
        self, child: int, nodes: Sequence[int] | np.ndarray | None = None, *, most: float = math.inf
    ) -> tuple[np.ndarray, dict[int, list[Edge]]]:  # (n,)
        """What freeing each node from being a descendant costs, and the edges to remove for it.

        Infinite where it costs more than ``most``, and for parents and forbidden ones; known of
        some ``nodes`` alone, if not of all.
        """
        cost = np.where(self.allowed[:, child] & ~self.edges[:, child], 0.0, math.inf)
        cuts = {}
        below = np.flatnonzero(self.descendants(child) & (cost == 0))
        for node in (below if nodes is None else np.intersect1d(below, nodes)).tolist():
            cut = self.cut(node, child, most)
            loss = math.inf if cut is None else self.loss(cut)
            cost[node] = max(loss, 0.0) if loss < most else math.inf
            if cut is not None:
                cuts[node] = cut
        return cost, cuts

    def is_new(self, move: str, place: int | Edge, *situation: np.ndarray) -> bool:
        """Whether a kind of move has not been tried on a node or an edge where it stands now."""
        now = tuple(part.tobytes() for part in situation)
        before, self._tried[move, place] = self._tried.get((move, place)), now
        return now != before

    def adopt(
        self,
        child: int,
        nodes: list[int],
        *,
        remove: Sequence[Edge] = (),
        most: float = math.inf,
    ) -> bool:
        """Make nodes parents, each freed from being a descendant for less than ``most``.

        Arguments:
            remove: Edges that go along with those cut.
        """
        # What cuts cost and which there are depends on the changes before.
        cost, cuts = self.freeing(child, nodes, most=most)
        if not (cost[nodes] < math.inf).all():
            return False
        cut = sorted({edge for node in nodes for edge in cuts.get(node, [])})
        return self.apply([(node, child) for node in nodes], [*cut, *remove])

    def apply(self, insert: list[Edge], remove: list[Edge]) -> bool:
        """Change edges, or leave them where together that costs more than one by one."""
        return self.apply_all([(insert, remove)])

    def apply_all(self, changes: list[Change]) -> bool:
        """Make changes of edges, one after the other; whether any was made.

        One that concerns a child of those before it waits for another time, as does one that now
        would close a cycle.
        """
        chosen: list[Change] = []
        taken: set[int] = set()
        for insert, remove in changes:
            children = {j for _, j in insert + remove}
            if taken.isdisjoint(children):
                taken |= children
                chosen.append((insert, remove))
        fresh = self.foresee(chosen)
        value, steps = self.value.clone(), len(self.history)
        made: list[Edge] = []
        for insert, remove in chosen:
            if self._make(insert, remove, fresh, careful=bool(made)):
                made += insert + remove
        if not made:
            return False
        try:
            self._refresh(sorted({j for _, j in made}))
        except OutOfTimeError:  # all of a change or nothing of it
            self._toggle(made)
            self.value = value
            del self.history[steps:]
            raise
        return True

    def foresee(self, changes: list[Change]) -> Tensor:  # -> (n,)
        """Evidence of all children after changes, asked at once: making one then costs little."""
        value = self.value.clone()
        child: list[int] = []
        parents: list[np.ndarray] = []
        for insert, remove in changes:
            toggled = insert + remove
            families = {j: self.edges[:, j].copy() for _, j in toggled}
            if self.evidence.screens_exactly and len(families) == len(toggled):
                for edge in toggled:
                    value[edge[1]] += self.change[edge]
                continue
            for i, j in toggled:
                families[j][i] ^= True
            child += families.keys()
            parents += families.values()
        if child:
            which = torch.tensor(child)
            value[which] = self.evidence.log_evidence(which, torch.from_numpy(np.stack(parents)))
        return value

    def _make(
        self, insert: list[Edge], remove: list[Edge], fresh: Tensor, *, careful: bool
    ) -> bool:  # (n,)
        """One of several changes, where it raises the total and, if others came before, can be."""
        before, value = self.total, self.value.clone()
        self._toggle(remove)
        for k, (i, j) in enumerate(insert):
            if careful and self.descendants(j)[i]:
                self._toggle(remove + insert[:k])
                return False
            self._toggle([(i, j)])
        children = sorted({j for _, j in insert + remove})
        self.value[children] = fresh[children]
        if self.total > before + _ROUNDING:
            self.history.append(self.total)
            return True
        self._toggle(remove + insert)
        self.value = value
        if not insert and len(remove) == 1:  # its estimate was wrong, and would be tried for ever
            child = remove[0][1]
            self.change[remove[0]] = float(fresh[child] - value[child])
        elif len(insert) == 1:
            self.tabu[insert[0]] = True
        return False

    def _toggle(self, edges: list[Edge]) -> None:
        if not edges:
            return
        source, child = (list(ends) for ends in zip(*edges))
        self.edges[source, child] ^= True
        toggled = np.unique(np.ravel_multi_index((source, child), self.edges.shape))
        index = np.setxor1d(self.present.index, toggled, assume_unique=True)
        self.present, self._network = Pairs(index, len(self.edges)), None
        paths, self._paths = self._paths, None
        if len(edges) == 1 and paths is not None and self.edges[edges[0]]:
            above, below = paths[:, source[0]].copy(), paths[child[0]].copy()
            above[source] = below[child] = True
            paths[above] |= below
            self._paths = paths

    def gains(self) -> np.ndarray:  # (n, n)
        """What each edge brings, present or not."""
        return np.where(self.edges, -self.change, self.change)

    def confirm_doubtful(self) -> None:
        """Confirm weak present edges, and both sides of reversals that seem to lose little.

        How sure a direction is hangs on them.
        """
        weak = self.present.read(self.change) > -_SURE
        self.confirm(self.present[weak].edges(), -_SURE)
        gain = self.gains()
        reversal = self.edges.T & self.allowed & (gain > gain.T - _SURE)
        self.confirm(Pairs.of(reversal | (reversal.T & self.edges)).edges())
