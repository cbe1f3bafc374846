"""What a method must beat: learners that use an order known beforehand, or none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats
from sklearn.linear_model import LassoLarsIC, LinearRegression
from torch import Tensor

from ..distributions import GumbelTopK
from ..distributions.knowledge import Constraints
from ..ops.precedence import precedence_mask
from ..ops.regression import explained_by_others
from ..scm import fit_linear
from ..seeding import torch_generator
from .base import Solution
from .checks import check_ranges
from .model_learner import ModelLearner


@dataclass(kw_only=True, eq=False, repr=False)
class SortRegress(ModelLearner):
    r"""Sort the columns by one number each, then regress every column on those before it.

    .. math:: x_j = \sum_{i \text{ before } j} w_{ij}\, x_i + \epsilon_j

    A floor, not a method: where it does well, the scales or the predictability of the columns give
    the order away and say little about any method.

    Arguments:
        by: "variance" of the columns as they came, "r2" with which the others explain a column,
            or "random".
        knowledge: A :class:`~dpdag.Knowledge`.
        pns: Neighbour selection first: "additive", "trees" or an (n, n) mask.
        prune: CAM pruning afterwards, at level 0.001 or the level given.
        random_state: For the random order.

    References:
        | Beware of the Simulated DAG! (Reisach et al., 2021)
        | A Scale-Invariant Sorting Criterion to Find a Causal Order (Reisach et al., 2023)

    Example:
        >>> rng = np.random.default_rng(0)
        >>> a = rng.normal(size=300)
        >>> X = np.stack([2 * a + rng.normal(size=300), a], axis=1)
        >>> SortRegress(by="variance").fit(X).adjacency_.tolist()
        [[0, 0], [1, 0]]
    """

    by: str = "r2"
    pns: Any = None

    def _learn(self, x: Tensor, constraints: Constraints, was_set: Tensor) -> Solution:  # (rows, n)
        order = self._order(x, constraints)
        before = precedence_mask(order) & constraints.allowed
        weights = np.zeros(before.shape)
        for child in range(len(weights)):
            causes = before[:, child].nonzero()[:, 0].numpy()
            if len(causes):
                weights[causes, child] = _sparse_effects(x[:, causes].numpy(), x[:, child].numpy())
        scores = torch.from_numpy(np.abs(weights))
        scores = scores.masked_fill(constraints.required, float(scores.max()) + 1.0)
        return Solution(scores, scores > 0, fit_linear, order)

    def _order(self, x: Tensor, constraints: Constraints) -> Tensor:  # (rows, n) -> (n,)
        n = x.shape[1]
        if self.by == "random":
            flat = GumbelTopK(torch.zeros(n), constraints=constraints)
            return flat.sample_order(generator=torch_generator(self.random_state, "order"))
        if self.by not in ("variance", "r2"):
            raise ValueError(f"'by' must be 'variance', 'r2' or 'random'; got {self.by!r}.")
        value = np.log(self.scale_) if self.by == "variance" else explained_by_others(x.numpy())
        return GumbelTopK(torch.from_numpy(-value), constraints=constraints).mode_order


@dataclass(kw_only=True, eq=False, repr=False)
class Correlation(ModelLearner):
    r"""Link columns that are correlated, in directions drawn at random.

    .. math:: S_{ij} = |\mathrm{corr}(x_i, x_j)|

    A floor, not a method: what no idea of direction and no regard to other columns gives.

    Arguments:
        alpha: Level at which a correlation is an edge.
        knowledge: A :class:`~dpdag.Knowledge`.
        pns: Neighbour selection first: "additive", "trees" or an (n, n) mask.
        prune: CAM pruning afterwards, at level 0.001 or the level given.
        random_state: For the directions.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> a, b = rng.normal(size=(2, 300))
        >>> Correlation().fit(np.stack([a, b, a + b], axis=1)).edge_scores_.round(1).tolist()
        [[0.0, 0.0, 0.7], [0.0, 0.0, 0.7], [0.7, 0.7, 0.0]]
    """

    alpha: float = 0.001
    pns: Any = None

    def _learn(self, x: Tensor, constraints: Constraints, was_set: Tensor) -> Solution:  # (rows, n)
        check_ranges(self)
        rows, n = x.shape
        scores = (x.T @ x / rows).abs() * constraints.allowed
        scores = scores.masked_fill(constraints.required, 1.0)
        # Fisher's transform of a correlation of nothing is normal with variance 1 / (rows − 3).
        least = math.tanh(stats.norm.isf(self.alpha / 2) / math.sqrt(max(rows - 3, 1)))
        flat = GumbelTopK(torch.zeros(n), constraints=constraints)
        order = flat.sample_order(generator=torch_generator(self.random_state, "order"))
        adjacency = (scores > least) & precedence_mask(order)
        return Solution(scores, adjacency | constraints.required, fit_linear, order)


def _sparse_effects(causes: NDArray[Any], effect: NDArray[Any]) -> NDArray[Any]:
    """Weights of an adaptive lasso, its penalty by BIC, (rows, p), (rows,) -> (p,)."""
    least_squares = np.abs(LinearRegression().fit(causes, effect).coef_)
    try:
        lasso = LassoLarsIC(criterion="bic").fit(causes * least_squares, effect)
    except ValueError:  # fewer rows than causes: no variance of the noise to judge by
        return least_squares
    return lasso.coef_ * least_squares
