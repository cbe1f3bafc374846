"""The record that every data set comes in: observations, truth, names and where they are from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import networkx as nx
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from ..ops.graphs import find_cycle
from ..seeding import numpy_generator

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


Part = TypeVar("Part", FloatArray, IntArray)


class Split(NamedTuple, Generic[Part]):
    """Rows for training, validation and testing, or their numbers."""

    train: Part
    validation: Part
    test: Part


@dataclass(frozen=True)
class Provenance:
    """Where a data set comes from.

    Attributes:
        source: "generated", "packaged", "original" or "simulated".
        details: What was drawn, or which file was read, in one sentence.
        citation: The publication to cite; empty for generated data.
        license: The terms under which the data is distributed; empty for generated data.
        url: Where the file can be had; empty for generated data.
    """

    source: str
    details: str
    citation: str = ""
    license: str = ""
    url: str = ""


def default_names(n_nodes: int) -> list[str]:
    """The names of columns that have none: x0, x1, …"""
    return [f"x{node}" for node in range(n_nodes)]


@dataclass(frozen=True, eq=False)
class Dataset:
    r"""Observations with the graph that made them.

    Arguments:
        X: (rows, nodes) observations in their original units.
        adjacency: (nodes, nodes) true graph; ``adjacency[i, j] = 1`` means i → j.
        names: One name per node, in the order of the columns.
        name: What the data set is called.
        provenance: Where it comes from.
        mask: (rows, nodes) true where a value was set by an intervention; None: observed only.
        conditions: (rows,) the number of the experiment that a row comes from; None: of one.
        types: The types of columns by name, where they are known.

    Example:
        >>> from dpdag import datasets
        >>> data = datasets.load("ER-10-10", index=0)
        >>> data.X.shape, data.adjacency.shape, data.names[:2]
        ((1000, 10), (10, 10), ['x0', 'x1'])
        >>> [part.shape[0] for part in data.split(seed=0)]
        [800, 100, 100]
    """

    X: FloatArray
    adjacency: IntArray
    names: list[str]
    name: str
    provenance: Provenance
    mask: BoolArray | None = None
    conditions: IntArray | None = None
    types: dict[str, str] | None = None

    def __post_init__(self) -> None:
        X = np.array(self.X, dtype=np.float64)
        if X.ndim != 2:
            raise ValueError(f"'X' must be (rows, nodes); got shape {X.shape} in {self.name!r}.")
        names = checked_names(self.names, X.shape[1], self.name)
        bad = [names[node] for node in np.flatnonzero(~np.isfinite(X).all(0))]
        if bad:
            raise ValueError(f"'X' of {self.name!r} has values that are not finite in {bad}.")
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "adjacency", checked_truth(self.adjacency, names, self.name))
        if self.mask is not None:
            mask = np.array(self.mask, dtype=bool)
            if mask.shape != X.shape:
                raise ValueError(f"'mask' must have the shape {X.shape} of X; got {mask.shape}.")
            object.__setattr__(self, "mask", mask)
        if self.conditions is not None:
            numbers = np.array(self.conditions, dtype=np.int64)
            if numbers.shape != X.shape[:1]:
                raise ValueError(
                    f"'conditions' must be ({len(X)},), one per row; got shape {numbers.shape}."
                )
            object.__setattr__(self, "conditions", numbers)

    def __repr__(self) -> str:
        rows, nodes = self.X.shape
        return (
            f"Dataset({self.name!r}, rows={rows}, nodes={nodes}, "
            f"edges={int(self.adjacency.sum())}, source={self.provenance.source!r})"
        )

    @property
    def frame(self) -> pd.DataFrame:
        """The observations as a DataFrame with named columns."""
        return pd.DataFrame(self.X.copy(), columns=self.names)

    @property
    def truth(self) -> pd.DataFrame:
        """The true adjacency matrix with names: row → column."""
        return pd.DataFrame(self.adjacency.copy(), index=self.names, columns=self.names)

    @property
    def graph(self) -> nx.DiGraph[str]:
        """The true graph with named nodes, in the order of the columns."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.names)
        edges = np.argwhere(self.adjacency).tolist()
        graph.add_edges_from((self.names[i], self.names[j]) for i, j in edges)
        return graph

    def split_rows(self, seed: int = 0) -> Split[IntArray]:
        """Row numbers of the parts that ``split(seed)`` returns."""
        rows = self.X.shape[0]
        if rows < 3:
            raise ValueError(f"'split' needs at least 3 rows; {self.name!r} has {rows}.")
        held_out = max(round(0.1 * rows), 1)
        order = numpy_generator(seed, "split").permutation(rows)
        return Split(*np.split(order, [rows - 2 * held_out, rows - held_out]))

    def split(self, seed: int = 0) -> Split[FloatArray]:
        r"""80/10/10 training, validation and test rows, scaled by the training rows only.

        .. math:: z_{ri} = (x_{ri} - \bar x_i^\text{train}) / s_i^\text{train}

        A column that is constant in the training rows is centred and not scaled.
        """
        parts = self.split_rows(seed)
        train = self.X[parts.train]
        centre, scale = train.mean(0), train.std(0)
        # A constant column may show a standard deviation of rounding size.
        constant = scale <= 1e-12 * np.abs(train).max(0)
        scale = np.where(constant, 1.0, scale)
        return Split(*((self.X[rows] - centre) / scale for rows in parts))


def checked_index(index: Any) -> int:
    """The number of a data set, or an error."""
    if not isinstance(index, (int, np.integer)) or isinstance(index, bool) or index < 0:
        raise ValueError(f"'index' must be a whole number from 0; got {index!r}.")
    return int(index)


def checked_names(names: Sequence[str], n_nodes: int, where: str) -> list[str]:
    """One different name per node, or an error."""
    labels = [str(label) for label in names]
    if len(labels) != n_nodes:
        raise ValueError(f"'names' of {where!r} must have {n_nodes} entries; got {len(labels)}.")
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise ValueError(f"'names' of {where!r} must differ; {twice} stand there more than once.")
    return labels


def checked_truth(adjacency: Any, names: list[str], where: str) -> IntArray:
    """An acyclic 0/1 matrix over these nodes, or an error."""
    matrix = np.asarray(adjacency)
    n = len(names)
    if matrix.shape != (n, n):
        raise ValueError(f"'adjacency' of {where!r} must be ({n}, {n}); got {matrix.shape}.")
    if not np.isin(matrix, (0, 1)).all():
        raise ValueError(f"'adjacency' of {where!r} must hold only 0 and 1; it holds other values.")
    truth = matrix.astype(np.int64)
    cycle = find_cycle(torch.from_numpy(truth))
    if cycle:
        path = " → ".join(names[node] for node in cycle)
        raise ValueError(f"'adjacency' of {where!r} must be acyclic; it has the cycle {path}.")
    return truth
