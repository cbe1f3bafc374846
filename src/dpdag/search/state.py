"""The graphs of a search, what is known of their neighbours, and the legal moves."""

from __future__ import annotations

import torch
from torch import Tensor

from ..evidence.base import Evidence
from ..ops.graphs import reachability

__all__ = ["SearchState", "connect"]


class SearchState:
    """Several DAGs, changed one edge at a time, with the worth of every change kept up to date.

    Arguments:
        evidence: Of one or more replicas; each has its own graph.
        start: (replicas, n, n) bool DAGs.
        allowed: (n, n) edges that may be added.
        required: (n, n) edges that must stay.
        before: (n, n) order relations that must hold.
        max_parents: Of any node.
        moves: The moves to keep gains for, in the order of :attr:`MOVES`.
    """

    MOVES = ("add", "delete", "reverse")

    def __init__(
        self,
        evidence: Evidence,
        *,
        start: Tensor,
        allowed: Tensor,
        required: Tensor,
        before: Tensor,
        max_parents: int,
        moves: tuple[str, ...],
    ) -> None:
        self.evidence, self.moves = evidence, moves
        self.allowed, self.required, self.max_parents = allowed, required, max_parents
        self.before = before
        self.adjacency = start.clone()
        self.reach = reachability(start | before)  # (r, n, n) i ⇝ j
        n = evidence.n_nodes
        child = torch.arange(len(start) * n)
        self.value = evidence.log_evidence(child, start.mT.reshape(-1, n)).reshape(-1, n)
        # (r, child, parent): worth of adding or removing each single parent; NaN where not known.
        self.toggle = torch.full(start.shape, torch.nan, dtype=torch.float64)

    @property
    def gain(self) -> Tensor:  # (r, n, n)
        """Worth of toggling i → j."""
        return self.toggle.mT

    def legal(self) -> Tensor:  # -> (moves, r, n, n) bool
        """Where each move keeps the graph acyclic and all constraints satisfied."""
        edges, room = self.adjacency, self.adjacency.sum(-2) < self.max_parents
        add = self.allowed & ~edges & ~self.reach.mT & room.unsqueeze(-2)
        delete = edges & ~self.required
        legal = {"add": add, "delete": delete}
        if "reverse" in self.moves:
            # After reversing i → j another path i ⇝ j would close a cycle.
            detour = ((edges | self.before).float() @ self.reach.float()) > 0
            legal["reverse"] = delete & self.allowed.mT & ~detour & room.unsqueeze(-1)
        return torch.stack([legal[move] for move in self.moves])

    def gains(self, penalty: float) -> Tensor:  # -> (moves, r, n, n)
        """Evidence minus penalty won by each legal move, −∞ elsewhere."""
        legal = self.legal()
        self.refresh(self._needed(legal))
        won = {
            "add": self.gain - penalty,
            "delete": self.gain + penalty,
            "reverse": self.gain + self.gain.mT,
        }
        stacked = torch.stack([won[move] for move in self.moves])
        return torch.where(legal, stacked, -torch.inf)

    def refresh(self, needed: Tensor) -> None:  # (r, n, n) bool
        """Evaluate the toggles asked for and not known, all children in one request."""
        missing = needed.mT & self.toggle.isnan()
        replica, node = missing.any(-1).nonzero(as_tuple=True)
        if len(node):
            parents, which = self.adjacency.mT[replica, node], missing[replica, node]
            child = replica * self.evidence.n_nodes + node
            toggled = self.evidence.toggles(child, parents, which)
            fresh = toggled - self.value[replica, node].unsqueeze(-1)
            self.toggle[replica, node] = torch.where(which, fresh, self.toggle[replica, node])

    def apply(self, move: str, replica: int, source: int, target: int) -> None:
        """Make one legal move."""
        edges, gain = self.adjacency[replica], self.gain[replica]  # views
        changed = [target] if move != "reverse" else [target, source]
        self.value[replica, target] += gain[source, target]
        if move == "reverse":
            self.value[replica, source] += gain[target, source]
            edges[target, source] = True
        edges[source, target] = move == "add"
        gain[:, changed] = torch.nan
        if move == "add":
            connect(self.reach[replica], source, target)
        else:
            self.reach[replica] = reachability(edges | self.before)

    def _needed(self, legal: Tensor) -> Tensor:  # (moves, r, n, n) -> (r, n, n)
        needed = legal.any(0)
        if "reverse" in self.moves:
            needed |= legal[self.moves.index("reverse")].mT
        return needed


def connect(reach: Tensor, source: int, target: int) -> None:  # (n, n) bool, changed in place
    """Extend a transitive closure by one edge."""
    above, below = reach[:, source].clone(), reach[target].clone()
    above[source] = below[target] = True
    reach |= above[:, None] & below
