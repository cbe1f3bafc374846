"""Ways out of a fitted learner: its graph for other software."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .. import exports
from ..columns import ColumnType, MonotoneColumns, Units
from ..scm import Observed, StructuralModel


class GraphExports:
    """Exports of the fitted graph; in ours ``adjacency_[i, j] = 1`` means i → j."""

    n_features_in_: int
    adjacency_: NDArray[np.int64]
    edge_scores_: NDArray[np.float64]
    model_: StructuralModel
    location_: NDArray[np.float64]
    scale_: NDArray[np.float64]
    columns_: MonotoneColumns | None = None
    types_: tuple[ColumnType, ...] | None = None
    observed_: Observed | None = None
    informing_rows_: NDArray[np.int64] | None = None
    settled_: NDArray[np.bool_] | None = None

    def to_networkx(self) -> nx.DiGraph[Any]:
        """A ``networkx.DiGraph`` with the column names; edges carry ``score`` and, for learners
        with a posterior, ``probability``."""
        return exports.to_networkx(self._graph())

    def to_graphml(self, path: str | Path) -> None:
        """Write a GraphML file, which Cytoscape, Gephi and yEd open."""
        exports.write_graphml(self._graph(), path)

    def to_gml(self, path: str | Path) -> None:
        """Write a GML file, which igraph and Gephi open."""
        exports.write_gml(self._graph(), path)

    def to_dot(self) -> str:
        """Graphviz source of the graph."""
        return exports.to_dot(self._graph())

    def to_dagitty(self) -> str:
        """The graph as dagitty.net and the R package dagitty read it."""
        return exports.to_dagitty(self._graph())

    def to_edges(self, *, learned: bool = True) -> pd.DataFrame:
        """One row per edge, the most certain first: source, target, score, and probability for
        learners with a posterior; every pair of columns where ``learned`` is False."""
        return exports.edge_table(self._graph(), learned=learned)

    def to_lingam_matrix(self) -> NDArray[np.float64]:  # -> (n, n)
        """``B[i, j] = 1`` means j → i, as in the package lingam: the transpose of ours."""
        return exports.lingam_matrix(self._graph().adjacency)

    def to_causallearn_matrix(self) -> NDArray[np.int64]:  # -> (n, n)
        """``G[i, j] = -1`` and ``G[j, i] = 1`` mean i → j, as in causal-learn."""
        return exports.causallearn_matrix(self._graph().adjacency)

    def to_dowhy(self) -> Any:
        """A ``dowhy.gcm`` model with the learned mechanisms and noise; needs dowhy, no fitting.

        ``gcm.interventional_samples(learner.to_dowhy(), {"a": lambda a: 2.0}, …)`` then works.
        """
        check_is_fitted(self, "model_")
        return exports.to_dowhy(self._graph(), self.model_, units=self._units)

    @property
    def _units(self) -> Units:
        """Of the columns, fitted."""
        return Units(self.location_, self.scale_, self.columns_)

    def to_pgmpy(self) -> Any:
        """A ``pgmpy.base.DAG`` with the column names; needs pgmpy."""
        return exports.to_pgmpy(self._graph())

    def _graph(self) -> exports.LearnedGraph:
        check_is_fitted(self, "adjacency_")
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        probabilities = getattr(self, "edge_probabilities_", None)
        return exports.LearnedGraph(list(names), self.adjacency_, self.edge_scores_, probabilities)
