"""DAG-NF: a normalising flow whose conditioners read through a learned graph."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from ..distributions.knowledge import Constraints
from ..mechanisms import MLP
from ..mechanisms.mlp import masked_mlp
from ..objectives.score import Score
from ..registry import Registry
from .constrained import ConstrainedLearner
from .model_learner import DensityLearner
from .networks import stacked
from .storage import record

BINS = 8


class Normaliser(NamedTuple):
    """An increasing function of one variable, made from numbers that a network gives."""

    n_parameters: int
    transform: Callable[[Tensor], Any]  # of (*, parameters)


def _affine(parameters: Tensor) -> Any:
    from zuko.transforms import MonotonicAffineTransform

    return MonotonicAffineTransform(parameters[..., 0], parameters[..., 1])


def _spline(parameters: Tensor) -> Any:
    from zuko.transforms import ComposedTransform, MonotonicRQSTransform

    affine, *knots = parameters.split([2, BINS, BINS, BINS - 1], dim=-1)
    return ComposedTransform(_affine(affine), MonotonicRQSTransform(*knots))


NORMALISERS = Registry(
    "normaliser",
    {"affine": Normaliser(2, _affine), "monotonic": Normaliser(2 + 3 * BINS - 1, _spline)},
)


@dataclass(kw_only=True, eq=False, repr=False)
class DAGNF(ConstrainedLearner, DensityLearner):
    r"""DAG-NF: a graphical normalising flow, the likelihood of any noise and any curve.

    .. math:: \max_{A, \theta}\; \sum_j \log \mathcal{N}(z_j \mid 0, 1) + \log |\partial_{x_j} z_j|
        - \lambda \|A\|_1, \qquad z_j = g\big(x_j;\, c_{\theta_j}(A_{\cdot j} \circ x)\big), \qquad
        h(A) = 0

    where g increases in :math:`x_j` and gates are :math:`A = \tanh(\phi^2)`. The published
    monotonic normaliser integrates a positive network; here it is a rational-quadratic spline of
    zuko, which has the same freedom and needs one evaluation.

    Arguments:
        normaliser: g, "affine" (Gaussian noise of varying size) or "monotonic" (of any shape).
        hidden_units: Width of the conditioners.
        n_layers: Number of their linear layers.
        l1: λ.

    References:
        | Graphical Normalizing Flows (Wehenkel and Louppe, 2021)
        | https://arxiv.org/abs/2006.02548

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> a = rng.normal(size=500)
        >>> X = np.stack([np.sin(2 * a) + 0.2 * rng.normal(size=500), a], axis=1)
        >>> DAGNF(random_state=0, verbose=False).fit(X).adjacency_.tolist()
        [[0, 0], [1, 0]]
    """

    normaliser: str = "affine"
    hidden_units: int = 16
    n_layers: int = 3
    l1: float = 0.01
    threshold: float = 0.05
    constraint: str = "polynomial"

    guarantees_required: ClassVar[bool] = True
    takes_interventions: ClassVar[bool] = True

    def _score(self, n: int, seeds: list[int], constraints: Constraints) -> Score:
        outputs = NORMALISERS[self.normaliser].n_parameters
        conditioners = stacked(self, n, seeds, n_outputs=outputs)
        return _Score(conditioners, constraints, normaliser=self.normaliser, l1=self.l1)

    def _functions(self, score: Any, x: Tensor, adjacency: Tensor) -> Flow:
        found = score.conditioners.freeze(adjacency)
        gates = score.adjacency().detach()[0] * adjacency
        return Flow(found.weights, found.biases, gates, self.normaliser)


def _log_density(
    x: Tensor,  # (r, n, b)
    parameters: Tensor,  # (r, n, parameters, b)
    normaliser: str,
) -> Tensor:  # (r, n, b)
    """Of every value given its causes under its flow."""
    transform = NORMALISERS[normaliser].transform(parameters.movedim(2, -1))
    z, log_slope = transform.call_and_ladj(x)
    return torch.as_tensor(log_slope - 0.5 * z.square() - 0.5 * math.log(2 * math.pi))


class _Score(Score):
    """The negative log density; the adjacency is made of gates."""

    def __init__(
        self, conditioners: MLP, constraints: Constraints, *, normaliser: str, l1: float
    ) -> None:
        super().__init__(constraints)
        self.conditioners, self.normaliser, self.l1 = conditioners, normaliser, l1
        n_replicas, n = conditioners.weights[0].shape[:2]
        self.gates = nn.Parameter(torch.full((n_replicas, n, n), min(1.0, (5.0 / n) ** 0.5)))

    def adjacency(self) -> Tensor:  # (r, n, n)
        return self.within(torch.tanh(self.gates.square()))

    def fade(self) -> None:
        self.gates.data.clamp_(-2.0, 2.0)  # beyond, gates are shut or open for good

    def forward(
        self, x: Tensor, noise: None, weight: Tensor | None = None
    ) -> Tensor:  # (r, n, b) -> (r,)
        gates = self.adjacency()
        density = _log_density(x, self.conditioners.outputs(x, gates), self.normaliser)
        density = density if weight is None else density * weight
        return self.l1 * gates.sum((-2, -1)) - density.sum(1).mean(-1)


@record
@dataclass(frozen=True)
class Flow:
    """The trained flow on a graph.

    Arguments:
        weights, biases: Of the conditioners' layers, (1, n, out, in) and (1, n, out, 1).
        gates: (n, n) zero where there is no edge.
        normaliser: A name among ``NORMALISERS``.
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]
    gates: Tensor
    normaliser: str

    def __call__(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows,)
        """The log density of each row."""
        values = x.T[None].to(torch.float32)
        parameters = masked_mlp(values, self.gates[None], self.weights, self.biases)
        return _log_density(values, parameters, self.normaliser)[0].sum(0)
