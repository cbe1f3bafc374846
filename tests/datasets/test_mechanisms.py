"""Mechanisms and noise have the stated distributions."""

import numpy as np
import pytest

from dpdag.datasets import GP, MECHANISMS, MLP, NOISES, AdditiveGP, Linear, Noise, Polynomial

POINTS = np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 1.0], [-1.0, 2.0], [3.0, 3.0]])


def rbf(points, bandwidth=1.0):
    return np.exp(-np.square(points[:, None] - points[None]).sum(-1) / (2 * bandwidth**2))


def covariance_scores(draws, expected):
    """z-scores of the empirical second moments of zero-mean Gaussian draws (k, rows)."""
    variance = np.outer(expected.diagonal(), expected.diagonal()) + expected**2
    return (draws.T @ draws / len(draws) - expected) / np.sqrt(variance / len(draws))


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        (GP(), rbf(POINTS)),
        (GP(bandwidth=2.0, amplitude=3.0), 9 * rbf(POINTS, 2.0)),
        (AdditiveGP(), rbf(POINTS[:, :1]) + rbf(POINTS[:, 1:])),
    ],
    ids=["joint", "wide", "additive"],
)
@pytest.mark.parametrize("exact", [True, False], ids=["cholesky", "fourier"])
def test_gp_draws_have_the_stated_covariance(mechanism, expected, exact):
    rows = 2000 if exact else 0
    mechanism = type(mechanism)(mechanism.bandwidth, mechanism.amplitude, rows, 500)
    rng = np.random.default_rng(0)
    draws = np.stack([mechanism.draw(POINTS, rng) for _ in range(4000)])
    z = covariance_scores(draws, expected)
    assert np.abs(z).max() < 4.5
    means = draws.mean(0) / np.sqrt(expected.diagonal() / len(draws))
    assert np.abs(means).max() < 4.5


def test_gp_draws_are_gaussian_after_whitening():
    rng = np.random.default_rng(1)
    factor = np.linalg.cholesky(rbf(POINTS) + 1e-6 * np.eye(5))
    draws = np.stack([GP().draw(POINTS, rng) for _ in range(2000)])
    white = np.linalg.solve(factor, draws.T)
    assert white.var() == pytest.approx(1, abs=0.06)
    assert (white**4).mean() == pytest.approx(3, abs=0.5)


def test_a_wrong_bandwidth_would_be_noticed():
    rng = np.random.default_rng(0)
    draws = np.stack([GP(bandwidth=1.2).draw(POINTS, rng) for _ in range(4000)])
    assert np.abs(covariance_scores(draws, rbf(POINTS))).max() > 4.5


def test_gp_draws_hardly_depend_on_rounding():
    rng = np.random.default_rng(0)
    parents = rng.standard_normal((500, 2))
    moved = parents * (1 + 1e-15 * rng.standard_normal(parents.shape))
    first, second = (GP().draw(points, np.random.default_rng(3)) for points in (parents, moved))
    assert np.abs(first - second).max() < 1e-7


def test_gp_is_one_function_of_its_parents():
    parents = np.repeat(np.random.default_rng(0).standard_normal((50, 3)), 2, axis=0)
    for mechanism in (GP(), GP(exact_rows=0), AdditiveGP(), AdditiveGP(exact_rows=0)):
        f = mechanism.draw(parents, np.random.default_rng(1))
        assert np.abs(f[::2] - f[1::2]).max() < 0.01  # equal parents, equal values


def test_additive_gp_is_additive():
    a, b = np.meshgrid(np.linspace(-1, 1, 8), np.linspace(-1, 1, 8))
    parents = np.stack([a.ravel(), b.ravel()], axis=1)
    for mechanism, additive in ((AdditiveGP(), True), (GP(), False)):
        f = mechanism.draw(parents, np.random.default_rng(0)).reshape(8, 8)
        interaction = f - f.mean(0) - f.mean(1, keepdims=True) + f.mean()
        assert bool(np.abs(interaction).max() < 0.02) == additive


