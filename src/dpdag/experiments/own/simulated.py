"""Data off the benchmark's model class: other functions and other noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ... import datasets
from ...datasets import Dataset
from ...datasets.mechanisms import standardised
from ..experiment import Source
from ..measures import Array


@dataclass(frozen=True)
class LocationScale:
    """Sums of sines, with noise of its own whose size follows the parents too."""

    def draw(self, parents: Array, rng: np.random.Generator) -> Array:
        """Values of a child: (rows, p) -> (rows,)."""
        x = standardised(parents)
        low, high = np.array([[0.5, 1.5], [0.0, 6.0], [-0.6, 0.6], [-0.5, 0.5]]).T[..., None]
        rate, phase, steep, lean = rng.uniform(low, high, (4, x.shape[1]))
        size = np.exp(np.clip((steep * x).sum(-1), -2, 2))
        noise = 0.5 * size * rng.normal(size=len(x))
        return np.asarray((np.sin(rate * x + phase) + lean * x).sum(-1) + noise)


@dataclass(frozen=True)
class Products:
    """Products of two parents each, in turn; a sine of what is left over."""

    def draw(self, parents: Array, rng: np.random.Generator) -> Array:
        """Values of a child: (rows, p) -> (rows,)."""
        x = standardised(parents)
        pairs = x.shape[1] // 2
        together = x[:, :pairs] * x[:, pairs : 2 * pairs]
        alone = np.sin(2 * x[:, 2 * pairs :])
        weight = rng.uniform(0.5, 1.5, pairs + alone.shape[1])
        return np.asarray(np.concatenate([together, alone], axis=1) @ weight)


@dataclass(frozen=True)
class Steps:
    """Sums of jumps, two for each parent."""

    def draw(self, parents: Array, rng: np.random.Generator) -> Array:
        """Values of a child: (rows, p) -> (rows,)."""
        x = standardised(parents)
        place = rng.uniform(-1, 1, (2, x.shape[1]))
        height = rng.uniform(0.5, 1.5, place.shape) * rng.choice([-1, 1], place.shape)
        return np.asarray((height * (x[:, None] > place)).sum((1, 2)))


MECHANISMS: dict[str, Any] = {
    "location-scale": LocationScale(),
    "products": Products(),
    "steps": Steps(),
}


def simulated(
    name: str,
    index: int,
    *,
    mechanism: str,
    noise: str = "gaussian",
    post: str | None = None,
    edges: int = 40,
) -> Dataset:
    """20 nodes, 1000 rows."""
    return datasets.simulate(
        datasets.erdos_renyi(20, edges, random_state=index),
        1000,
        mechanism=MECHANISMS.get(mechanism, mechanism),
        noise=datasets.Noise(noise, variance=(0.1, 0.3)),
        post=post,
        name=name,
        random_state=index,
    )


KINDS: dict[str, dict[str, Any]] = {
    "additive GP": {"mechanism": "additive-gp"},
    "GP, Laplace": {"mechanism": "gp", "noise": "laplace"},
    "GP, exponential": {"mechanism": "gp", "post": "exp"},
    "MLP": {"mechanism": "mlp"},
    "linear": {"mechanism": "linear"},
    "linear, Laplace": {"mechanism": "linear", "noise": "laplace"},
    "linear, Laplace, dense": {"mechanism": "linear", "noise": "laplace", "edges": 80},
    "linear, Gumbel": {"mechanism": "linear", "noise": "gumbel"},
    "location-scale": {"mechanism": "location-scale"},
    "products": {"mechanism": "products"},
    "steps": {"mechanism": "steps"},
}

# Sets from number 50 on: the others were looked at while the learners were made.
OFF_CLASS = tuple(
    Source(name, partial(simulated, **facts), first=50) for name, facts in KINDS.items()
)
