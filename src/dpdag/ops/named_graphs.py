"""Graphs and scores in any form, brought to matrices over the same nodes in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .graphs import find_cycle
from .labels import Label, are_positions, label_texts

Names = Sequence[Label] | None


@dataclass(frozen=True)
class Matrix:
    """An (n, n) matrix, row → column, with what is known of its nodes.

    Attributes:
        values: The entries.
        names: Labels of the nodes; None for a bare matrix.
        ordered: Whether the order of the nodes was given (a table) or is arbitrary (a graph).
        what: The argument it came as, for errors.
    """

    values: NDArray[Any]
    names: list[Label] | None
    ordered: bool
    what: str

    @property
    def labels(self) -> list[Label]:
        """Names of the nodes, or their positions."""
        return list(range(len(self.values))) if self.names is None else self.names

    @property
    def nameless(self) -> bool:
        """Whether nodes are known by position only, which files turn into text."""
        return are_positions(self.labels) or self.labels == label_texts(range(len(self.labels)))


def graph_pair(
    first: Any, second: Any, names: Names, *, what: tuple[str, str], acyclic: tuple[bool, bool]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two 0/1 matrices over the same nodes in the same order."""
    one, other = (
        read_graph(graph, label, acyclic=dag)
        for graph, label, dag in zip((first, second), what, acyclic)
    )
    one, other = _aligned(one, other, names)
    return one.values, other.values


