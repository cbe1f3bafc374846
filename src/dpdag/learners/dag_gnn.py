"""DAG-GNN: an autoencoder that passes messages along the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from ..distributions.knowledge import Constraints
from ..mechanisms import MLP
from ..mechanisms.mlp import masked_mlp
from ..objectives.score import Score
from .checks import Range
from .constrained import ConstrainedLearner
from .model_learner import DensityLearner
from .networks import weight_generators
from .storage import record

Layers = Sequence[tuple[Tensor, Tensor]]  # weight (r, 1, out, in) and bias (r, 1, out, 1) of each


@dataclass(kw_only=True, eq=False, repr=False)
class DAGGNN(ConstrainedLearner, DensityLearner):
    r"""DAG-GNN: a variational autoencoder whose latent noise flows through a linear graph.

    .. math:: Z = (I - A^T)\, f_1(x), \qquad \hat x = f_2\big((I - A^T)^{-1} Z\big), \qquad
        \min_{A, f}\; \tfrac{1}{2b} \big(\|x - \hat x\|^2 + \|Z\|^2\big), \qquad h(A \circ A) = 0

    with small networks f₁ and f₂ that all nodes share. As in the authors' code, the bound is taken
    at the mean of Z, without its noise; the networks can then make Z small at no cost, one reason
    why the method says little about directions. A value is rebuilt from itself too, so that there
    are no functions of parents.

    Arguments:
        hidden_units: Width of encoder and decoder.
        n_layers: Number of their linear layers.
        l1: Weight of :math:`\|A\|_1`.

    References:
        | DAG-GNN: DAG Structure Learning with Graph Neural Networks (Yu et al., 2019)
        | https://arxiv.org/abs/1904.10098

    Example:
        >>> import numpy as np
        >>> a = np.random.default_rng(0).normal(size=(500, 3))
        >>> a[:, 2] = a[:, 0] - a[:, 1]
        >>> DAGGNN(random_state=0, verbose=False).fit(a).adjacency_.shape
        (3, 3)
    """

    hidden_units: int = 16
    n_layers: int = 3
    l1: float = 0.0
    penalty: float = 1.0
    patience: int = 10
    constraint: str = "polynomial"

    ranges: ClassVar[Mapping[str, Range]] = {
        **ConstrainedLearner.ranges,
        "n_layers": Range(1, integer=True),
    }

    def _score(self, n: int, seeds: list[int], constraints: Constraints) -> Score:
        generators = weight_generators(seeds)
        encoder, decoder = (
            MLP(
                1,  # the same for all nodes
                len(seeds),
                hidden_units=self.hidden_units,
                n_layers=self.n_layers,
                activation="relu",
                generators=generators,
            )
            for _ in range(2)
        )
        return _Score(encoder, decoder, constraints, l1=self.l1)

    def _functions(self, score: Any, x: Tensor, adjacency: Tensor) -> Autoencoder:
        effects = score.effects().detach()[0] * adjacency
        encoder, decoder = (
            tuple((weight[:, 0], bias[:, 0]) for weight, bias in zip(one.weights, one.biases))
            for one in (score.encoder, score.decoder)
        )
        return Autoencoder(encoder, decoder, effects)


def _bound(
    x: Tensor,  # (r, n, b)
    encoder: Layers,
    decoder: Layers,
    effects: Tensor,  # (r, n, n)
) -> Tensor:  # (r, b)
    """Half the squared reconstruction error and half the squared noise of each row."""
    flow = torch.eye(x.shape[1], device=x.device) - effects.mT
    latent = flow @ _of_all_nodes(x, encoder)
    error = x - _of_all_nodes(torch.linalg.solve(flow, latent), decoder)
    return 0.5 * (error.square() + latent.square()).sum(1)


def _of_all_nodes(x: Tensor, layers: Layers) -> Tensor:  # (r, n, b) -> (r, n, b)
    """One network of one number on the values of every node."""
    weights, biases = zip(*layers)
    every = torch.ones(len(x), 1, 1, device=x.device)
    return masked_mlp(x.reshape(len(x), 1, -1), every, weights, biases, "relu").reshape(x.shape)


class _Score(Score):
    """The negative bound; the adjacency is made of squared effects."""

    def __init__(self, encoder: MLP, decoder: MLP, constraints: Constraints, *, l1: float) -> None:
        super().__init__(constraints)
        self.encoder, self.decoder, self.l1 = encoder, decoder, l1
        self.matrix = nn.Parameter(torch.zeros(len(encoder.weights[0]), *self.allowed.shape))

    def effects(self) -> Tensor:  # (r, n, n)
        """A, amplified so that weights near zero move quickly, as in the authors' code."""
        return torch.sinh(3 * self.matrix) * self.allowed

    def adjacency(self) -> Tensor:  # (r, n, n)
        return (self.matrix * self.allowed).square()

    def edge_scores(self, x: Tensor) -> Tensor:  # -> (r, n, n)
        return self.effects().abs()

    def forward(
        self, x: Tensor, noise: None, weight: Tensor | None = None
    ) -> Tensor:  # (r, n, b) -> (r,)
        encoder, decoder = (
            tuple(zip(one.weights, one.biases)) for one in (self.encoder, self.decoder)
        )
        bound = _bound(x, encoder, decoder, self.effects()).mean(-1)
        return bound + self.l1 * (self.matrix * self.allowed).abs().sum((-2, -1))


@record
@dataclass(frozen=True)
class Autoencoder:
    """The trained autoencoder on a graph.

    Arguments:
        encoder, decoder: Weight (1, out, in) and bias (1, out, 1) of every layer.
        effects: (n, n) zero where there is no edge.
    """

    encoder: tuple[tuple[Tensor, Tensor], ...]
    decoder: tuple[tuple[Tensor, Tensor], ...]
    effects: Tensor

    def __call__(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows,)
        """The lower bound of each row's log density."""
        encoder, decoder = (
            [(weight[:, None], bias[:, None]) for weight, bias in layers]
            for layers in (self.encoder, self.decoder)
        )
        bound = _bound(x.T[None].to(torch.float32), encoder, decoder, self.effects[None])[0]
        return -bound - 0.5 * x.shape[1] * torch.log(torch.tensor(2 * torch.pi))
