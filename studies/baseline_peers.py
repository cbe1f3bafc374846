"""gCastle and DAGMA with their default settings, as rows of ``dpdag reproduce baselines``.

In an environment with dpdag and ``pip install gcastle==1.0.4 dagma==1.1.1`` (MCSL takes some nine
minutes a fit, DAGMA's networks four):

    PYTHONPATH=studies dpdag reproduce baselines --datasets ER-10-10 Sachs --sets 5 --timeout 900 \
        --out results/own --learners baseline_peers:Notears baseline_peers:DAGMALinear \
        baseline_peers:GraNDAG baseline_peers:NotearsNonlinear baseline_peers:DAG_GNN \
        baseline_peers:MCSL baseline_peers:DAGMA

Scores are weights before any threshold. gCastle changes torch's default type and DAGMA its own
default arguments, which the process of a cell keeps to itself.
"""

from __future__ import annotations

import logging
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator

os.environ.setdefault("TQDM_DISABLE", "1")


class Found(NamedTuple):
    """Matrices (n, n), i -> j: weights, and the graph that the method makes of them."""

    weights: Any
    graph: Any


@dataclass(eq=False, repr=False)
class Peer(BaseEstimator, ABC):
    """A public implementation, on standardised columns."""

    random_state: int | None = None

    def fit(self, X: Any) -> Self:
        """Seeded where the implementation sets no seed itself."""
        import torch

        logging.disable(logging.INFO)
        np.random.seed(self.random_state)  # noqa: NPY002 (the packages draw from it)
        torch.manual_seed(self.random_state or 0)
        found = self._found((X - X.mean(0)) / X.std(0))
        self.edge_scores_ = np.abs(np.asarray(found.weights, dtype=float))
        self.adjacency_ = np.asarray(found.graph).astype(int)
        return self

    @abstractmethod
    def _found(self, X: Any) -> Found:
        """Learn from standardised columns (rows, n)."""


class GCastle(Peer):
    """A learner of gCastle, and which of its attributes has the weights."""

    weights: ClassVar[str] = "weight_causal_matrix"

    def _found(self, X: Any) -> Found:
        learner = self._learner(X.shape[1])
        learner.learn(X)
        return Found(getattr(learner, self.weights), learner.causal_matrix)

    @abstractmethod
    def _learner(self, n: int) -> Any:
        """Unfitted, for n columns."""


class Notears(GCastle):
    """Ranked by coefficients."""

    def _learner(self, n: int) -> Any:
        from castle import algorithms

        return algorithms.Notears()


class NotearsNonlinear(GCastle):
    """Ranked by norms of the first layer."""

    def _learner(self, n: int) -> Any:
        from castle import algorithms

        return algorithms.NotearsNonlinear(bias=True)


class MCSL(GCastle):
    """Masked-DAG, ranked by sigmoids of logits."""

    weights: ClassVar[str] = "causal_matrix_weight"

    def _learner(self, n: int) -> Any:
        from castle import algorithms

        return algorithms.MCSL(model_type="nn")


class GraNDAG(GCastle):
    """Without neighbour selection and pruning, ranked by mean absolute slopes."""

    weights: ClassVar[str] = "slopes"

    def _learner(self, n: int) -> Any:
        from castle import algorithms
        from castle.algorithms.gradient.gran_dag.torch.base import compute_jacobian_avg

        class Kept(algorithms.GraNDAG):  # type: ignore[misc]
            """Keeps the weights of which `_to_dag` makes a 0/1 graph."""

            def _to_dag(self, train_data: Any) -> Any:
                jacobian = compute_jacobian_avg(self.model, train_data, train_data.n_samples)
                self.slopes = jacobian.t().detach().numpy()
                return super()._to_dag(train_data)

        return Kept(input_dim=n)


class DAG_GNN(GCastle):  # noqa: N801
    """Ranked by sinh(3 A)."""

    weights: ClassVar[str] = "kept"

    def _learner(self, n: int) -> Any:
        from castle import algorithms

        class Kept(algorithms.DAG_GNN):  # type: ignore[misc]
            """Keeps the matrix that `learn` makes 0/1 in place."""

            def _train(self, *args: Any, **kwargs: Any) -> Any:
                loss, A = super()._train(*args, **kwargs)
                self.kept = A.detach().numpy().copy()
                return loss, A

        return Kept()


class DAGMA(Peer):
    """With networks, ranked by norms of the first layer."""

    def _found(self, X: Any) -> Found:
        from dagma.nonlinear import DagmaMLP, DagmaNonlinear

        learner = DagmaNonlinear(DagmaMLP(dims=[X.shape[1], 10, 1], bias=True))
        return _above_default(learner.fit(X, lambda1=0.02, lambda2=0.005, w_threshold=0.0))


class DAGMALinear(Peer):
    """With lines, ranked by coefficients."""

    def _found(self, X: Any) -> Found:
        from dagma.linear import DagmaLinear

        return _above_default(DagmaLinear(loss_type="l2").fit(X, w_threshold=0.0))


def _above_default(weights: Any) -> Found:
    return Found(weights, np.abs(weights) >= 0.3)  # DAGMA's threshold
