"""The shape of distributions, from samples."""

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.integrate import quad

from dpdag.ops.shape import negentropy

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
