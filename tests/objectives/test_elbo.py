"""The objective against closed forms and enumeration."""

import pytest
import torch
from torch.distributions import Bernoulli, kl_divergence

from dpdag import DPDAG, Knowledge
from dpdag.mechanisms import MLP
from dpdag.objectives import ELBO, LIKELIHOODS, edge_kl
from dpdag.ops.enumeration import all_dags


def objective(n: int, r: int = 1, *, knowledge: Knowledge | None = None, **settings: float) -> ELBO:
    dags = DPDAG(n, batch_shape=(r,), knowledge=knowledge)
    for parameter in dags.parameters():
        parameter.data.normal_(generator=torch.Generator().manual_seed(1))
    return ELBO(
        dags,
        MLP(n, r, hidden_units=4, generators=[torch.Generator().manual_seed(k) for k in range(r)]),
        LIKELIHOODS["mse"](n, r),
        kl_weight=torch.full((r,), settings.get("kl_weight", 0.1)),
        edge_prior=torch.full((r,), settings.get("edge_prior", 0.05)),
    )


def test_edge_kl_equals_torch_distributions() -> None:
    logits = torch.randn(4, 4, dtype=torch.float64, requires_grad=True)
    prior = torch.tensor(0.03, dtype=torch.float64)
    expected = kl_divergence(Bernoulli(logits=logits), Bernoulli(probs=prior))
    torch.testing.assert_close(edge_kl(logits, prior), expected)
    (own,) = torch.autograd.grad(edge_kl(logits, prior).sum(), logits)
    (other,) = torch.autograd.grad(expected.sum(), logits)
    torch.testing.assert_close(own, other)


def test_edge_kl_is_finite_for_large_logits() -> None:
    logits = torch.tensor([-80.0, 80.0], requires_grad=True)
    value = edge_kl(logits, 0.01)
    value.sum().backward()
    assert bool(value.isfinite().all())
    assert bool(logits.grad.isfinite().all())


def test_expected_loss_equals_enumeration() -> None:
    """The Monte-Carlo loss is unbiased for the sum over all 25 DAGs of 3 nodes."""
    elbo = objective(3)
    x = torch.randn(1, 3, 40, generator=torch.Generator().manual_seed(2))
    graphs = all_dags(3).float()
    with torch.no_grad():
        p = elbo.dags().log_prob(graphs.unsqueeze(1)).exp()[:, 0]
        errors = torch.stack([(x - elbo.mechanism(x, g[None])).square().mean() for g in graphs])
        exact = (p * errors).sum() + 0.1 * elbo.kl()[0]
        noise = elbo.draw_noise(4000, [torch.Generator().manual_seed(3)])
        draws = torch.stack([elbo.loss(x, noise, k)["total"][0] for k in range(4000)])
    error = draws.std() / 4000**0.5
    assert abs(float(draws.mean() - exact)) < 4 * float(error)


def test_gradient_of_the_mechanisms_equals_enumeration() -> None:
    elbo = objective(3)
    x = torch.randn(1, 3, 40, generator=torch.Generator().manual_seed(2))
    weights = list(elbo.mechanism.parameters())
    graphs = all_dags(3).float()
    p = elbo.dags().log_prob(graphs.unsqueeze(1)).exp()[:, 0].detach()
    exact = sum(
        p[k] * (x - elbo.mechanism(x, g[None])).square().mean() for k, g in enumerate(graphs)
    )
    expected = torch.cat([g.flatten() for g in torch.autograd.grad(exact, weights)])
    noise = elbo.draw_noise(3000, [torch.Generator().manual_seed(3)])
    draws = torch.stack(
        [
            torch.cat(
                [g.flatten() for g in torch.autograd.grad(elbo.loss(x, noise, k)["total"], weights)]
            )
            for k in range(3000)
        ]
    )
    error = draws.std(0) / 3000**0.5 + 1e-7
    assert float(((draws.mean(0) - expected) / error).abs().max()) < 5


def test_straight_through_gradient_points_with_the_exact_one() -> None:
    """For the edges the straight-through gradient is biased; it must still point the same way."""
    elbo = objective(3, kl_weight=0.0)
    x = torch.randn(1, 3, 200, generator=torch.Generator().manual_seed(2))
    x[:, 2] = 1.5 * x[:, 0]  # something to learn
    for parameter in elbo.mechanism.weights:
        parameter.data.mul_(3)
    graphs = all_dags(3).float()
    p = elbo.dags().log_prob(graphs.unsqueeze(1)).exp()[:, 0]
    with torch.no_grad():
        errors = torch.stack([(x - elbo.mechanism(x, g[None])).square().mean() for g in graphs])
    (exact,) = torch.autograd.grad((p * errors).sum(), elbo.dags.edge_logits)
    noise = elbo.draw_noise(2000, [torch.Generator().manual_seed(3)])
    total = sum(elbo.loss(x, noise, k)["total"].sum() for k in range(2000)) / 2000
    (own,) = torch.autograd.grad(total, elbo.dags.edge_logits)
    cosine = torch.nn.functional.cosine_similarity(exact.flatten(), own.flatten(), dim=0)
    assert float(cosine) > 0.5


def test_known_edges_cost_nothing() -> None:
    free = objective(3)
    known = objective(3, knowledge=Knowledge(required=[(0, 1)], forbidden=[(1, 2)]))
    divergence = edge_kl(free.dags.edge_logits, 0.05)[0]
    open_edges = ~torch.eye(3, dtype=torch.bool)
    torch.testing.assert_close(free.kl()[0], divergence[open_edges].sum() / 9)
    open_edges[0, 1] = open_edges[1, 0] = open_edges[1, 2] = False
    torch.testing.assert_close(known.kl()[0], divergence[open_edges].sum() / 9)


@pytest.mark.parametrize("name", list(LIKELIHOODS))
def test_likelihoods_are_twice_the_negative_log_density(name: str) -> None:
    likelihood = LIKELIHOODS[name](2, 1)
    x, predicted = torch.randn(1, 2, 9), torch.randn(1, 2, 9)
    variance = torch.ones(1, 2, 1)
    if name == "gaussian":
        likelihood.log_variance.data = torch.tensor([[[0.3], [-1.0]]])
        variance = likelihood.log_variance.detach().exp()
    density = torch.distributions.Normal(predicted, variance.sqrt()).log_prob(x)
    constant = torch.log(torch.tensor(2 * torch.pi))
    expected = (-2 * density - constant).mean((-2, -1))
    torch.testing.assert_close(likelihood(x, predicted), expected)
