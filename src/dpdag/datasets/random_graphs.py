"""Random DAGs: (n, n) matrices with ``A[i, j] = 1`` for i → j, nodes in random order.

Only uniform numbers are drawn, and permutations are their ranks: of all of numpy's streams this
is the one least likely to change, so a seed means the same graph on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..registry import Registry
from ..seeding import numpy_generator

IntArray = NDArray[np.int64]
GraphFamily = Callable[..., IntArray]

GRAPHS: Registry[GraphFamily] = Registry("graph family")


@GRAPHS.register("ER")
def erdos_renyi(n_nodes: int, n_edges: float, *, random_state: Any = None) -> IntArray:
    r"""Erdős–Rényi DAG: every pair is joined with the same probability, along a random order.

    .. math:: P(i - j) = m / \tbinom n2

    Arguments:
        n_nodes: Number n of nodes.
        n_edges: Number m of edges in expectation.
        random_state: None, an integer, or a numpy generator.

    Example:
        >>> erdos_renyi(4, 6, random_state=0).sum()
        np.int64(6)
    """
    pairs = n_nodes * (n_nodes - 1) // 2
    rng = _generator(n_nodes, n_edges, most=pairs, random_state=random_state)
    forward = np.triu(rng.random((n_nodes, n_nodes)) * pairs < n_edges, k=1)
    return _relabelled(forward, rng)


@GRAPHS.register("SF")
def scale_free(n_nodes: int, n_edges: float, *, random_state: Any = None) -> IntArray:
    r"""Scale-free DAG by preferential attachment, its edges pointing *into* the hubs.

    Nodes arrive one by one. A new node becomes a parent of k = m / n earlier ones (of all, where
    there are fewer), drawn without replacement with

    .. math:: P(\text{new} \to j) \propto 1 + \text{number of parents of } j ,

    so an early node is a child with many parents. A fractional k is rounded up or down at random
    for each node, to its mean. As the first arrivals find few others, whole k give
    :math:`kn - k(k+1)/2` edges: 9 for SF-10-10 as in the benchmark's files.

    Arguments:
        n_nodes: Number n of nodes.
        n_edges: Nominal number m of edges; m / n is what each new node brings.
        random_state: None, an integer, or a numpy generator.

    References:
        | Emergence of scaling in random networks (Barabási & Albert, 1999)

    Example:
        >>> scale_free(10, 10, random_state=0).sum(1).max()  # each has one child at most
        np.int64(1)
    """
    return _attach(n_nodes, n_edges, random_state)


@GRAPHS.register("BA")
def barabasi_albert(n_nodes: int, n_edges: float, *, random_state: Any = None) -> IntArray:
    r"""Scale-free DAG as :func:`scale_free`, with children counted too: flatter hubs.

    .. math:: P(\text{new} \to j) \propto 1 + \text{number of neighbours of } j

    Example:
        >>> barabasi_albert(50, 200, random_state=0).sum()
        np.int64(190)
    """
    return _attach(n_nodes, n_edges, random_state, children_count=True)


def _attach(
    n_nodes: int, n_edges: float, random_state: Any, *, children_count: bool = False
) -> IntArray:
    """Preferential attachment by the parents of a node, or by its parents and children."""
    pairs = n_nodes * (n_nodes - 1) // 2
    rng = _generator(n_nodes, n_edges, most=pairs, random_state=random_state)
    links = np.floor(n_edges / n_nodes + rng.random(n_nodes)).astype(int)
    adjacency = np.zeros((n_nodes, n_nodes), dtype=np.int64)
    for new in range(1, n_nodes):
        weight = 1.0 + adjacency[:, :new].sum(0)
        if children_count:
            weight += adjacency[:new].sum(1)
        # The k smallest exponential arrival times are a weighted draw without replacement.
        arrival = -np.log1p(-rng.random(new)) / weight
        adjacency[new, np.argsort(arrival, kind="stable")[: links[new]]] = 1
    return _relabelled(adjacency, rng)


@GRAPHS.register("BP")
def bipartite(
    n_nodes: int, n_edges: float, *, causes: float = 0.2, random_state: Any = None
) -> IntArray:
    r"""Bipartite DAG: a fraction of the nodes are causes, all others their effects.

    .. math:: P(i \to j) = m / (c (n - c)), \quad i \text{ a cause}, j \text{ an effect}

    Arguments:
        n_nodes: Number n of nodes.
        n_edges: Number m of edges in expectation.
        causes: Fraction of nodes that are causes; at least one is, and one is not.
        random_state: None, an integer, or a numpy generator.

    Example:
        >>> bipartite(10, 16, random_state=0).sum()  # 2 causes, 8 effects: all pairs
        np.int64(16)
    """
    if not 0 < causes < 1:
        raise ValueError(f"'causes' must be in (0, 1); got {causes}.")
    c = min(max(round(causes * n_nodes), 1), n_nodes - 1)
    rng = _generator(n_nodes, n_edges, most=c * (n_nodes - c), random_state=random_state)
    forward = np.zeros((n_nodes, n_nodes), dtype=bool)
    forward[:c, c:] = rng.random((c, n_nodes - c)) * (c * (n_nodes - c)) < n_edges
    return _relabelled(forward, rng)


@GRAPHS.register("WS")
def small_world(
    n_nodes: int, n_edges: float, *, rewiring: float = 0.1, random_state: Any = None
) -> IntArray:
    r"""Small-world DAG: neighbours on a ring are joined, some edges rewired at random.

    Every node is joined to its m / n successors on a ring; each edge moves to a random free pair
    with probability ``rewiring``; directions follow a random order of the nodes.

    Arguments:
        n_nodes: Number n of nodes.
        n_edges: Exact number m of edges: whole rings first, then a random part of the next.
        rewiring: Probability that an edge is moved.
        random_state: None, an integer, or a numpy generator.

    References:
        | Collective dynamics of small-world networks (Watts & Strogatz, 1998)

    Example:
        >>> small_world(10, 23, random_state=0).sum()
        np.int64(23)
    """
    pairs = n_nodes * (n_nodes - 1) // 2
    rng = _generator(n_nodes, n_edges, most=pairs, random_state=random_state)
    if not 0 <= rewiring <= 1:
        raise ValueError(f"'rewiring' must be in [0, 1]; got {rewiring}.")
    source, target = np.triu_indices(n_nodes, k=1)
    step = np.minimum(target - source, n_nodes - target + source)
    m = round(n_edges)
    ring = np.lexsort((rng.random(pairs), step))  # near pairs first, ties in random order
    moved = rng.random(m) < rewiring
    free = np.concatenate([ring[:m][moved], ring[m:]])
    elsewhere = free[np.argsort(rng.random(free.size), kind="stable")][: int(moved.sum())]
    chosen = np.concatenate([ring[:m][~moved], elsewhere])
    joined = np.zeros((n_nodes, n_nodes), dtype=bool)
    joined[source[chosen], target[chosen]] = True
    rank = _permutation(n_nodes, rng)
    return ((joined | joined.T) & (rank[:, None] < rank)).astype(np.int64)


def _generator(
    n_nodes: int, n_edges: float, *, most: int, random_state: Any
) -> np.random.Generator:
    """Of numbers for a graph of a possible size."""
    if n_nodes < 2:
        raise ValueError(f"'n_nodes' must be at least 2; got {n_nodes}.")
    if not 0 <= n_edges <= most:
        raise ValueError(
            f"'n_edges' must be in 0 … {most} for such a DAG of {n_nodes} nodes; got {n_edges:g}."
        )
    return numpy_generator(random_state, "graph")


def _permutation(n: int, rng: np.random.Generator) -> IntArray:
    return np.argsort(rng.random(n), kind="stable").astype(np.int64)


def _relabelled(adjacency: NDArray[Any], rng: np.random.Generator) -> IntArray:
    order = _permutation(adjacency.shape[0], rng)
    return adjacency[np.ix_(order, order)].astype(np.int64)
