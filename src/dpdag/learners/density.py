"""Learners with a density of whole rows but no functions from parents to values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from .base import DAGLearner, Job, Solution
from .validation import fitted_columns

ANSWERS = ("predict", "impute", "sample", "counterfactual")


class DensityLearner(DAGLearner):
    """A learner whose solutions come with a density; what needs functions is refused by name.

    Attributes:
        density_: From standardised rows (rows, n), the log density of each, or a lower bound.
    """

    density_: Callable[[Tensor], Tensor]

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density per value in standardised units, or its bound; higher is better."""
        check_is_fitted(self, "density_")
        values = self._validate(fitted_columns(self, X), reset=False)
        x = self._units.standardised(values)
        return float(self.density_(x).mean()) / x.shape[1]

    def _finish(self, job: Job, solution: Solution) -> None:
        super()._finish(job, solution)
        self.density_ = solution.fit(job.x, solution.adjacency != 0)

    def __getattr__(self, name: str) -> Any:
        kind = type(self).__name__
        if name in ANSWERS:
            raise AttributeError(
                f"{kind} has no functions from parents to values, so it cannot {name!r}. Fit some "
                f"on its graph: dpdag.GroundTruthDAG(learner.adjacency_).fit(X).{name}(…)."
            )
        raise AttributeError(f"{kind!r} object has no attribute {name!r}")
