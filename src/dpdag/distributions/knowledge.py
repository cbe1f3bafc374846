"""Hard prior knowledge about a graph: forbidden and required edges, tiers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral

import torch
from torch import Tensor

from ..ops.graphs import find_cycle, reachability
from ..ops.labels import Label, label_texts
from ..registry import suggest


@dataclass(frozen=True)
class Constraints:
    """Knowledge resolved for n nodes: what tensors need to know of it.

    Attributes:
        allowed: (n, n) edges that may exist; the diagonal never.
        required: (n, n) edges that must exist.
        before: (n, n) order relations that follow, transitively closed: i precedes j.
        orders: Whether ``before`` relates any two nodes; known without asking the device.
    """

    allowed: Tensor
    required: Tensor
    before: Tensor
    orders: bool

    @property
    def key(self) -> tuple[bytes, ...]:
        """The same for equal constraints."""
        masks = (self.allowed, self.required, self.before)
        return tuple(mask.cpu().numpy().tobytes() for mask in masks)

    def relabelled(self, order: Tensor) -> Constraints:  # (n,)
        """The same with node ``order[k]`` in place k."""
        masks = (self.allowed, self.required, self.before)
        allowed, required, before = (mask[order][:, order] for mask in masks)
        return Constraints(allowed, required, before, self.orders)


@dataclass(frozen=True)
class Knowledge:
    r"""What is known of a graph before seeing data, enforced by construction.

    Arguments:
        forbidden: Edges (source, target) that cannot exist.
        required: Edges (source, target) that must exist.
        tiers: Groups of nodes in causal order: no edge from a later tier to an earlier one.
            Nodes in no tier are free.

    Nodes are given by name, or by index unless some of the names are whole numbers.

    Example:
        >>> known = Knowledge(required=[("b", "c")], tiers=[["a"], ["b", "c"]])
        >>> known.resolve(3, names=["a", "b", "c"]).before.int().tolist()
        [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
        >>> Knowledge(required=[("a", "b"), ("b", "a")])
        Traceback (most recent call last):
        ValueError: 'required' edges contradict each other: a → b → a is a cycle.
    """

    forbidden: Iterable[tuple[Label, Label]] = ()
    required: Iterable[tuple[Label, Label]] = ()
    tiers: Sequence[Sequence[Label]] = ()

    def __post_init__(self) -> None:
        for field in ("forbidden", "required"):
            edges = tuple(_edge(edge, field) for edge in getattr(self, field))
            object.__setattr__(self, field, edges)
        if isinstance(self.tiers, str) or any(isinstance(tier, str) for tier in self.tiers):
            raise ValueError(f"'tiers' must be a list of lists of nodes; got {self.tiers!r}.")
        object.__setattr__(self, "tiers", tuple(tuple(tier) for tier in self.tiers))
        labels = list(dict.fromkeys(self._labels()))
        _constraints(self, {label: k for k, label in enumerate(labels)}, labels)

    def _labels(self) -> list[Label]:
        edges = [node for edge in (*self.forbidden, *self.required) for node in edge]
        return edges + [node for tier in self.tiers for node in tier]

    def resolve(self, n_nodes: int, names: Sequence[Label] | None = None) -> Constraints:
        """Turn names and indices into masks for ``n_nodes`` nodes called ``names``."""
        if names is not None and len(names) != n_nodes:
            raise ValueError(
                f"'names' must have {n_nodes} entries, one per node; got {len(names)}."
            )
        labels: list[Label] = list(range(n_nodes)) if names is None else list(names)
        position: dict[Label, int] = {label: k for k, label in enumerate(labels)}
        indexed = names is None or not any(isinstance(label, Integral) for label in labels)
        if indexed:
            position |= {k: k for k in range(n_nodes)}
        for node in self._labels():
            if node in position:
                continue
            if indexed and isinstance(node, Integral):
                raise ValueError(f"Node {node} in 'knowledge' must be in 0 … {n_nodes - 1}.")
            hint = suggest(node, [label for label in labels if isinstance(label, str)])
            known = ", ".join(label_texts(labels)[:20])
            where = "No names given." if names is None else f"Known: {known}."
            raise ValueError(f"Unknown node {node!r} in 'knowledge'.{hint} {where}")
        return _constraints(self, position, labels)


def _edge(edge: object, field: str) -> tuple[Label, Label]:
    if isinstance(edge, str) or not isinstance(edge, Iterable) or len(pair := tuple(edge)) != 2:
        raise ValueError(f"'{field}' must hold (source, target) pairs; got {edge!r}.")
    if pair[0] == pair[1]:
        raise ValueError(f"'{field}' holds the self-loop {pair[0]} → {pair[1]}; no DAG has one.")
    return pair


def _constraints(
    known: Knowledge, position: dict[Label, int], labels: Sequence[Label]
) -> Constraints:
    n = len(labels)
    allowed = ~torch.eye(n, dtype=torch.bool)
    required = torch.zeros(n, n, dtype=torch.bool)
    for source, target in known.forbidden:
        allowed[position[source], position[target]] = False
    for source, target in known.required:
        required[position[source], position[target]] = True
    clash = (required & ~allowed).nonzero().tolist()
    if clash:
        edges = ", ".join(f"{labels[i]} → {labels[j]}" for i, j in clash)
        raise ValueError(f"'required' and 'forbidden' contradict each other on {edges}.")
    tier_of = torch.full((n,), -1)
    for level, tier in enumerate(known.tiers):
        for node in tier:
            if tier_of[position[node]] >= 0:
                raise ValueError(f"Node {labels[position[node]]!r} stands in 'tiers' twice.")
            tier_of[position[node]] = level
    precedes = required | (tier_of[:, None] < tier_of) & (tier_of[:, None] >= 0)
    circular = find_cycle(required)
    if cycle := circular or find_cycle(precedes):
        path = " → ".join(str(labels[node]) for node in cycle)
        said = "'required' edges" if circular else "'required' edges and 'tiers'"
        raise ValueError(f"{said} contradict each other: {path} is a cycle.")
    before = reachability(precedes)
    return Constraints(allowed & ~before.mT, required, before, orders=bool(before.any()))
