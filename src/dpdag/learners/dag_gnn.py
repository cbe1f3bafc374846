"""DAG-GNN: an autoencoder that passes messages along the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import relu

from ..distributions.knowledge import Constraints
from ..objectives.score import Score
from .checks import Range
from .constrained import ConstrainedLearner
from .density import DensityLearner
from .networks import weight_generators
from .storage import record

__all__ = ["DAGGNN"]

Layers = tuple[tuple[Tensor, Tensor], ...]  # weight (r, out, in) and bias (r, out, 1) of each


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
        widths = [1, *[self.hidden_units] * (self.n_layers - 1), 1]
        generators = weight_generators(seeds)
        encoder, decoder = (_Shared(widths, generators) for _ in range(2))
        return _Score(encoder, decoder, constraints.allowed, len(seeds), l1=self.l1)

    def _functions(self, score: Any) -> Any:
        def fit(x: Tensor, adjacency: Tensor) -> Autoencoder:
            effects = score.effects().detach()[0] * adjacency
            return Autoencoder(score.encoder.layers(), score.decoder.layers(), effects)

        return fit


class _Shared(nn.Module):
    """One network of one number, the same for all nodes; r replicas of it."""

    def __init__(self, widths: list[int], generators: list[Generator]) -> None:
        super().__init__()
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for fan_in, fan_out in pairwise(widths):
            for shape, into in (((fan_out, fan_in), self.weights), ((fan_out, 1), self.biases)):
                drawn = [torch.empty(shape).uniform_(-1, 1, generator=g) for g in generators]
                into.append(nn.Parameter(torch.stack(drawn) * fan_in**-0.5))

    def layers(self) -> Layers:
        return tuple(zip((w.detach() for w in self.weights), (b.detach() for b in self.biases)))

    def forward(self, x: Tensor) -> Tensor:  # (r, n, b) -> (r, n, b)
        return _shared_network(x, tuple(zip(self.weights, self.biases)))


def _shared_network(x: Tensor, layers: Layers) -> Tensor:  # (r, n, b) -> (r, n, b)
    out = x.reshape(len(x), 1, -1)
    for k, (weight, bias) in enumerate(layers):
        out = torch.baddbmm(bias, weight, relu(out) if k else out)
    return out.reshape(x.shape)


def _bound(
    x: Tensor,  # (r, n, b)
    encoder: Any,
    decoder: Any,
    effects: Tensor,  # (r, n, n)
) -> Tensor:  # (r, b)
    """Half the squared reconstruction error and half the squared noise of each row."""
    flow = torch.eye(x.shape[1], device=x.device) - effects.mT
    latent = flow @ encoder(x)
    error = x - decoder(torch.linalg.solve(flow, latent))
    return 0.5 * (error.square() + latent.square()).sum(1)


class _Score(Score):
    """The negative bound; the adjacency is made of squared effects."""

    allowed: Tensor

    def __init__(
        self, encoder: _Shared, decoder: _Shared, allowed: Tensor, n_replicas: int, *, l1: float
    ) -> None:
        super().__init__()
        self.encoder, self.decoder, self.l1 = encoder, decoder, l1
        self.matrix = nn.Parameter(torch.zeros(n_replicas, *allowed.shape))
        self.register_buffer("allowed", allowed.to(torch.float32))

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
        bound = _bound(x, self.encoder, self.decoder, self.effects()).mean(-1)
        return bound + self.l1 * (self.matrix * self.allowed).abs().sum((-2, -1))


@record
@dataclass(frozen=True)
class Autoencoder:
    """The trained autoencoder on a graph.

    Arguments:
        encoder, decoder: Weight and bias of every layer.
        effects: (n, n) zero where there is no edge.
    """

    encoder: Layers
    decoder: Layers
    effects: Tensor

    def __call__(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows,)
        """The lower bound of each row's log density."""
        encoder, decoder = (
            lambda values, layers=layers: _shared_network(values, layers)
            for layers in (self.encoder, self.decoder)
        )
        values = x.T[None].to(torch.float32)
        bound = _bound(values, encoder, decoder, self.effects[None])[0]
        return -bound - 0.5 * x.shape[1] * torch.log(torch.tensor(2 * torch.pi))
