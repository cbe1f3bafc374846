"""GT-DAG: mechanisms on a graph that is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import networkx as nx
import pandas as pd
import torch
from torch import Tensor

from ..distributions.knowledge import Constraints
from ..evidence.families import FUNCTIONS
from ..evidence.gp import TIME_BUDGET
from ..mechanisms import MECHANISMS
from ..objectives import LIKELIHOODS
from ..ops.labels import label_texts
from ..ops.named_graphs import align_graph
from ..scm import Mechanisms, fit_linear, fit_mixed
from .base import Solution
from .checks import check_mechanism, check_ranges
from .model_learner import ModelLearner
from .networks import Networks
from .posterior_solver import Plan


@dataclass(kw_only=True, eq=False, repr=False)
class GroundTruthDAG(ModelLearner):
    r"""GT-DAG: the functions on a graph that you know.

    .. math:: \min_\theta\; \|x - f_\theta(A \circ x)\|^2, \qquad A \text{ given}

    For "I know my graph, fit the model", and the bound on what any graph learner can predict.

    Arguments:
        adjacency: The DAG: an (n, n) 0/1 matrix with ``[i, j] = 1`` for i → j, a DataFrame with
            names, a ``networkx.DiGraph``, or a path: the folder that ``dpdag fit`` wrote or its
            ``edges.csv`` or ``graph.graphml``. Named nodes are matched to columns by name.
        mechanism: "mlp" as in the paper, "linear" (least squares), or as in
            :class:`~dpdag.DAGPosterior` "additive", "gp", "network" or "auto", which gives every
            column the functions and the noise that its evidence prefers.
        hidden_units, n_layers, likelihood, learning_rate: Of "mlp", as everything that follows up
            to ``device``.
        max_epochs, batch_size, patience, validation_fraction: Training stops when the loss on the
            held-out rows, checked every second epoch, has not improved ``patience`` times.
        device: "auto", "cpu" or "cuda".
        knowledge: Checked against the graph.
        prune: CAM pruning of the graph first, at level 0.001 or the level given.
        random_state: Seed.

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> a = rng.normal(size=500)
        >>> X = np.stack([a, a**2 + 0.1 * rng.normal(size=500)], axis=1)
        >>> model = GroundTruthDAG([[0, 1], [0, 0]], mechanism="additive").fit(X)
        >>> float(model.predict([[2.0, 0.0]])[0, 1].round(1))
        4.0
    """

    adjacency: Any = field(default=None, kw_only=False)
    mechanism: str = "mlp"
    hidden_units: int = 16
    n_layers: int = 3
    likelihood: str = "mse"
    learning_rate: float = 3e-3
    max_epochs: int = 500
    batch_size: int = 64
    patience: int = 10
    validation_fraction: float = 0.1
    device: str = "auto"

    takes_interventions: ClassVar[bool] = True

    def _learn(self, x: Tensor, constraints: Constraints, was_set: Tensor) -> Solution:  # (rows, n)
        check_ranges(self)
        LIKELIHOODS[self.likelihood]
        check_mechanism(self.mechanism, sorted({*MECHANISMS, *FUNCTIONS, "auto"}))
        names = self._names(x.shape[1])
        graph = read_dag(self.adjacency, names)
        for broken, said in (
            (graph & ~constraints.allowed, "has the forbidden edge"),
            (constraints.required & ~graph, "lacks the required edge"),
        ):
            if bool(broken.any()):
                i, j = broken.nonzero()[0].tolist()
                raise ValueError(f"'adjacency' {said} {names[i]} → {names[j]} of 'knowledge'.")
        networks = self.mechanism == "mlp"
        fit = partial(self._networks, was_set=was_set) if networks else self._functions
        return Solution(graph.double(), graph, fit, knows_rows=networks)

    def _functions(self, x: Tensor, adjacency: Tensor) -> Mechanisms:
        if self.mechanism == "linear":
            return fit_linear(x, adjacency)
        kinds = FUNCTIONS if self.mechanism == "auto" else (self.mechanism,)
        plan = Plan.within(x.shape[1], TIME_BUDGET, "cpu", functions=kinds)
        return fit_mixed(x, adjacency, plan.evidence(x))

    def _networks(self, x: Tensor, adjacency: Tensor, *, was_set: Tensor) -> Mechanisms:
        return Networks.of(self).train(x, adjacency, was_set=was_set).freeze(adjacency)


def read_dag(graph: Any, names: Sequence[Any]) -> Tensor:  # -> (n, n) bool
    """A DAG over the columns ``names`` from a matrix, a graph or a file of one."""
    if graph is None:
        raise ValueError(
            "'adjacency' must be given: a matrix, a networkx.DiGraph or what 'dpdag fit' wrote."
        )
    if isinstance(graph, (str, Path)):
        graph = _from_file(Path(graph), label_texts(names))
    aligned = align_graph(graph, names, what="adjacency", names_of="X")
    return torch.from_numpy(aligned.values != 0)


def _from_file(path: Path, names: list[str]) -> nx.DiGraph[Any]:
    """The graph in a folder of results, an edge table or a GraphML file."""
    if path.is_dir():
        path = path / "edges.csv"
    if not path.is_file():
        raise ValueError(
            f"'adjacency' names {path}, which is no file; give the folder that 'dpdag fit' wrote, "
            "its edges.csv or its graph.graphml."
        )
    if path.suffix == ".graphml":
        return nx.DiGraph(nx.read_graphml(path))
    table = pd.read_csv(path, dtype={"source": str, "target": str})
    if not {"source", "target"} <= set(table.columns):
        raise ValueError(f"'adjacency': {path} must have the columns 'source' and 'target'.")
    graph: nx.DiGraph[Any] = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(zip(table["source"], table["target"]))
    return graph
