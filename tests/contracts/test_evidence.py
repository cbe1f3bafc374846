"""What every evidence must be: a normalised density that invents nothing."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from dpdag.columns import standardise, table_of
from dpdag.evidence.families import AUTO, FUNCTIONS
from dpdag.evidence.gp import GPEvidence
from dpdag.evidence.gp.kernels import KERNELS
from dpdag.evidence.gp.marginal import gp_evidence
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.evidence.noise import log_gaussian, noise_factors

FAMILIES = [(name,) for name in FUNCTIONS] + [AUTO]
families = pytest.mark.parametrize("functions", FAMILIES, ids="+".join)


def columns(rows: int = 150) -> Tensor:  # (rows, 3): 0 → 1, (0, 1) → 2
    noise = torch.randn(rows, 3, generator=torch.Generator().manual_seed(0)).double()
    b = torch.sin(2 * noise[:, 0]) + 0.4 * noise[:, 1]
    return torch.stack([noise[:, 0], b, torch.cos(noise[:, 0] + b) + 0.4 * noise[:, 2].exp()], -1)


CHILD = torch.tensor([1, 2, 2, 0, 0])
PARENTS = torch.tensor([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 0]]).bool()


def test_gaussian_densities_integrate_to_one() -> None:
    matrix = torch.tensor([[1.3, 0.6], [0.6, 0.8]], dtype=torch.float64)
    # Tails are heavy, so that the grid is even in the tangent of the angle.
    angle = torch.linspace(-1, 1, 1502, dtype=torch.float64)[1:-1] * math.pi / 2
    y, weight = 0.2 * angle.tan(), 0.2 / angle.cos().square() * (angle[1] - angle[0])
    points = torch.cartesian_prod(y, y)
    quadratic = (points @ torch.linalg.inv(matrix) * points).sum(-1)
    density = log_gaussian(quadratic, torch.logdet(matrix).expand_as(quadratic), 2).exp()
    assert float(density @ torch.outer(weight, weight).flatten()) == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("free", [2, 3, 5])
def test_chance_gains_stay_within_markovs_bound_where_tails_are_heavy(free: int) -> None:
    """A density of roots that lacks their tails would leave those to single causes."""
    rows, n = 50, 60
    x = torch.from_numpy(np.random.default_rng(100 * free + 1).standard_t(free, size=(rows, n)))
    evidence = MixtureEvidence((x - x.mean(0)) / x.std(0), functions=["linear", "additive"])
    child, parent = (1 - torch.eye(n)).nonzero(as_tuple=True)
    sets = torch.nn.functional.one_hot(parent, n).bool()
    alone = evidence.log_evidence(torch.arange(n), torch.zeros(n, n, dtype=torch.bool))
    gain = evidence.log_evidence(child, sets) - alone[child]
    assert float(gain.max()) < math.log(len(gain))


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_processes_integrate_to_one_with_their_parameters_integrated_out(kernel: str) -> None:
    """The mean of q / p over draws from p is the integral of q."""
    generator, rows = torch.Generator().manual_seed(0), 60
    x = torch.randn(rows, 1, generator=generator).double()
    kind = KERNELS[kernel]
    spread = torch.tensor(kind.spread, dtype=torch.float64)
    lower, upper = kind.bounds(1)
    every = kind.start(1) + spread * torch.randn(600, 3, generator=generator).double()
    every = every.clamp(lower, upper)
    ratios = []
    for theta in every[:60]:
        scale, noise, extra = theta.exp().split(1)
        matrix = kind.covariance(x[None], scale[None], extra[None]).matrix[0]
        factor = torch.linalg.cholesky(matrix + noise * torch.eye(rows))
        y = factor @ torch.randn(rows, generator=generator).double()
        batch = (y.expand(len(every), -1).unsqueeze(-1), x.expand(len(every), -1, -1))
        p = gp_evidence(*batch, every, kind)[:, 0].logsumexp(0) - math.log(len(every))
        table = torch.cat([x, y[:, None]], -1)
        q = GPEvidence(table, kernel=kernel, dtype=torch.float64).log_evidence(
            torch.tensor([1]), torch.tensor([[True, False]])
        )
        ratios.append(float(q - p))
    assert np.exp(ratios).mean() < 2.0  # typical curvatures stand for the true ones
    assert abs(np.median(ratios)) < 1.5


@families
def test_units_and_the_order_of_columns_do_not_matter(functions: tuple[str, ...]) -> None:
    x = columns()
    plain = MixtureEvidence(table_of(x), functions=functions).log_evidence(CHILD, PARENTS)
    other = table_of(x * torch.tensor([10.0, 1e-3, 5.0]) + 7)
    scaled = MixtureEvidence(other, functions=functions).log_evidence(CHILD, PARENTS)
    torch.testing.assert_close(scaled, plain, atol=0.1, rtol=0)
    order = torch.tensor([2, 0, 1])
    place = order.argsort()
    moved = MixtureEvidence(table_of(x[:, order]), functions=functions)
    values = moved.log_evidence(place[CHILD], PARENTS[:, order])
    torch.testing.assert_close(values, plain, atol=0.1, rtol=0)


@families
def test_the_order_of_rows_does_not_matter(functions: tuple[str, ...]) -> None:
    x = columns()
    shuffled = x[torch.randperm(len(x), generator=torch.Generator().manual_seed(2))]
    plain, other = (
        MixtureEvidence(table_of(rows), functions=functions).log_evidence(CHILD, PARENTS)
        for rows in (x, shuffled)
    )
    torch.testing.assert_close(other, plain, atol=0.1, rtol=0)


@families
@pytest.mark.parametrize("rows", [30, 100, 1000])
def test_a_parent_that_is_noise_costs_on_average(functions: tuple[str, ...], rows: int) -> None:
    generator = torch.Generator().manual_seed(rows)
    n = 16 if rows < 1000 else 6
    x, _ = standardise(torch.randn(rows, n, generator=generator).double())
    evidence = MixtureEvidence(x, functions=functions)
    child = torch.arange(n)
    parents = torch.eye(n, dtype=torch.bool).roll(1, 1)
    gain = evidence.log_evidence(child, parents)
    gain = gain - evidence.log_evidence(child, torch.zeros_like(parents))
    assert gain.mean() < 0


def test_noise_of_another_kind_costs_where_it_is_gaussian_after_all() -> None:
    u = torch.randn(200, 300, generator=torch.Generator().manual_seed(0)).double()
    features = torch.randn(200, 4, 300, generator=torch.Generator().manual_seed(1)).double()
    gaussian, *others = noise_factors(u, features).mean(0)
    assert all(other < gaussian - 1 for other in others)
