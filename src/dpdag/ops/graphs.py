"""Batched graph algorithms on adjacency matrices; ``A[i, j] = 1`` means i → j."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor


@lru_cache(maxsize=8)
def diagonal(n_nodes: int, device: torch.device) -> Tensor:  # (n, n) bool
    """The self-loops that no DAG has; a constant, not to be changed."""
    return torch.eye(n_nodes, dtype=torch.bool, device=device)


def reachability(adjacency: Tensor) -> Tensor:  # (*, n, n) -> (*, n, n) bool
    r"""Transitive closure: entry (i, j) is true when a directed path of length ≥ 1 leads i to j.

    .. math:: R = A \vee A^2 \vee \dots \vee A^n

    computed by repeated squaring, at most :math:`\lceil\log_2 n\rceil` boolean products; of one
    DAG on a CPU from its sinks to its roots, which takes a step for every edge.

    Example:
        >>> chain = torch.tensor([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
        >>> reachability(chain).int().tolist()
        [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    """
    closure = adjacency != 0
    n = closure.shape[-1]
    if closure.ndim == 2 and closure.device.type == "cpu":
        swept = _swept(closure.numpy())
        if swept is not None:
            return torch.from_numpy(swept)
    for _ in range(max(n - 1, 0).bit_length()):
        path = closure.float()
        longer = closure | (path @ path > 0)
        if torch.equal(longer, closure):
            break
        closure = longer
    return closure


def _swept(edges: np.ndarray) -> np.ndarray | None:  # (n, n) bool -> (n, n) bool
    """The transitive closure, effects first, each node's the bits of a number; None of cycles."""
    n = len(edges)
    effects: list[list[int]] = [[] for _ in range(n)]
    waiting = [0] * n
    for cause, effect in zip(*(ends.tolist() for ends in divmod(np.flatnonzero(edges), n))):
        effects[cause].append(effect)
        waiting[effect] += 1
    order = [node for node, count in enumerate(waiting) if not count]
    for node in order:  # which grows
        for effect in effects[node]:
            waiting[effect] -= 1
            if not waiting[effect]:
                order.append(effect)
    if len(order) < n:
        return None
    reached = [0] * n
    for node in reversed(order):
        for effect in effects[node]:
            reached[node] |= reached[effect] | 1 << effect
    width = (n + 7) // 8
    held = np.frombuffer(b"".join(one.to_bytes(width, "little") for one in reached), np.uint8)
    bits = np.unpackbits(held.reshape(n, width), axis=1, count=n, bitorder="little")
    return bits.view(bool)


def is_acyclic(adjacency: Tensor) -> Tensor:  # (*, n, n) -> (*) bool
    r"""Whether each graph has no directed cycle, self-loops included.

    Repeatedly removes all nodes without remaining parents: a graph is acyclic exactly when
    everything can be removed.

    Example:
        >>> is_acyclic(torch.tensor([[[0, 1], [0, 0]], [[0, 1], [1, 0]]])).tolist()
        [True, False]
    """
    return _layers(adjacency).ge(0).all(-1)


def topological_order(adjacency: Tensor) -> Tensor:  # (*, n, n) -> (*, n) nodes, causes first
    r"""Nodes sorted so that every edge points forward; ties in layers go by index.

    Example:
        >>> topological_order(torch.tensor([[0, 0], [1, 0]])).tolist()
        [1, 0]
    """
    layers = _layers(adjacency)
    cyclic = adjacency[(layers < 0).any(-1)]
    if len(cyclic):
        raise ValueError(f"'adjacency' must be acyclic; it has the cycle {find_cycle(cyclic[0])}.")
    return layers.argsort(dim=-1, stable=True)


def _layers(adjacency: Tensor) -> Tensor:  # (*, n, n) -> (*, n)
    """The longest path from a root to each node; -1 on and behind cycles."""
    edges = adjacency != 0
    n = edges.shape[-1]
    layer = torch.full(edges.shape[:-1], -1, dtype=torch.long, device=edges.device)
    for depth in range(n):
        remaining = layer < 0
        blocked = (edges & remaining.unsqueeze(-1)).any(-2)
        ready = remaining & ~blocked
        if not bool(ready.any()):
            break
        layer = layer.masked_fill(ready, depth)
    return layer


def find_cycle(adjacency: Tensor) -> list[int]:  # (n, n)
    r"""One directed cycle as a closed list of nodes, empty when there is none.

    Example:
        >>> find_cycle(torch.tensor([[0, 1, 0], [0, 0, 1], [1, 0, 0]]))
        [0, 1, 2, 0]
    """
    edges = adjacency != 0
    stuck = _layers(edges) < 0
    walk = stuck.nonzero()[:1, 0].tolist()
    # Walk backwards over parents that are themselves stuck until a node repeats.
    while walk and walk.count(walk[-1]) < 2:
        walk.append(int((edges[:, walk[-1]] & stuck).nonzero()[0, 0]))
    return walk[walk.index(walk[-1]) :][::-1] if walk else []


def acyclic_part(
    weights: Tensor,  # (n, n)
    edges: Tensor,  # (n, n) bool
    *,
    keep: Tensor | None = None,  # (n, n) bool
) -> Tensor:  # (n, n) bool
    r"""What is left when the weakest edge of all that lie on cycles is removed, again and again.

    Of the removed edges, the strongest first, those come back that close no cycle any more.

    Arguments:
        weights: How strong each edge is.
        edges: The graph, possibly with cycles.
        keep: Edges without a cycle among them, which are never removed.

    Example:
        >>> weights = torch.tensor([[0.0, 3.0], [2.0, 0.0]])
        >>> acyclic_part(weights, weights > 0).int().tolist()
        [[0, 1], [0, 0]]
    """
    edges = edges & ~diagonal(len(edges), edges.device)
    removable = edges if keep is None else edges & ~keep
    if keep is not None:
        edges |= keep
    reach = reachability(edges)
    removed = []
    # While the graph only shrinks, an edge that is on no cycle at its turn will never be on one.
    for i, j in removable.nonzero()[weights[removable].argsort(stable=True)].tolist():
        if bool(reach[j, i]):
            edges[i, j] = False
            removed.append((i, j))
            reach = reachability(edges)
    for i, j in reversed(removed):
        if not bool(reach[j, i]):
            edges[i, j] = True
            reach = reachability(edges)
    return edges
