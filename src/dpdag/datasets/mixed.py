"""Tables whose columns are of several types, drawn from random graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from ..ops.graphs import topological_order
from ..registry import Registry
from ..seeding import base_seed, numpy_generator
from .noise import NOISES
from .random_graphs import erdos_renyi
from .record import Dataset, FloatArray, IntArray, Provenance
from .simulation import NONLINEARITIES

_USUAL = 4000  # rows that say what is usual of every column
_STRENGTH = {"continuous": 1.0, "binary": 2.0, "category": 2.0, "ordinal": 2.5, "count": 0.7}
_ROOT_NOISE = ("gaussian", "uniform", "gumbel")

Draw = Callable[[FloatArray, FloatArray, np.random.Generator], FloatArray]

# From scores (rows, k), uniform numbers (rows,) and a generator for the column's own parameters.
COLUMN_TYPES: Registry[Draw] = Registry("column type")

_CURVES: tuple[Callable[[FloatArray], FloatArray], ...] = (
    lambda z: z,
    lambda z: 1.4 * np.tanh(1.5 * z),
    lambda z: 1.4 * np.sin(1.5 * z),
    lambda z: (np.clip(z, -3, 3) ** 2 - 1) / 1.4,
)


@COLUMN_TYPES.register("continuous")
def _continuous(score: FloatArray, u: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A score and noise of any family."""
    family = ("gaussian", "laplace", "uniform")[rng.integers(3)]
    noise = np.sort(NOISES[family](numpy_generator(0, family), (_USUAL,)))
    return score[:, 0] + 0.6 * np.quantile(noise, u)


