"""Noise of any family, zero on average, with equal variances or variances drawn per node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..registry import Registry

FloatArray = NDArray[np.float64]
StandardDraw = Callable[[np.random.Generator, tuple[int, ...]], FloatArray]

# Every family is standardised: mean zero, variance one.
NOISES = Registry[StandardDraw](
    "noise family",
    {
        "gaussian": lambda rng, size: rng.standard_normal(size),
        "laplace": lambda rng, size: rng.laplace(scale=np.sqrt(0.5), size=size),
        "gumbel": lambda rng, size: (rng.gumbel(size=size) - np.euler_gamma) * np.sqrt(6) / np.pi,
        "uniform": lambda rng, size: rng.uniform(-np.sqrt(3), np.sqrt(3), size),
    },
)


@dataclass(frozen=True)
class Noise:
    r"""Independent noise :math:`\epsilon_i = \sigma_i z_i` with mean zero.

    Arguments:
        family: Distribution of the standardised :math:`z_i`: "gaussian", "laplace", "gumbel" or
            "uniform".
        variance: One value of :math:`\sigma_i^2` for all nodes, or bounds (low, high) between
            which each node's variance is drawn uniformly.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> Noise("laplace", variance=(0.4, 0.8)).draw(1000, 5, rng).shape
        (1000, 5)
        >>> Noise(variance=-1)
        Traceback (most recent call last):
        ValueError: 'variance' must be positive, or increasing bounds (low, high); got -1.
    """

    family: str = "gaussian"
    variance: float | tuple[float, float] = 1.0

    def __post_init__(self) -> None:
        NOISES[self.family]
        low, high = self._bounds()
        if not 0 < low <= high < np.inf:
            raise ValueError(
                "'variance' must be positive, or increasing bounds (low, high); "
                f"got {self.variance}."
            )

    def _bounds(self) -> tuple[float, float]:
        low, high = np.broadcast_to(np.asarray(self.variance, dtype=float), (2,))
        return float(low), float(high)

    def draw(self, rows: int, n_nodes: int, rng: np.random.Generator) -> FloatArray:
        """(rows, nodes) noise; the nodes' variances are drawn first."""
        low, high = self._bounds()
        variance = low + (high - low) * rng.random(n_nodes)
        return np.sqrt(variance) * NOISES[self.family](rng, (rows, n_nodes))
