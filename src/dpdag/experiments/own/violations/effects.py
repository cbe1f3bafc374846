"""What a column makes of its causes and of noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .... import datasets
from .distortions import standard

Array = NDArray[np.float64]
Effect = Callable[[Array, np.random.Generator], Array]  # (rows, p) parents -> (rows,)


def noise_inside(parents: Array, rng: np.random.Generator) -> Array:
    """A smooth function of the causes and of noise together."""
    noise = 0.5 * rng.normal(size=(len(parents), 1))
    return datasets.GP(bandwidth=1.5).draw(np.column_stack([standard(parents), noise]), rng)


def network_noise(parents: Array, rng: np.random.Generator) -> Array:
    """A network that has noise as an input."""
    noise = rng.normal(size=(len(parents), 1))
    return datasets.MLP(20).draw(np.column_stack([standard(parents), noise]), rng)


def sigmoid_of_sum(parents: Array, rng: np.random.Generator) -> Array:
    """A sigmoid of a weighted sum of the causes and of noise."""
    total = datasets.Linear().draw(standard(parents), rng) + rng.normal(size=len(parents))
    return 0.5 * (1 + np.tanh(0.5 * (total + rng.normal())))


def multiplicative(parents: Array, rng: np.random.Generator) -> Array:
    """A function of the causes times noise."""
    value = datasets.AdditiveGP().draw(standard(parents), rng)
    return value * np.exp(0.5 * rng.normal(size=len(parents)))


def post_nonlinear(parents: Array, rng: np.random.Generator) -> Array:
    """An odd power of a sum of curves and noise."""
    total = datasets.AdditiveGP().draw(standard(parents), rng) + 0.4 * rng.normal(size=len(parents))
    return np.sign(total) * np.abs(total) ** rng.choice([0.4, 2.0])


def regulated(parents: Array, rng: np.random.Generator) -> Array:
    """Genes switched on or off by others, with little noise of their own."""
    level = parents / parents.max(0)
    half, steep = rng.uniform(0.2, 0.8, parents.shape[1]), rng.uniform(1, 4, parents.shape[1])
    active = level**steep / (half**steep + level**steep)
    active = np.where(rng.random(parents.shape[1]) < 0.7, active, 1 - active)
    value = active.prod(1) if rng.random() < 0.5 else active.mean(1)
    return value * np.exp(0.1 * rng.normal(size=len(parents)))


def latest(parents: Array, rng: np.random.Generator) -> Array:
    """What waits for the last of its causes, and then takes a time of its own."""
    late = (standard(parents) + rng.normal(size=parents.shape[1])).max(1)
    return late + 0.4 * rng.exponential(size=len(parents))


def regimes(parents: Array, rng: np.random.Generator) -> Array:
    """One cause switches between two functions of all, noise entering before the switch."""
    x = standard(parents)
    switch = x[:, rng.integers(x.shape[1])] + 0.3 * rng.normal(size=len(x)) > 0
    one, other = (datasets.AdditiveGP().draw(x, rng) for _ in range(2))
    return np.where(switch, one, other) + 0.3 * rng.normal(size=len(x))


def triggered(parents: Array, rng: np.random.Generator) -> Array:
    """On or off by a weighted sum of the causes, and noise."""
    total = standard(parents) @ rng.choice([-1.0, 1.0], parents.shape[1])
    return rng.uniform(1, 2) * (total > 0.5 * rng.normal()) + 0.3 * rng.normal(size=len(parents))


def additive(parents: Array, rng: np.random.Generator) -> Array:
    """What the evidence expects: a sum of curves and Gaussian noise."""
    value = datasets.AdditiveGP().draw(standard(parents), rng)
    return value + 0.4 * rng.normal(size=len(parents))


def joint(parents: Array, rng: np.random.Generator) -> Array:
    """What the evidence expects: a process of all causes together and Gaussian noise."""
    return datasets.GP().draw(standard(parents), rng) + 0.3 * rng.normal(size=len(parents))


def lines(parents: Array, rng: np.random.Generator) -> Array:
    """What the evidence expects: lines and Laplace noise."""
    return datasets.Linear().draw(standard(parents), rng) + rng.laplace(size=len(parents))


def plain_lines(parents: Array, rng: np.random.Generator) -> Array:
    """What the evidence expects: lines and Gaussian noise, which leave directions open."""
    return datasets.Linear().draw(standard(parents), rng) + rng.normal(size=len(parents))
