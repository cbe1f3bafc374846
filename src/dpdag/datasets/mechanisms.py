"""Random functions of a node's parents: draw one, get its value in every row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky

from ..registry import Registry

FloatArray = NDArray[np.float64]

MECHANISMS: Registry[type[Mechanism]] = Registry("mechanism")

# The Cholesky factor of an RBF kernel amplifies rounding by about 1 / jitter; 1e-6 keeps two
# machines within about 1e-9 of each other and adds a thousandth of the noise's spread.
JITTER = 1e-6
FEATURE_CHUNK = 2**22  # entries of a block of random features: 32 MB


class Mechanism(ABC):
    """A distribution over functions of the parents' values."""

    @abstractmethod
    def draw(self, parents: FloatArray, rng: np.random.Generator) -> FloatArray:
        """(rows, k ≥ 1) parents' values → (rows,) values of one random function."""


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < np.inf:
            raise ValueError(f"'{name}' must be positive; got {value}.")


@MECHANISMS.register("gp")
@dataclass(frozen=True)
class GP(Mechanism):
    r"""A draw from a zero-mean Gaussian process over all parents *jointly*.

    .. math:: \operatorname{cov}(f(x), f(y)) = a^2 \exp(-\lVert x - y\rVert^2 / 2 \ell^2)

    Exact up to ``exact_rows`` rows; beyond, by random Fourier features, which have the same
    covariance in expectation and need memory for one block of rows only:

    .. math:: f(x) = a \sqrt{2 / F} \textstyle\sum_k w_k \cos(\omega_k^\top x + b_k)

    Arguments:
        bandwidth: Length scale ℓ.
        amplitude: Standard deviation a of f at any point.
        exact_rows: Largest number of rows for which the kernel matrix is factorised.
        n_features: Number F of random Fourier features beyond.

    References:
        | Random features for large-scale kernel machines (Rahimi & Recht, 2007)

    Example:
        >>> rng = np.random.default_rng(0)
        >>> GP().draw(rng.standard_normal((50, 3)), rng).shape
        (50,)
    """

    bandwidth: float = 1.0
    amplitude: float = 1.0
    exact_rows: int = 2000
    n_features: int = 1000

    def __post_init__(self) -> None:
        _check_positive(
            bandwidth=self.bandwidth, amplitude=self.amplitude, n_features=self.n_features
        )

    def draw(self, parents: FloatArray, rng: np.random.Generator) -> FloatArray:
        inputs = self._inputs(parents / self.bandwidth)
        if parents.shape[0] > self.exact_rows:
            draws = (_fourier_draw(points, self.n_features, rng) for points in inputs)
            value = sum(draws, start=np.zeros(()))
        else:
            value = _cholesky_draw(sum(map(_rbf, inputs), start=np.zeros(())), rng)
        return self.amplitude * value

    def _inputs(self, parents: FloatArray) -> list[FloatArray]:  # (rows, k) each
        """What the summands of the function are functions of."""
        return [parents]


@MECHANISMS.register("additive-gp")
@dataclass(frozen=True)
class AdditiveGP(GP):
    r"""A sum of independent Gaussian processes, one per parent.

    .. math:: f(x) = \textstyle\sum_j f_j(x_j), \quad
        \operatorname{cov}(f_j(s), f_j(t)) = a^2 \exp(-(s - t)^2 / 2 \ell^2)

    Arguments as for :class:`GP`.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> AdditiveGP(bandwidth=2.0).draw(rng.standard_normal((50, 3)), rng).shape
        (50,)
    """

    def _inputs(self, parents: FloatArray) -> list[FloatArray]:  # (rows, 1) each
        return np.split(parents, parents.shape[1], axis=1)


@MECHANISMS.register("mlp")
@dataclass(frozen=True)
class MLP(Mechanism):
    r"""A random network with one hidden layer.

    .. math:: f(x) = H^{-1/2} \textstyle\sum_h v_h \tanh(w_h^\top x + b_h), \quad
        |w|, |v| \sim U(0.5, 2), \; b \sim N(0, 1)

    Arguments:
        hidden_units: Number H of hidden units.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> MLP().draw(rng.standard_normal((50, 3)), rng).shape
        (50,)
    """

    hidden_units: int = 100

    def __post_init__(self) -> None:
        _check_positive(hidden_units=self.hidden_units)

    def draw(self, parents: FloatArray, rng: np.random.Generator) -> FloatArray:
        w = _signed_uniform(rng, (parents.shape[1], self.hidden_units), 0.5, 2.0)
        v = _signed_uniform(rng, (self.hidden_units,), 0.5, 2.0)
        b = rng.standard_normal(self.hidden_units)
        return np.tanh(parents @ w + b) @ v / np.sqrt(self.hidden_units)


