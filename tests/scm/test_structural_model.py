"""Ancestral sampling, interventions and counterfactuals against closed forms."""

import pytest
import torch

from dpdag.scm import StructuralModel, fit_additive

# 0 → 1 → 3, 0 → 2 → 3: linear, so that everything has a closed form.
WEIGHT = torch.zeros(4, 4, dtype=torch.float64)
WEIGHT[0, 1], WEIGHT[0, 2], WEIGHT[1, 3], WEIGHT[2, 3] = 2.0, -1.0, 0.5, 3.0
TOTAL = torch.linalg.inv(torch.eye(4, dtype=torch.float64) - WEIGHT)  # noise -> values


@pytest.fixture
def model() -> StructuralModel:
    noise = torch.randn(500, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return StructuralModel(WEIGHT != 0, lambda x: x @ WEIGHT, residuals=noise)


def test_propagation_solves_the_structural_equations(model):
    noise = model.residuals[:20]
    free = {"fixed": torch.zeros_like(noise).bool(), "values": noise}
    torch.testing.assert_close(model.propagate(noise, **free), noise @ TOTAL)


def test_samples_have_the_models_covariance(model):
    x = model.sample(100_000, do={}, generator=torch.Generator().manual_seed(0))
    expected = TOTAL.T @ torch.diag(model.residuals.var(0, correction=0)) @ TOTAL
    torch.testing.assert_close(x.T.cov(), expected, rtol=0.05, atol=0.05)


def test_interventions_cut_the_incoming_edges(model):
    x = model.sample(50_000, do={1: 2.0}, generator=torch.Generator().manual_seed(0))
    assert (x[:, 1] == 2.0).all()
    base = model.residuals.mean(0) @ torch.diag(torch.ones(4, dtype=torch.float64)) @ TOTAL
    shift = (2.0 - base[1]) * WEIGHT[1, 3]
    assert x[:, 3].mean().item() == pytest.approx((base[3] + shift).item(), abs=0.1)
    assert x[:, 0].mean().item() == pytest.approx(base[0].item(), abs=0.05)


def test_counterfactuals_keep_each_rows_noise(model):
    x = model.residuals @ TOTAL
    changed = model.counterfactual(x, do={0: 1.0})
    effect = (1.0 - x[:, [0]]) * TOTAL[0]
    torch.testing.assert_close(changed, x + effect)
    torch.testing.assert_close(model.counterfactual(x, do={}), x)


def test_imputation_follows_chains_of_missing_values(model):
    x = model.residuals[:10] @ TOTAL
    holes = x.clone()
    holes[:, 1] = holes[:, 2] = holes[:, 3] = torch.nan
    filled = model.impute(holes)
    torch.testing.assert_close(filled, x[:, [0]] * TOTAL[0])
    assert torch.equal(filled[:, 0], x[:, 0])


def test_log_likelihood_is_the_gaussian_density_of_residuals(model):
    x = model.residuals @ TOTAL
    scale = model.residuals.square().mean(0).sqrt()
    expected = torch.distributions.Normal(0.0, scale).log_prob(model.residuals)
    torch.testing.assert_close(model.log_likelihood(x), expected)


def test_additive_mechanisms_read_parents_only():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(200, 4, dtype=torch.float64, generator=generator)
    x[:, 3] += (2 * x[:, 0]).sin()
    x = (x - x.mean(0)) / x.std(0, correction=0)
    adjacency = torch.zeros(4, 4, dtype=torch.bool)
    adjacency[0, 3] = adjacency[1, 3] = adjacency[0, 2] = True
    mechanisms = fit_additive(x, adjacency)
    assert ((mechanisms.weight != 0).any(1) == adjacency).all()
    moved = x.clone()
    moved[:, 2] += 1
    assert torch.equal(mechanisms(moved)[:, [0, 1, 3]], mechanisms(x)[:, [0, 1, 3]])
    assert (mechanisms(x)[:, :2] == 0).all()
    explained = 1 - (x - mechanisms(x))[:, 3].var() / x[:, 3].var()
    assert explained > 0.2
