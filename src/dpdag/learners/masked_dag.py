"""Masked-DAG (MCSL): a random mask on the inputs of networks is the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Generator, Tensor, nn

from ..distributions.knowledge import Constraints
from ..mechanisms import MLP
from ..objectives import SquaredError, streams
from ..objectives.score import Score
from ..ops.noise import to_logistic
from .constrained import ConstrainedLearner, NetworkFunctions
from .networks import stacked

MOST_PARENTS = 5.0  # expected at the start: with half of many columns the constraint overflows


@dataclass(kw_only=True, eq=False, repr=False)
class MaskedDAG(NetworkFunctions, ConstrainedLearner):
    r"""Masked-DAG: networks behind a mask of random edges, whose probabilities become acyclic.

    .. math:: \min_{\theta, \phi}\; \tfrac{1}{2b} \|x - f_\theta(M \circ x)\|^2
        + \lambda \|\sigma(\phi / \tau)\|_1, \qquad
        M_{ij} = \sigma\big((\phi_{ij} + L_{ij}) / \tau\big), \qquad h(\sigma(\phi / \tau)) = 0

    with logistic noise L: a Gumbel-Softmax over "edge" and "no edge".

    Arguments:
        hidden_units: Width of the hidden layers.
        n_layers: Number of linear layers.
        temperature: τ.
        l1: λ.

    References:
        | Masked Gradient-Based Causal Structure Learning (Ng et al., 2022)
        | https://arxiv.org/abs/1910.08527

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> a = rng.normal(size=500)
        >>> X = np.stack([np.sin(2 * a) + 0.2 * rng.normal(size=500), a], axis=1)
        >>> MaskedDAG(random_state=0, verbose=False).fit(X).adjacency_.tolist()
        [[0, 0], [1, 0]]
    """

    hidden_units: int = 16
    n_layers: int = 3
    temperature: float = 0.2
    l1: float = 2e-3
    threshold: float = 0.5
    learning_rate: float = 3e-3
    slowing: float = 1.0

    guarantees_required: ClassVar[bool] = True
    takes_interventions: ClassVar[bool] = True

    def _score(self, n: int, seeds: list[int], constraints: Constraints) -> Score:
        networks = stacked(self, n, seeds)
        return _Score(networks, constraints, temperature=self.temperature, l1=self.l1)


class _Score(Score):
    """Squared error behind a mask; the adjacency is the mask's expectation."""

    def __init__(
        self, networks: MLP, constraints: Constraints, *, temperature: float, l1: float
    ) -> None:
        super().__init__(constraints)
        n_replicas, n = networks.weights[0].shape[:2]
        self.mechanism = networks
        self.error = SquaredError(n, n_replicas)
        self.temperature, self.l1 = temperature, l1
        start = torch.tensor(min(0.5, MOST_PARENTS / n)).logit() * temperature
        self.logits = nn.Parameter(start.expand(n_replicas, n, n).clone())

    def adjacency(self) -> Tensor:  # (r, n, n)
        return self._mask(self.logits)

    def forward(
        self, x: Tensor, noise: Tensor | None, weight: Tensor | None = None
    ) -> Tensor:  # (r, n, b) -> (r,)
        mask = self._mask(self.logits if noise is None else self.logits + noise)
        error = 0.5 * x.shape[1] * self.error(x, self.mechanism(x, mask), weight)
        return error + self.l1 * self.adjacency().sum((-2, -1))

    def draw_noise(self, steps: int, generators: Sequence[Generator]) -> Tensor:
        return to_logistic(streams(self.logits, steps, generators))

    def fade(self) -> None:
        # Beyond, a sigmoid has no gradient left by which an edge could come back.
        self.logits.data.clamp_(max=8 * self.temperature)

    def _mask(self, logits: Tensor) -> Tensor:  # (r, n, n) -> (r, n, n)
        return self.within(torch.sigmoid(logits / self.temperature))
