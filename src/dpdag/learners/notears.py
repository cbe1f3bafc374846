"""NOTEARS: linear models and networks whose weights must be acyclic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ..distributions.knowledge import Constraints
from ..mechanisms import MLP, Linear
from ..objectives import SquaredError
from ..objectives.score import Score
from ..scm import fit_linear
from .constrained import ConstrainedLearner, NetworkFunctions
from .networks import weight_generators

__all__ = ["NOTEARS"]


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
        networks = self._mechanism(n, seeds)
        return _Score(networks, constraints.allowed, l1=l1, l2=self.l2, r=len(seeds))

    def _check(self, constraints: Constraints) -> None:
        super()._check(constraints)
        if self.mechanism not in ("linear", "mlp"):
            raise ValueError(f"'mechanism' must be 'linear' or 'mlp'; got {self.mechanism!r}.")

    def _mechanism(self, n: int, seeds: list[int]) -> MLP:
        generators = weight_generators(seeds)
        if self.mechanism == "linear":
            lines = Linear(n, len(seeds), generators=generators)
            nn.init.zeros_(lines.weights[0])  # so that no direction has a head start
            return lines
        return MLP(
            n,
            len(seeds),
            hidden_units=self.hidden_units,
            n_layers=2,
            activation="sigmoid",
            generators=generators,
        )

    def _functions(self, score: Score) -> Any:
        return fit_linear if self.mechanism == "linear" else super()._functions(score)


class _Score(Score):
    """Penalised squared error; the adjacency is made of squared first-layer weights."""

    allowed: Tensor

    def __init__(self, mechanism: MLP, allowed: Tensor, *, l1: float, l2: float, r: int) -> None:
        super().__init__()
        self.mechanism = mechanism
        self.error = SquaredError(len(allowed), r)
        self.l1, self.l2 = l1, l2
        self.register_buffer("allowed", allowed.to(torch.float32).expand(r, -1, -1))

    def adjacency(self) -> Tensor:  # (r, n, n)
        return self.mechanism.weights[0].square().sum(-2).mT * self.allowed

    def edge_scores(self, x: Tensor) -> Tensor:  # -> (r, n, n)
        return self.adjacency().sqrt()

    def forward(
        self, x: Tensor, noise: None, weight: Tensor | None = None
    ) -> Tensor:  # (r, n, b) -> (r,)
        error = 0.5 * x.shape[1] * self.error(x, self.mechanism(x, self.allowed), weight)
        first = self.mechanism.weights[0].abs().sum(-2).mT * self.allowed
        loss = error + self.l1 * first.sum((-2, -1))
        if len(self.mechanism.weights) > 1:
            size = sum(weight.square().sum((1, 2, 3)) for weight in self.mechanism.weights)
            loss = loss + 0.5 * self.l2 * size
        return loss