@COLUMN_TYPES.register("binary")
def _binary(score: FloatArray, u: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Logistic in a score."""
    return (u < _sigmoid(score[:, 0] + rng.uniform(-0.8, 0.8))).astype(float)


@COLUMN_TYPES.register("category")
def _category(score: FloatArray, u: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Softmax of several scores."""
    logits = score + rng.uniform(-0.5, 0.5, score.shape[1])
    return _by_shares(np.exp(logits - logits.max(1, keepdims=True)), u)


@COLUMN_TYPES.register("ordinal")
def _ordinal(score: FloatArray, u: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A score with logistic noise, cut at some places; from 1."""
    latent = score[:, 0] + np.log(u) - np.log1p(-u)
    cuts = np.sort(rng.uniform(-2.5, 2.5, rng.integers(2, 5)))
    return 1.0 + (latent[:, None] > cuts).sum(1)


@COLUMN_TYPES.register("count")
def _count(score: FloatArray, u: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Poisson or negative binomial, the logarithm of the mean being a score."""
    from scipy import stats

    mean = np.exp(np.clip(score[:, 0] + rng.uniform(0.2, 1.5), -5, 5))
    r = (np.inf, 3.0)[rng.integers(2)]
    law = stats.poisson(mean) if np.isinf(r) else stats.nbinom(r, r / (r + mean))
    return np.asarray(law.ppf(u), dtype=float)


# Laws that are none of the usual ones: noise whose size follows the score, counts that saturate.
OTHER_LAWS: Registry[Draw] = Registry("law of a column type")


def _uneven(score: FloatArray, u: FloatArray) -> FloatArray:
    """A score with Gaussian noise, larger where the score is."""
    from scipy import stats

    return np.asarray(score + (0.4 + 1.2 * _sigmoid(2 * score)) * stats.norm.ppf(u))


@OTHER_LAWS.register("continuous")
def _uneven_continuous(score: FloatArray, u: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Noise whose size follows the score."""
    return _uneven(1.5 * score[:, 0], u)


@OTHER_LAWS.register("binary")
def _above_threshold(score: FloatArray, u: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Whether a score with such noise is above a threshold."""
    return (_uneven(score[:, 0], u) > rng.uniform(-0.5, 0.8)).astype(float)


@OTHER_LAWS.register("category")
def _nearest(score: FloatArray, u: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Shares that follow from squared scores, not from exponentials."""
    return _by_shares(np.clip(score + 1.5, 0.1, None) ** 2, u)


@OTHER_LAWS.register("ordinal")
def _uneven_steps(score: FloatArray, u: FloatArray, rng: np.random.Generator) -> FloatArray:
    """A score with such noise, cut at some places; from 1."""
    cuts = np.sort(rng.uniform(-2.0, 2.5, rng.integers(2, 5)))
    return 1.0 + (_uneven(score[:, 0], u)[:, None] > cuts).sum(1)


@OTHER_LAWS.register("count")
def _saturating(score: FloatArray, u: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Successes in twelve trials, whose chance follows the score."""
    from scipy import stats

    return np.asarray(stats.binom(12, _sigmoid(1.5 * score[:, 0] - 0.5)).ppf(u), dtype=float)


@dataclass(frozen=True)
class MixedModel:
    r"""A structural model of columns of several types.

    .. math:: s_i = a_i \sum_{j \in \mathrm{pa}(i)} g_{ij}(z_j) / \sqrt{|\mathrm{pa}(i)|}, \qquad
        x_i = Q_i(u_i \mid s_i)

    with z standardised causes, g lines, saturating curves, waves or valleys (any effect for each
    value of a category) and Q the quantiles of the column's type.

    Arguments:
        adjacency: (n, n) DAG.
        types: The type of each column, of ``COLUMN_TYPES``.
        seed: Of all parameters.
        usual: Whether Q are laws of the types (logistic, softmax, Poisson …), or others.
    """

    adjacency: IntArray
    types: tuple[str, ...]
    seed: int
    usual: bool = True
    _usual: dict[int, tuple[float, float]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.draw(_USUAL, random_state=0)

    def draw(
        self, rows: int, *, do: Mapping[int, float] | None = None, random_state: Any = None
    ) -> FloatArray:  # -> (rows, n)
        """Rows, with the columns in ``do`` held at given values."""
        X = np.zeros((rows, len(self.types)))
        noise = numpy_generator(random_state, "noise")
        u = np.clip(noise.random(X.shape), 1e-12, 1 - 1e-12)
        for node in topological_order(torch.from_numpy(self.adjacency)).tolist():
            X[:, node] = self._column(node, X, u[:, node])
            # What is usual is said once, by rows without interventions.
            usual = float(X[:, node].mean()), max(float(X[:, node].std()), 1e-6)
            self._usual.setdefault(node, usual)
            if do and node in do:
                X[:, node] = do[node]
        return X

    def _column(self, node: int, X: FloatArray, u: FloatArray) -> FloatArray:  # -> (rows,)
        kind, rng = self.types[node], numpy_generator(self.seed, "column", node)
        parents = np.flatnonzero(self.adjacency[:, node])
        count = int(rng.integers(3, 6)) if kind == "category" else 1
        if kind == "continuous" and not len(parents):
            family = _ROOT_NOISE[rng.integers(len(_ROOT_NOISE))]
            return np.quantile(NOISES[family](numpy_generator(0, family), (_USUAL,)), u)
        score = np.zeros((len(X), count))
        for parent in parents:
            for k in range(count):
                own = numpy_generator(self.seed, "effect", parent, node, k)
                score[:, k] += self._effect(int(parent), X[:, parent], own)
        score *= _STRENGTH[kind] / max(1.0, np.sqrt(len(parents)))
        return (COLUMN_TYPES if self.usual else OTHER_LAWS)[kind](score, u, rng)

    def _effect(self, parent: int, x: FloatArray, rng: np.random.Generator) -> FloatArray:
        size = rng.uniform(0.7, 1.2) * (-1.0, 1.0)[rng.integers(2)]
        if self.types[parent] == "category":
            effects = rng.permutation(np.linspace(-1.4, 1.4, 5))
            return size * effects[np.clip(x, 0, 4).astype(int)]
        location, scale = self._usual[parent]
        curve = _CURVES[0] if self.types[parent] == "binary" else _CURVES[rng.integers(4)]
        return size * curve((x - location) / scale)


def mixed(
    n_nodes: int = 12, rows: int = 1000, *, usual: bool = True, random_state: Any = None
) -> Dataset:
    r"""A table of continuous, binary, category, ordinal and count columns on a random graph.

    Every type is dealt out among roots, middle columns and leaves alike; there are 1.4 edges for
    each column in expectation.

    Arguments:
        n_nodes: Columns.
        rows: Rows.
        usual: Whether columns follow the usual laws of their types, logistic, softmax, ordered
            logistic and Poisson; or thresholds with noise of uneven size, and counts that saturate.
        random_state: None, an integer, or a numpy generator.

    Example:
        >>> data = mixed(10, 500, random_state=0)
        >>> data.X.shape, sorted(set(data.types.values()))
        ((500, 10), ['binary', 'category', 'continuous', 'count', 'ordinal'])
    """
    seed = base_seed(random_state)
    graph = erdos_renyi(n_nodes, 1.4 * n_nodes, random_state=seed)
    types = _dealt(graph, numpy_generator(seed, "types"))
    model = MixedModel(graph, types, seed, usual)
    names = [f"{kind}{node}" for node, kind in enumerate(types)]
    return Dataset(
        X=model.draw(rows, random_state=seed),
        adjacency=graph,
        names=names,
        name=f"mixed-{n_nodes}",
        provenance=Provenance(source="simulated", details=f"{model!r}."),
        types=dict(zip(names, types)),
    )


def _dealt(graph: IntArray, rng: np.random.Generator) -> tuple[str, ...]:
    """Types in turn, first to roots, then to middle columns, then to leaves."""
    role = np.where(graph.sum(0) == 0, 0, np.where(graph.sum(1) > 0, 1, 2))
    order = np.lexsort([rng.random(len(graph)), role])
    kinds = rng.permutation(list(COLUMN_TYPES))
    types = np.empty(len(graph), dtype=object)
    types[order] = [str(kinds[k % len(kinds)]) for k in range(len(graph))]
    return tuple(types.tolist())


def _by_shares(share: FloatArray, u: FloatArray) -> FloatArray:  # (rows, k), (rows,) -> (rows,)
    """Places that uniform numbers fall on, each as often as its share says."""
    below = share.cumsum(1) / share.sum(1, keepdims=True)
    return (u[:, None] > below[:, :-1]).sum(1).astype(float)


def _sigmoid(z: FloatArray) -> FloatArray:
    return NONLINEARITIES["sigmoid"](z)
