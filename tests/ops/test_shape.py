"""The shape of distributions, from samples."""

import math

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.integrate import quad

from dpdag.ops.shape import left_out_density, negentropy, shape_gain

UNIT = {  # of mean zero and variance one
    "gaussian": stats.norm(),
    "laplace": stats.laplace(scale=0.5**0.5),
    "uniform": stats.uniform(-(3**0.5), 2 * 3**0.5),
    "exponential": stats.expon(loc=-1),
}


def sample(name: str) -> torch.Tensor:  # (100000,)
    return torch.from_numpy(UNIT[name].ppf((np.arange(100_000) + 0.5) / 100_000))


@pytest.mark.parametrize("name", UNIT)
def test_negentropy_of_a_large_sample_is_that_of_the_distribution(name: str) -> None:
    density, (low, high) = UNIT[name].pdf, np.clip(UNIT[name].support(), -20, 20)
    tails, _ = quad(lambda u: density(u) * np.log(np.cosh(u)), low, high, points=[0])
    skew, _ = quad(lambda u: density(u) * u * np.exp(-u * u / 2), low, high, points=[0])
    expected = 79.047 * (tails - 0.37457) ** 2 + 7.4129 * skew**2
    assert negentropy(sample(name)).item() == pytest.approx(expected, rel=0.05, abs=1e-6)
    assert (expected < 1e-6) == (name == "gaussian")


def test_negentropy_works_on_batches() -> None:
    rows = torch.stack([sample("laplace"), sample("gaussian")])
    torch.testing.assert_close(negentropy(rows), torch.stack([negentropy(row) for row in rows]))


def draws(name: str, rows: int, seed: int = 0) -> torch.Tensor:  # (1, rows)
    drawn = UNIT[name].rvs(size=rows, random_state=seed)
    return torch.from_numpy((drawn - drawn.mean()) / drawn.std())[None]


def gain_of_any_shape(u: torch.Tensor) -> float:  # (rows,)
    """Kernel estimates of every value from all others, without a grid, and fitted Student laws."""
    rows = len(u)
    totals = []
    for factor in (1.0, 0.6, 0.35, 0.2):
        h = factor * rows**-0.2
        kernel = torch.exp(-0.5 * ((u[:, None] - u) / h).square()) / (h * math.sqrt(2 * math.pi))
        others = (kernel.sum(-1) - kernel.diagonal()) / (rows - 1)
        cauchy = 1 / (math.pi * (1 + u.square()))
        totals.append(float((0.99 * others + 0.01 * cauchy).log().sum()))
    for free in (1, 4):
        fitted = stats.t(*stats.t.fit(u.numpy(), fdf=free))
        vague = 0.5 * math.log((free + 3) ** 2 / (free * (free + 1)))  # information, over Gaussian
        totals.append(float(fitted.logpdf(u.numpy()).sum()) + vague)
    average = np.logaddexp.reduce(totals) - math.log(len(totals))
    return float(average) + 0.5 * rows * math.log(2 * math.pi * math.e)


@pytest.mark.parametrize("seed", range(5))
def test_gaussian_samples_gain_nothing_by_their_own_shape(seed: int) -> None:
    assert shape_gain(draws("gaussian", 1000, seed)).item() < 0


@pytest.mark.parametrize("name", ["laplace", "uniform", "exponential"])
def test_shape_gain_is_nearly_the_rows_times_the_negentropy(name: str) -> None:
    entropy_of_gaussian = 0.5 * math.log(2 * math.pi * math.e)
    known = 5000 * (entropy_of_gaussian - float(UNIT[name].entropy()))
    gain = np.mean([shape_gain(draws(name, 5000, seed)).item() for seed in range(3)])
    assert 0.8 * known < gain < 1.05 * known


@pytest.mark.parametrize("rows", [200, 1000])
@pytest.mark.parametrize("name", UNIT)
def test_shape_gain_is_that_of_densities_estimated_without_a_grid(name: str, rows: int) -> None:
    u = draws(name, rows, seed=3)
    assert shape_gain(u).item() == pytest.approx(gain_of_any_shape(u[0]), abs=0.004 * rows)


def test_shape_gain_knows_neither_the_order_of_rows_nor_the_sign() -> None:
    u = torch.cat([draws(name, 500) for name in UNIT])
    shuffled = u[:, torch.randperm(500, generator=torch.Generator().manual_seed(0))]
    torch.testing.assert_close(shape_gain(shuffled), shape_gain(u))
    torch.testing.assert_close(shape_gain(-u), shape_gain(u), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(shape_gain(u), torch.cat([shape_gain(row[None]) for row in u]))


@pytest.mark.parametrize("far", [7.99, 8.0, 50.0, 1e6, 1e12])
def test_a_far_outlier_costs_only_itself(far: float) -> None:
    u = draws("laplace", 300)
    plain, stray = shape_gain(u), shape_gain(torch.cat([u, torch.full((1, 1), far)], dim=1))
    assert (plain - stray).item() < 10 + 2 * math.log(far)
    assert stray <= plain + 0.5 * math.log(2 * math.pi * math.e)


@pytest.mark.parametrize("rows", [5, 300, 2000])
def test_density_without_each_row_equals_the_sum_over_all_others(rows: int) -> None:
    u = 8 * torch.randn(rows, 3, generator=torch.Generator().manual_seed(rows)).double()
    pairs = torch.exp(-0.5 * (u[:, None] - u).square()) / math.sqrt(2 * math.pi)
    dense = (pairs.sum(1) - 1 / math.sqrt(2 * math.pi)) / (rows - 1)
    torch.testing.assert_close(left_out_density(u), dense, rtol=0.02, atol=2e-4)


def test_density_is_zero_for_values_that_are_alone() -> None:
    u = torch.cat([torch.zeros(9, 1), torch.tensor([[50.0], [5000.0]])]).double()
    assert left_out_density(u)[-2:].tolist() == [[0.0], [0.0]]
    assert bool((left_out_density(u)[:-2] > 0.3).all())
