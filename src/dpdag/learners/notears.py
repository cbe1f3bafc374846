"""NOTEARS: linear models and networks whose weights must be acyclic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from ..distributions.knowledge import Constraints
from ..mechanisms import MLP, Linear
from ..objectives import SquaredError
from ..objectives.score import Score
from ..scm import Mechanisms, fit_linear
from .checks import check_choice
from .constrained import ConstrainedLearner, NetworkFunctions
from .networks import stacked, weight_generators


@dataclass(kw_only=True, eq=False, repr=False)
class NOTEARS(NetworkFunctions, ConstrainedLearner):
    r"""NOTEARS: squared error and sparse weights, without cycles (linear or with networks).

    .. math:: \min_\theta\; \tfrac{1}{2b} \|x - f_\theta(x)\|^2 + \lambda_1 \|W^{(1)}\|_1
        + \tfrac{\lambda_2}{2} \|\theta\|^2, \qquad
        A_{ij} = \big\|W^{(1)}_{j \cdot i}\big\|_2, \qquad h(A \circ A) = 0

    where :math:`W^{(1)}_{j \cdot i}` are the first layer's weights from i in the network of j, or
    the one weight of a linear model.

    Arguments:
        mechanism: "linear" or "mlp", one hidden layer with sigmoids.
        hidden_units: Width of that layer.
        l1: λ₁, on first-layer weights; by default 0.1 for lines and 0.005 for networks.
        l2: λ₂, on all weights of networks.

    References:
        | DAGs with NO TEARS (Zheng et al., 2018)
        | https://arxiv.org/abs/1803.01422
        | Learning Sparse Nonparametric DAGs (Zheng et al., 2020)
        | https://arxiv.org/abs/1909.13189

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> a = rng.normal(size=500)
        >>> X = np.stack([2 * a + rng.normal(size=500), a], axis=1)
        >>> len(NOTEARS(random_state=0).fit(X).graph_.edges)
        1
    """

    mechanism: str = "linear"
    hidden_units: int = 10
    l1: float | None = None
    l2: float = 0.003

    takes_interventions: ClassVar[bool] = True

    def _score(self, n: int, seeds: list[int], constraints: Constraints) -> Score:
        l1 = (0.1 if self.mechanism == "linear" else 0.005) if self.l1 is None else self.l1
        return _Score(self._mechanism(n, seeds), constraints, l1=l1, l2=self.l2)

    def _check(self, constraints: Constraints) -> None:
        super()._check(constraints)
        check_choice("mechanism", self.mechanism, ("linear", "mlp"))

    def _mechanism(self, n: int, seeds: list[int]) -> MLP:
        if self.mechanism == "linear":
            lines = Linear(n, len(seeds), generators=weight_generators(seeds))
            nn.init.zeros_(lines.weights[0])  # so that no direction has a head start
            return lines
        return stacked(self, n, seeds, n_layers=2, activation="sigmoid")

    def _functions(self, score: Score, x: Tensor, adjacency: Tensor) -> Mechanisms:
        if self.mechanism == "linear":
            return fit_linear(x, adjacency)
        return super()._functions(score, x, adjacency)


class _Score(Score):
    """Penalised squared error; the adjacency is made of squared first-layer weights."""

    def __init__(self, mechanism: MLP, constraints: Constraints, *, l1: float, l2: float) -> None:
        super().__init__(constraints)
        self.mechanism = mechanism
        self.error = SquaredError(len(self.allowed), len(mechanism.weights[0]))
        self.l1, self.l2 = l1, l2

    def adjacency(self) -> Tensor:  # (r, n, n)
        return self.mechanism.weights[0].square().sum(-2).mT * self.allowed

    def edge_scores(self, x: Tensor) -> Tensor:  # -> (r, n, n)
        return self.adjacency().sqrt()

    def forward(
        self, x: Tensor, noise: None, weight: Tensor | None = None
    ) -> Tensor:  # (r, n, b) -> (r,)
        found = self.mechanism(x, self.allowed.expand(len(x), -1, -1))
        error = 0.5 * x.shape[1] * self.error(x, found, weight)
        first = self.mechanism.weights[0].abs().sum(-2).mT * self.allowed
        loss = error + self.l1 * first.sum((-2, -1))
        if len(self.mechanism.weights) > 1:
            size = sum(weight.square().sum((1, 2, 3)) for weight in self.mechanism.weights)
            loss = loss + 0.5 * self.l2 * size
        return loss