@MECHANISMS.register("linear")
@dataclass(frozen=True)
class Linear(Mechanism):
    r"""A weighted sum of the parents, with weights away from zero.

    .. math:: f(x) = w^\top x, \quad |w_j| \sim U(\text{low}, \text{high}), \text{ random signs}

    Arguments:
        low: Smallest absolute weight.
        high: Largest absolute weight.

    Example:
        >>> Linear(1.0, 1.0).draw(np.ones((2, 1)), np.random.default_rng(0)).tolist()
        [1.0, 1.0]
    """

    low: float = 0.5
    high: float = 2.0

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high:
            raise ValueError(
                f"'low' and 'high' must be 0 ≤ low ≤ high; got {self.low}, {self.high}."
            )

    def draw(self, parents: FloatArray, rng: np.random.Generator) -> FloatArray:
        return parents @ _signed_uniform(rng, (parents.shape[1],), self.low, self.high)


@MECHANISMS.register("polynomial")
@dataclass(frozen=True)
class Polynomial(Mechanism):
    r"""A random polynomial with all interactions, of unit variance over the rows drawn.

    .. math:: f(x) \propto \textstyle\sum_{1 \le |\alpha| \le D} c_\alpha z^\alpha, \quad
        |c_\alpha| \sim U(0.5, 2),

    where z are the standardised parents; without the two normalisations values would grow doubly
    exponentially along a path.

    Arguments:
        degree: Largest total degree D of a monomial.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> f = Polynomial(3).draw(rng.standard_normal((50, 3)), rng)
        >>> round(float(f.std()), 6)
        1.0
    """

    degree: int = 2

    def __post_init__(self) -> None:
        _check_positive(degree=self.degree)

    def draw(self, parents: FloatArray, rng: np.random.Generator) -> FloatArray:
        z = standardised(parents)
        value = np.zeros(parents.shape[0])
        for degree in range(1, self.degree + 1):
            for monomial in combinations_with_replacement(range(parents.shape[1]), degree):
                value += _signed_uniform(rng, (), 0.5, 2.0) * z[:, monomial].prod(1)
        return standardised(value)


def standardised(values: FloatArray) -> FloatArray:  # (rows, ...)
    """Values of mean zero over rows and, where they are not all the same, variance one."""
    scale = values.std(0)
    return (values - values.mean(0)) / np.where(scale > 0, scale, 1.0)


def _signed_uniform(
    rng: np.random.Generator, size: tuple[int, ...], low: float, high: float
) -> FloatArray:
    sign = np.where(rng.random(size) < 0.5, -1.0, 1.0)
    return sign * rng.uniform(low, high, size)


def _rbf(points: FloatArray) -> FloatArray:  # (rows, k) -> (rows, rows)
    from scipy.spatial.distance import cdist

    kernel = cdist(points, points, "sqeuclidean")
    kernel *= -0.5
    return np.exp(kernel, out=kernel)


def _cholesky_draw(kernel: FloatArray, rng: np.random.Generator) -> FloatArray:
    kernel[np.diag_indices_from(kernel)] += JITTER
    # A symmetric matrix is its own transpose, which is what LAPACK can factorise in place.
    factor = cholesky(kernel.T, lower=True, overwrite_a=True, check_finite=False)
    return factor @ rng.standard_normal(kernel.shape[0])


def _fourier_draw(
    points: FloatArray, n_features: int, rng: np.random.Generator
) -> FloatArray:  # (rows, k) -> (rows,)
    frequency = rng.standard_normal((points.shape[1], n_features))
    phase = 2 * np.pi * rng.random(n_features)
    weight = rng.standard_normal(n_features) * np.sqrt(2 / n_features)
    step = max(FEATURE_CHUNK // n_features, 1)
    blocks = np.split(points, range(step, points.shape[0], step))
    return np.concatenate([np.cos(block @ frequency + phase) @ weight for block in blocks])
