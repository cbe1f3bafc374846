"""GraN-DAG: networks whose paths from input to output are the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ..distributions.knowledge import Constraints
from ..mechanisms import MLP
from ..objectives import Gaussian
from ..objectives.score import Score
from ..training import RMSPROP
from .constrained import ConstrainedLearner, NetworkFunctions
from .networks import stacked

CUT = 1e-4  # weight below which an edge never comes back


@dataclass(kw_only=True, eq=False, repr=False)
class GraNDAG(NetworkFunctions, ConstrainedLearner):
    r"""GraN-DAG: a network per node and Gaussian noise; edges are paths through the networks.

    .. math:: \max_{\theta, \sigma}\; \sum_j \log \mathcal{N}(x_j \mid f_j(x), \sigma_j^2), \qquad
        A_{ij} = \tfrac{1}{p} \big(|W_j^{(3)}|\, |W_j^{(2)}|\, |W_j^{(1)}|\big)_i, \qquad h(A) = 0

    with p the number of paths from one input to the output of a network. Trained by RMSprop; an
    edge whose weight falls below 10⁻⁴ is cut for good. Edges are ranked, and those above
    ``threshold`` chosen, by their mean absolute slopes :math:`E\,|\partial f_j / \partial x_i|`,
    which unlike products of weights do not depend on the width of the networks.

    Arguments:
        hidden_units: Width of the hidden layers.
        n_layers: Number of linear layers.

    References:
        | Gradient-Based Neural DAG Learning (Lachapelle et al., 2020)
        | https://arxiv.org/abs/1906.02226

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> a = rng.normal(size=500)
        >>> X = np.stack([np.sin(2 * a) + 0.2 * rng.normal(size=500), a], axis=1)
        >>> GraNDAG(random_state=0, verbose=False).fit(X).adjacency_.tolist()
        [[0, 0], [1, 0]]
    """

    hidden_units: int = 16
    n_layers: int = 3
    threshold: float = 0.3
    penalty: float = 1.0
    slowing: float = 0.85

    takes_interventions: ClassVar[bool] = True
    betas: ClassVar[tuple[float, float]] = RMSPROP

    def _score(self, n: int, seeds: list[int], constraints: Constraints) -> Score:
        return _Score(stacked(self, n, seeds), constraints)


class _Score(Score):
    """Gaussian likelihood; the adjacency is made of products of absolute weights."""

    uncut: Tensor

    def __init__(self, networks: MLP, constraints: Constraints) -> None:
        super().__init__(constraints)
        self.mechanism = networks
        n_replicas, n, hidden, _ = networks.weights[0].shape
        self.likelihood = Gaussian(n, n_replicas)
        self.paths = hidden ** (len(networks.weights) - 1)
        self.register_buffer("uncut", self.allowed.repeat(n_replicas, 1, 1))

    def adjacency(self) -> Tensor:  # (r, n, n)
        *first, last = (weight.abs().flatten(0, 1) for weight in self.mechanism.weights)
        product = last  # (r n, 1, h)
        for weight in reversed(first):
            product = torch.bmm(product, weight)
        return product.reshape(self.uncut.shape).mT * self.uncut / self.paths

    def edge_scores(self, x: Tensor) -> Tensor:  # (r, n, rows) -> (r, n, n)
        return self.mechanism.slopes(x, self.uncut)

    def forward(
        self, x: Tensor, noise: None, weight: Tensor | None = None
    ) -> Tensor:  # (r, n, b) -> (r,)
        return self.likelihood(x, self.mechanism(x, self.uncut), weight)

    def fade(self) -> None:
        self.uncut *= self.adjacency() > CUT
