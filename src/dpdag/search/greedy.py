"""Greedy search over DAGs: the best single-edge change, again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..distributions.knowledge import Constraints, Knowledge
from ..evidence.base import Evidence
from ..ops.graphs import find_cycle, topological_order
from ..registry import suggest
from .state import SearchState

__all__ = ["SearchResult", "greedy"]

Row = dict[str, Any]
TOLERANCE = 1e-6  # nats: smaller improvements are rounding


@dataclass(frozen=True)
class SearchResult:
    """What a search found; with a leading replica axis where the evidence has one.

    Attributes:
        adjacency: (*, n, n) bool.
        order: (*, n) nodes, causes first.
        loss: (*, n, n) evidence lost by dropping an edge, in nats; zero where there is none.
        gain: (*, n, n) evidence gained by adding an edge; zero where there is one, or where it is
            forbidden or closes a cycle.
        log_evidence: (*) of the whole graph.
        history: One dictionary per step.
    """

    adjacency: Tensor
    order: Tensor
    loss: Tensor
    gain: Tensor
    log_evidence: Tensor
    history: list[Row]

    def first(self) -> SearchResult:
        """The first replica's result, without the replica axis."""
        return SearchResult(
            adjacency=self.adjacency[0],
            order=self.order[0],
            loss=self.loss[0],
            gain=self.gain[0],
            log_evidence=self.log_evidence[0],
            history=self.history,
        )

    @staticmethod
    def join(parts: Sequence[SearchResult]) -> SearchResult:
        """Results with replica axes, one after the other."""
        return SearchResult(
            adjacency=torch.cat([part.adjacency for part in parts]),
            order=torch.cat([part.order for part in parts]),
            loss=torch.cat([part.loss for part in parts]),
            gain=torch.cat([part.gain for part in parts]),
            log_evidence=torch.cat([part.log_evidence for part in parts]),
            history=[row for part in parts for row in part.history],
        )

    @property
    def edge_scores(self) -> Tensor:  # (*, n, n)
        r"""Present edges by the evidence they carry, all others by what they would add, below.

        .. math:: s = 1 + \max(\text{loss}, 0), \qquad
                  s = \tfrac12 \bigl(1 + g / (1 + |g|)\bigr) \text{ with } g = \text{gain}

        and zero where an edge is impossible.
        """
        present = 1 + self.loss.clamp_min(0)
        hoped = torch.where(self.gain == 0, 0.0, 0.5 + 0.5 * self.gain / (1 + self.gain.abs()))
        return torch.where(self.adjacency, present, hoped)


def greedy(
    evidence: Evidence,
    *,
    moves: Sequence[str] = ("add",),
    constraints: Constraints | None = None,
    candidates: Tensor | None = None,  # (n, n) bool
    start: Tensor | None = None,  # (n, n) or (replicas, n, n)
    max_parents: int | None = None,
    penalty: float = 0.0,
    max_steps: int | None = None,
    progress: Callable[[Row], None] | None = None,
) -> SearchResult:
    r"""Change one edge at a time while that raises evidence minus ``penalty`` per edge.

    .. math:: \max_A \sum_v \log p(x_v \mid x_{\mathrm{pa}(v)}) - \text{penalty} \cdot |A|

    All replicas of the evidence move in step: each sweep asks for the neighbours of every parent
    set that changed, in one request.

    Arguments:
        evidence: Any evidence.
        moves: Which of "add", "delete" and "reverse" to use; ("add",) is CAM's search.
        constraints: Edges that must, may or may not exist.
        candidates: Edges to consider; everything where None.
        start: A DAG to start from; the required edges where None.
        max_parents: At most so many parents per node.
        penalty: Nats an edge must be worth.
        max_steps: Stop after so many changes.
        progress: Called after every change with the row of ``history``.

    References:
        Bühlmann, Peters & Ernest, *CAM: causal additive models*, 2014.
        Chickering, *Optimal structure identification with greedy search*, 2002.
    """
    n, replicas = evidence.n_nodes, evidence.n_replicas
    rules = constraints or Knowledge().resolve(n)
    _check(evidence, moves, candidates, max_parents)
    possible = rules.allowed if candidates is None else rules.allowed & candidates
    state = SearchState(
        evidence,
        start=_start(start, rules, replicas or 1),
        allowed=possible | rules.required,
        required=rules.required,
        before=rules.before,
        max_parents=n if max_parents is None else max_parents,
        moves=tuple(move for move in SearchState.MOVES if move in moves),
    )
    history = _climb(state, penalty=penalty, max_steps=max_steps, progress=progress)
    result = _result(state, history)
    return result if replicas is not None else result.first()


def _climb(
    state: SearchState,
    *,
    penalty: float,
    max_steps: int | None,
    progress: Callable[[Row], None] | None,
) -> list[Row]:
    """Make the best move of every replica until none helps."""
    history: list[Row] = []
    while max_steps is None or len(history) < max_steps:
        gains = state.gains(penalty).transpose(0, 1).flatten(1)  # (r, moves·n·n)
        best, place = gains.max(-1)
        improving = (best > TOLERANCE).nonzero()[:, 0].tolist()
        if not improving:
            break
        shape = (len(state.moves), *state.adjacency.shape[1:])
        for replica in improving:
            move, source, target = np.unravel_index(int(place[replica]), shape)
            state.apply(state.moves[move], replica, int(source), int(target))
        history.append(
            {
                "step": len(history) + 1,
                "log_evidence": float(state.value.sum(-1).mean()),
                "edges": float(state.adjacency.sum((-2, -1)).double().mean()),
                "gain": float(best[improving].mean()),
            }
        )
        if progress is not None:
            progress(history[-1])
    return history


def _result(state: SearchState, history: list[Row]) -> SearchResult:
    edges = state.adjacency
    possible = state.allowed & ~edges & ~state.reach.mT
    state.refresh(edges | possible)
    return SearchResult(
        adjacency=edges,
        order=topological_order(edges | state.before),
        loss=torch.where(edges, -state.gain, 0.0),
        gain=torch.where(possible, state.gain, 0.0),
        log_evidence=state.value.sum(-1),
        history=history,
    )


def _start(start: Tensor | None, rules: Constraints, replicas: int) -> Tensor:  # -> (r, n, n)
    n = len(rules.required)
    if start is not None and start.shape[-2:] != (n, n):
        raise ValueError(f"'start' must end in ({n}, {n}); got shape {tuple(start.shape)}.")
    graph = rules.required if start is None else (start != 0) | rules.required
    if cycle := find_cycle(graph | rules.before):
        path = " → ".join(map(str, cycle))
        raise ValueError(f"'start' with the required edges has the cycle {path}.")
    return graph.expand(replicas, n, n)


def _check(
    evidence: Evidence, moves: Sequence[str], candidates: Tensor | None, max_parents: int | None
) -> None:
    n = evidence.n_nodes
    known = list(SearchState.MOVES)
    if isinstance(moves, str) or not moves:
        raise ValueError(f"'moves' must be a tuple of {known}; got {moves!r}.")
    for move in moves:
        if move not in known:
            raise ValueError(f"Unknown move {move!r}.{suggest(move, known)} Known: {known}.")
    if candidates is not None and candidates.shape != (n, n):
        raise ValueError(f"'candidates' must be ({n}, {n}); got {tuple(candidates.shape)}.")
    if max_parents is not None and max_parents < 1:
        raise ValueError(f"'max_parents' must be at least 1; got {max_parents}.")
