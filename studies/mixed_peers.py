"""Other people's methods for mixed columns, as rows of ``dpdag reproduce mixed-columns``.

In an environment with dpdag, pgmpy (1.1.2 was used) and causal-learn:

    PYTHONPATH=studies dpdag reproduce mixed-columns --out results/own --timeout 120 \
        --datasets "1000 rows" --learners mixed_peers:HillClimb mixed_peers:PC
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator


@dataclass(eq=False, repr=False)
class HillClimb(BaseEstimator):
    """Hill climbing by the BIC of conditional Gaussians; counts are numbers."""

    types: Any = None

    def fit(self, X: Any) -> Self:
        """Other discrete columns are categories."""
        from pgmpy.estimators import HillClimbSearch

        numbers = ("continuous", "count")
        kinds = {k: "category" for k, kind in (self.types or {}).items() if kind not in numbers}
        search = HillClimbSearch(pd.DataFrame(X).astype(kinds))
        found = search.estimate(scoring_method="bic-cg", show_progress=False)
        self.adjacency_ = np.zeros((X.shape[1], X.shape[1]), dtype=int)
        for source, target in found.edges():
            self.adjacency_[source, target] = 1
        return self


@dataclass(eq=False, repr=False)
class PC(BaseEstimator):
    """PC with a kernel test by random features, of codes; pgmpy's Pillai's trace fails here."""

    level: float = 0.01

    def fit(self, X: Any) -> Self:
        """An edge without direction is half of each."""
        from causallearn.search.ConstraintBased.PC import pc

        np.random.seed(0)  # noqa: NPY002 (the package draws from it)
        codes = (X - X.mean(0)) / X.std(0)
        ends = pc(codes, self.level, "rcit", show_progress=False).G.graph
        self.edge_scores_ = np.where(ends == -1, np.where(ends.T == -1, 0.5, 1.0), 0.0)
        return self
