"""Table of the appendix: seconds of neighbour selection, of CAM and of pruning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from sklearn.base import BaseEstimator

from ...learners import CAM
from ...selection import neighbours, prune
from ..experiment import Method, list_experiment
from ..sources import named
from ..views import Metric, Table


@dataclass(eq=False, repr=False)
class Selection(BaseEstimator):
    """Neighbour selection, as a learner."""

    method: str = "trees"
    random_state: Any = None

    def fit(self, X: Any) -> Self:
        """Select."""
        neighbours(X, self.method, random_state=self.random_state)
        return self


@dataclass(eq=False, repr=False)
class Pruning(BaseEstimator):
    """Pruning of a given graph, as a learner."""

    adjacency: Any = None

    def fit(self, X: Any) -> Self:
        """Prune."""
        prune(X, self.adjacency)
        return self


list_experiment(
    "processing-time",
    "Seconds of neighbour selection (by trees), of CAM and of pruning the true graph",
    sources=tuple(map(named, ("ER-10-40", "ER-50-200", "ER-100-400"))),
    methods=(
        Method("PNS", Selection),
        Method("PNS, additive", Selection, {"method": "additive"}),
        Method("CAM", CAM, {"n_bootstrap": 0, "moves": ("add",), "prune": False}),
        Method("Pruning", Pruning),
    ),
    measures=(),
    views=(
        Table(
            (Metric("seconds", digits=2, better=""),), columns="methods", paper=("processing_time",)
        ),
    ),
    sets=5,
    alone=True,
)