def test_many_rows_are_drawn_in_blocks_of_one_function(monkeypatch):
    parents = np.random.default_rng(0).standard_normal((5000, 2))
    whole = GP(n_features=100).draw(parents, np.random.default_rng(1))
    monkeypatch.setattr("dpdag.datasets.mechanisms.FEATURE_CHUNK", 100 * 37)
    blocks = GP(n_features=100).draw(parents, np.random.default_rng(1))
    np.testing.assert_allclose(blocks, whole, atol=1e-12)
    assert 0.1 < whole.var() < 3


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_mechanisms_are_reproducible_and_leave_their_input_alone(name):
    parents = np.random.default_rng(0).standard_normal((40, 3))
    copy = parents.copy()
    first, second = (MECHANISMS[name]().draw(parents, np.random.default_rng(5)) for _ in range(2))
    assert (first == second).all()
    assert (parents == copy).all()
    assert first.shape == (40,)
    assert first.std() > 0.05


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_mechanisms_depend_on_every_parent(name):
    rng = np.random.default_rng(0)
    parents = rng.standard_normal((200, 3))
    base = MECHANISMS[name]().draw(parents, np.random.default_rng(5))
    for parent in range(3):
        other = parents.copy()
        other[:, parent] += 1.0 + rng.standard_normal(200)
        assert np.abs(MECHANISMS[name]().draw(other, np.random.default_rng(5)) - base).max() > 0.05


def test_linear_weights_stay_away_from_zero():
    weights = np.array([Linear().draw(np.eye(4), np.random.default_rng(s)) for s in range(200)])
    assert np.abs(weights).min() >= 0.5
    assert np.abs(weights).max() <= 2.0
    assert 0.4 < (weights > 0).mean() < 0.6


def test_polynomial_has_its_degree():
    x = np.linspace(-1, 1, 9)[:, None]
    f = Polynomial(3).draw(x, np.random.default_rng(0))
    assert np.abs(np.diff(f, n=4)).max() < 1e-10
    assert np.abs(np.diff(f, n=3)).max() > 1e-3


def test_polynomial_does_not_explode_along_a_path():
    x = np.random.default_rng(0).standard_normal((500, 1))
    for depth in range(50):
        x = Polynomial().draw(x, np.random.default_rng(depth))[:, None]
    assert x.std() == pytest.approx(1)


@pytest.mark.parametrize("family", list(NOISES))
def test_noise_has_zero_mean_and_the_stated_variance(family):
    noise = Noise(family, variance=2.5).draw(200_000, 1, np.random.default_rng(0))
    assert noise.mean() == pytest.approx(0, abs=0.02)
    assert noise.var() == pytest.approx(2.5, rel=0.03)


@pytest.mark.parametrize(
    ("family", "kurtosis", "skewness"),
    [("gaussian", 3, 0), ("laplace", 6, 0), ("gumbel", 5.4, 1.14), ("uniform", 1.8, 0)],
)
def test_noise_has_the_shape_of_its_family(family, kurtosis, skewness):
    z = Noise(family).draw(400_000, 1, np.random.default_rng(0))
    assert (z**4).mean() == pytest.approx(kurtosis, rel=0.05)
    assert (z**3).mean() == pytest.approx(skewness, abs=0.05)


def test_noise_variances_are_drawn_between_their_bounds():
    noise = Noise(variance=(0.04, 0.08)).draw(20_000, 50, np.random.default_rng(0))
    variance = noise.var(0)
    assert variance.min() > 0.038
    assert variance.max() < 0.082
    assert variance.mean() == pytest.approx(0.06, abs=0.005)
    assert variance.std() > 0.008


@pytest.mark.parametrize("variance", [0, -1.0, (0.8, 0.4), float("nan"), (1.0, float("inf"))])
def test_impossible_variances_are_refused(variance):
    with pytest.raises(ValueError, match=r"'variance' must be positive, or increasing bounds"):
        Noise(variance=variance)


def test_unknown_parts_are_refused_with_a_suggestion():
    with pytest.raises(ValueError, match=r"Unknown noise family 'gausian'. Did you mean 'gaus"):
        Noise("gausian")
    with pytest.raises(ValueError, match=r"Unknown mechanism 'mpl'. Did you mean 'mlp'"):
        MECHANISMS["mpl"]


@pytest.mark.parametrize(
    ("part", "arguments"),
    [(GP, {"bandwidth": 0}), (GP, {"amplitude": -1}), (MLP, {"hidden_units": 0})],
)
def test_impossible_parameters_are_refused(part, arguments):
    (name,) = arguments
    with pytest.raises(ValueError, match=f"'{name}' must be positive; got"):
        part(**arguments)
