"""Tables of ten columns and 500 rows, drawn from functions that the evidence expects."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from ... import datasets
from ...datasets.mechanisms import standardised
from ...ops.graphs import topological_order
from ..measures import Array

Graph = NDArray[np.int64]
Effect = Callable[[Array, np.random.Generator], Array]  # (rows, p) parents -> (rows,)

NODES, EDGES, ROWS = 10, 13, 500


def additive(parents: Array, rng: np.random.Generator) -> Array:
    """A sum of curves and Gaussian noise."""
    value = datasets.AdditiveGP().draw(standardised(parents), rng)
    return value + 0.4 * rng.normal(size=len(parents))


def joint(parents: Array, rng: np.random.Generator) -> Array:
    """A process of all causes together and Gaussian noise."""
    return datasets.GP().draw(standardised(parents), rng) + 0.3 * rng.normal(size=len(parents))


def lines(parents: Array, rng: np.random.Generator) -> Array:
    """Lines and Laplace noise."""
    return datasets.Linear().draw(standardised(parents), rng) + rng.laplace(size=len(parents))


EFFECTS: dict[str, Effect] = {"additive": additive, "joint": joint, "lines": lines}


def any_root(rows: int, rng: np.random.Generator) -> Array:
    """Gaussian, uniform, skewed, or a mixture of two."""
    z = rng.normal(size=rows)
    uniform = torch.special.ndtr(torch.from_numpy(z)).numpy()
    kinds = z, uniform, np.exp(0.6 * z), z + 2.5 * (rng.random(rows) < 0.4)
    return kinds[rng.integers(len(kinds))]


def effects_of(graph: Graph) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Columns that have causes, and which these are, causes first."""
    for node in topological_order(torch.from_numpy(graph)).tolist():
        if graph[:, node].any():
            yield node, graph[:, node] == 1


def drawn_graph(rng: np.random.Generator, nodes: int = NODES, edges: int = EDGES) -> Graph:
    """An Erdős–Rényi graph."""
    return datasets.erdos_renyi(nodes, edges, random_state=int(rng.integers(2**31)))


def drawn_rows(
    graph: Graph,
    effect: Effect,
    rng: np.random.Generator,
    *,
    rows: int = ROWS,
    root: Callable[[int, np.random.Generator], Array] = any_root,
) -> Array:  # -> (rows, n)
    """Rows of a graph, with the same kind of effect everywhere."""
    X = np.stack([root(rows, rng) for _ in range(len(graph))], 1)
    for node, causes in effects_of(graph):
        X[:, node] = effect(X[:, causes], rng)
    return X


def before_hiding(rng: np.random.Generator) -> tuple[Array, Graph, Graph]:
    """A table, its graph, and the columns that stay: all but the two with most effects."""
    effect = [additive, joint][rng.integers(2)]
    graph = drawn_graph(rng, NODES + 2, EDGES + 7)
    kept = np.sort(np.argsort(-graph.sum(1), kind="stable")[2:])
    return drawn_rows(graph, effect, rng), graph, kept