def scores_and_truth(
    scores: Any, truth: Any, names: Names, *, what: str = "scores"
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A matrix of scores and the acyclic 0/1 truth, over the same nodes in the same order."""
    true = read_graph(truth, "truth", acyclic=True)
    scored = _aligned(true, _read(scores, what, weighted=True), names)[1]
    return scored.values, true.values


def read_graphs(samples: Any, like: Matrix, names: Names) -> NDArray[np.int64]:
    """(k, n, n) 0/1 matrices in the node order of ``like``, from an array or a list of graphs."""
    if len(samples) == 0:
        raise ValueError("'samples' must hold at least one graph; it is empty.")
    if not isinstance(samples, (np.ndarray, torch.Tensor)) or samples.ndim != 3:
        graphs = [read_graph(graph, "samples", acyclic=False) for graph in samples]
        return np.stack([_aligned(like, graph, names)[1].values for graph in graphs])
    # One graph stands for all: an entry of any is an edge of it, and its places are theirs.
    stack = samples if isinstance(samples, np.ndarray) else _from_torch(samples)
    if not np.isin(stack, (0, 1)).all():
        raise ValueError("'samples' must hold 0/1 adjacency matrices; they hold other values.")
    union = read_graph(stack.any(0), "samples", acyclic=False)
    n = len(union.values)
    places = replace(union, values=np.arange(n * n).reshape(n, n))
    order = _aligned(like, places, names)[1].values.ravel()
    return stack.reshape(-1, n * n)[:, order].reshape(-1, n, n).astype(np.int64)


def align_graph(graph: Any, names: Names, *, what: str, names_of: str = "names") -> Matrix:
    """An acyclic 0/1 matrix, in the order of ``names`` where they are given, as ``names_of``."""
    found = read_graph(graph, what, acyclic=True)
    if names is None:
        return found
    frame = Matrix(np.zeros((len(names), len(names))), list(names), True, names_of)
    return replace(_aligned(frame, found, names)[1], ordered=True)


def read_graph(graph: Any, what: str, *, acyclic: bool) -> Matrix:
    """A 0/1 matrix without self-loops and, if ``acyclic``, without any cycle."""
    matrix = _read(graph, what, weighted=False)
    other = matrix.values[~np.isin(matrix.values, (0, 1))]
    if other.size:
        raise ValueError(
            f"'{what}' must be a 0/1 adjacency matrix; it holds {other[0]:g}. "
            "Threshold scores first."
        )
    edges = matrix.values.astype(np.int64)
    label = label_texts(matrix.labels)
    loops = np.flatnonzero(edges.diagonal())
    if loops.size:
        raise ValueError(f"'{what}' must have no self-loops; it has one at {label[loops[0]]}.")
    if acyclic and (cycle := find_cycle(torch.from_numpy(edges))):
        path = " → ".join(label[node] for node in cycle)
        raise ValueError(f"'{what}' must be acyclic; it has the cycle {path}.")
    return replace(matrix, values=edges)


def _read(graph: Any, what: str, *, weighted: bool) -> Matrix:
    """Finite numbers; of a graph one for each edge or, ``weighted``, its score or weight."""
    if hasattr(graph, "is_directed"):
        matrix = _from_networkx(graph, what, weighted=weighted)
    elif hasattr(graph, "columns") and hasattr(graph, "index"):
        matrix = Matrix(graph.to_numpy(), _frame_names(graph, what), True, what)
    elif isinstance(graph, torch.Tensor):
        matrix = Matrix(_from_torch(graph), None, True, what)
    else:
        matrix = Matrix(np.asarray(graph), None, True, what)
    values = matrix.values
    if values.ndim != 2 or values.shape[0] != values.shape[1] or values.shape[0] == 0:
        raise ValueError(f"'{what}' must be a square (n, n) matrix; got shape {values.shape}.")
    if values.dtype.kind not in "biuf":
        raise ValueError(f"'{what}' must hold numbers; got {values.dtype}.")
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"'{what}' must be finite; it holds NaN or infinite entries.")
    return replace(matrix, values=values)


def _from_torch(values: torch.Tensor) -> NDArray[Any]:
    values = values.detach().cpu()
    return (values.double() if values.is_floating_point() else values).numpy()  # bfloat16 too


def _frame_names(frame: Any, what: str) -> list[Label]:
    columns, index = list(frame.columns), list(frame.index)
    if columns != index and label_texts(columns) != label_texts(index):
        raise ValueError(
            f"'{what}' must have the same names in rows and columns, in the same order; "
            f"got rows {index[:5]} and columns {columns[:5]}."
        )
    if len(set(index)) < len(index):
        raise ValueError(f"'{what}' must name every node differently; some names stand twice.")
    return index  # files keep numbers there, where they turn those of columns into text


def _from_networkx(graph: Any, what: str, *, weighted: bool) -> Matrix:
    if not graph.is_directed() or graph.is_multigraph():
        raise ValueError(f"'{what}' must be a networkx.DiGraph; got {type(graph).__name__}.")
    nodes = list(graph.nodes)
    numbered = set(nodes) == set(range(len(nodes)))
    nodes = sorted(nodes) if numbered else nodes
    position = {node: k for k, node in enumerate(nodes)}
    values = np.zeros((len(nodes), len(nodes)))
    for source, target, data in graph.edges(data=True):
        weight = data.get("score", data.get("weight", 1.0)) if weighted else 1.0
        values[position[source], position[target]] = weight
    return Matrix(values, nodes, numbered, what)


def _aligned(first: Matrix, second: Matrix, names: Names) -> tuple[Matrix, Matrix]:
    """Bring the second matrix into the node order of the first, by name."""
    both = f"'{first.what}' and '{second.what}'"
    sizes = first.values.shape[0], second.values.shape[0]
    if sizes[0] != sizes[1] and (first.nameless or second.nameless):
        raise ValueError(f"{both} must have the same nodes; got {sizes[0]} and {sizes[1]} nodes.")
    first, second = _named(first, names), _named(second, names)
    order = places(first.labels, second.labels)
    if order is not None:
        values = second.values[np.ix_(order, order)]
        return first, replace(second, values=values, names=first.names)
    if not (first.nameless or second.nameless):
        only = sorted(set(label_texts(first.labels)) ^ set(label_texts(second.labels)))
        raise ValueError(
            f"{both} must have the same nodes; only one of them has {', '.join(only[:10])}."
        )
    if not (first.ordered and second.ordered):
        raise ValueError(
            f"{both} cannot be aligned: one is a graph with names and the other has none; "
            "pass names=[…] in the order of the matrix."
        )
    return first, second


def places(wanted: list[Label], given: list[Label]) -> list[int] | None:
    """Where each label stands among the given ones, as it is or as text; None without a match."""
    for wanted_, given_ in ((wanted, given), (label_texts(wanted), label_texts(given))):
        position = {label: k for k, label in enumerate(given_)}
        if position.keys() == set(wanted_):
            return [position[label] for label in wanted_]
    return None


def _named(matrix: Matrix, names: Names) -> Matrix:
    """Lend ``names`` to a matrix that has none."""
    if names is None or not matrix.nameless:
        return matrix
    labels, n = list(names), len(matrix.values)
    if len(labels) != n or len(set(labels)) < n:
        raise ValueError(f"'names' must be {n} different names; got {labels[:10]}.")
    if matrix.names is not None and set(matrix.names) == set(labels):
        return matrix
    return replace(matrix, names=labels)
