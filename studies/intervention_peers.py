"""GIES and UT-IGSP on the tables of ``dpdag reproduce interventions``, as rows of its table.

In an environment with dpdag and ``pip install gies causaldag graphical_model_learning``:

    PYTHONPATH=studies dpdag reproduce interventions --out results/own --learners \
        intervention_peers:GIES "intervention_peers:UTIGSP[level=0.001]"
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

Graph = np.ndarray  # (n, n) bool, i -> j; both ways where a direction is open


@dataclass(eq=False, repr=False)
class GIES(BaseEstimator):
    """The interventional essential graph by the BIC of Gaussian lines."""

    takes_interventions: ClassVar[bool] = True

    def fit(self, X: Any, interventions: Any) -> Self:
        """Rows are grouped by what was set in them."""
        import gies

        targets, rows = zip(*environments(X, interventions))
        graph, _ = gies.fit_bic(list(rows), [list(own) for own in targets])
        self.adjacency_ = (graph != 0).astype(int)
        return self


@dataclass(eq=False, repr=False)
class UTIGSP(BaseEstimator):
    """The DAG of UT-IGSP, told the targets, by partial correlations and Gaussian invariance."""

    level: float = 1e-3
    takes_interventions: ClassVar[bool] = True

    def fit(self, X: Any, interventions: Any) -> Self:
        """The first rows are those in which nothing was set."""
        import conditional_independence as ci
        from graphical_model_learning import unknown_target_igsp

        (_, seen), *done = environments(X, interventions)
        np.random.seed(0)  # noqa: NPY002 (the package draws from both)
        random.seed(0)
        independence = ci.MemoizedCI_Tester(
            ci.partial_correlation_test, ci.partial_correlation_suffstat(seen), alpha=self.level
        )
        invariance = ci.MemoizedInvarianceTester(
            ci.gauss_invariance_test,
            ci.gauss_invariance_suffstat(seen, [rows for _, rows in done]),
            alpha=self.level,
        )
        known = [{"known_interventions": list(targets)} for targets, _ in done]
        dag, _ = unknown_target_igsp(known, set(range(X.shape[1])), independence, invariance)
        self.adjacency_ = (dag.to_amat()[0] != 0).astype(int)
        return self


def environments(X: Any, interventions: Any) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """What was set, and the rows in which it was, in the order of the rows."""
    kinds, first, of_row = np.unique(interventions, axis=0, return_index=True, return_inverse=True)
    for k in np.argsort(first):
        yield tuple(np.flatnonzero(kinds[k]).tolist()), X[of_row.ravel() == k]
