"""Mechanisms whose noise varies in size: equations solved exactly, densities, samples."""

import math

import pytest
import torch
from torch import Tensor

from dpdag.evidence.transforms import standardise
from dpdag.scm import (
    Categories,
    LocationScaleMechanisms,
    StructuralModel,
    fit_additive,
    fit_location_scale,
)

# 0 → 1 → 3, 0 → 2, 2 → 3
GRAPH = torch.tensor([[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]).bool()


def table(rows: int = 800) -> Tensor:  # (rows, 4)
    noise = torch.randn(
        rows, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    ).unbind(1)
    a = noise[0]
    b = torch.exp(a / 2) * noise[1]
    c = a.sin() + 0.5 * noise[2]
    d = b + torch.exp(c) * noise[3]
    return standardise(torch.stack([a, b, c, d], dim=1))[0]


@pytest.fixture(scope="module")
def model() -> StructuralModel:
    mechanisms = fit_location_scale(table(), GRAPH)
    assert (mechanisms.size_weight != 0).any(1).any(0).tolist() == [False, True, False, True]
    return StructuralModel.of_data(table(), GRAPH, mechanisms, Categories())


def test_abduction_then_propagation_gives_the_rows_back(model: StructuralModel) -> None:
    x = table()
    free = torch.zeros_like(x, dtype=torch.bool)
    back = model.propagate(model.abduct(x), fixed=free, values=x)
    torch.testing.assert_close(back, x, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(model.abduct(x), model.residuals, rtol=0, atol=0)


@pytest.mark.parametrize("node", range(4))
def test_doing_what_happened_changes_nothing(model: StructuralModel, node: int) -> None:
    for row in table()[:5].split(1):
        same = model.counterfactual(row, do={node: float(row[0, node])})
        torch.testing.assert_close(same, row, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(model.counterfactual(table(), do={}), table())


def test_counterfactual_noise_grows_as_its_size_does(model: StructuralModel) -> None:
    x = table()[:50]
    moved = model.counterfactual(x, do={0: 1.0})
    torch.testing.assert_close(moved[:, 0], torch.ones(50, dtype=x.dtype))
    expected = model.predict(moved) + model.scale(moved) * model.abduct(x)
    torch.testing.assert_close(moved[:, 1:], expected[:, 1:])
    ratio = (moved - model.predict(moved))[:, 1] / (x - model.predict(x))[:, 1]
    torch.testing.assert_close(ratio, model.scale(moved)[:, 1] / model.scale(x)[:, 1])


def test_samples_spread_as_the_data_do(model: StructuralModel) -> None:
    drawn = model.sample(20_000, do={}, generator=torch.Generator().manual_seed(0))

    def spreads(x: Tensor) -> Tensor:  # of node 1 where its cause is low, usual, high
        low, high = x[:, 0] < -0.7, x[:, 0] > 0.7
        return torch.stack([x[part, 1].std() for part in (low, ~low & ~high, high)])

    torch.testing.assert_close(spreads(drawn), spreads(table()), rtol=0.15, atol=0.0)
    assert spreads(drawn)[2] > 2.5 * spreads(drawn)[0]


@pytest.mark.parametrize("cause", [-2.0, 0.0, 1.5])
def test_density_given_the_parents_integrates_to_one(model: StructuralModel, cause: float) -> None:
    grid = torch.linspace(-30, 30, 6001, dtype=torch.float64)
    rows = torch.zeros(len(grid), 4, dtype=torch.float64)
    rows[:, 0], rows[:, 2] = cause, cause
    for node in (1, 3):
        rows[:, node] = grid
        density = model.log_likelihood(rows)[:, node].exp()
        assert torch.trapezoid(density, grid).item() == pytest.approx(1.0, abs=1e-6)
        rows[:, node] = 0.0


def test_sizes_that_are_known_make_the_data_more_likely(model: StructuralModel) -> None:
    plain = StructuralModel.of_data(table(), GRAPH, fit_additive(table(), GRAPH), Categories())
    better = (model.log_likelihood(table()) - plain.log_likelihood(table())).sum(0)
    assert (better[[1, 3]] > 50).all()
    torch.testing.assert_close(better[[0, 2]], torch.zeros(2, dtype=torch.float64))


def test_a_model_without_sizes_has_noise_of_size_one() -> None:
    x = table(200)
    model = StructuralModel.of_data(x, GRAPH, fit_additive(x, GRAPH), Categories())
    assert (model.scale(x) == 1).all()
    torch.testing.assert_close(model.abduct(x), x - model.predict(x))
    normal = torch.distributions.Normal(0.0, model.residuals.square().mean(0).sqrt())
    torch.testing.assert_close(model.log_likelihood(x), normal.log_prob(model.residuals))


def test_sizes_stay_within_bounds_however_far_a_parent_is() -> None:
    mechanisms = fit_location_scale(table(), GRAPH)
    far = torch.tensor([[-1e6] * 4, [1e6] * 4], dtype=torch.float64)
    assert isinstance(mechanisms, LocationScaleMechanisms)
    sizes = mechanisms.scale(far)
    assert (sizes >= math.exp(-3) - 1e-12).all()
    assert (sizes <= math.exp(3) + 1e-12).all()
