"""Gaussian process mechanisms: posterior means and variances on a graph."""

import pickle

import pytest
import torch
from torch import Tensor

from dpdag.evidence.gp import GPEvidence
from dpdag.scm import GPMechanisms, fit_gp, gp


def table(rows: int, seed: int) -> Tensor:  # (rows, 3): (0, 2) → 1
    noise = torch.randn(rows, 3, generator=torch.Generator().manual_seed(seed)).double()
    effect = torch.sin(2 * noise[:, 0]) * noise[:, 2] + 0.1 * noise[:, 1]
    return torch.stack([noise[:, 0], effect / 0.7, noise[:, 2]], -1)


GRAPH = torch.tensor([[0, 1, 0], [0, 0, 0], [0, 1, 0]]).bool()


def test_mean_generalises_to_new_rows() -> None:
    model = fit_gp(table(300, 0), GRAPH)
    new = table(200, 1)
    error = (model(new)[:, 1] - new[:, 1]).square().mean()
    assert error < 0.15 * new[:, 1].var()
    assert torch.equal(model(new)[:, [0, 2]], torch.zeros(200, 2).double())


def test_mechanisms_ignore_non_parents() -> None:
    graph = torch.tensor([[0, 1, 0], [0, 0, 0], [0, 0, 0]]).bool()
    model = fit_gp(table(100, 0), graph)
    new = table(20, 1)
    moved = new.clone()
    moved[:, 1:] += 5
    assert torch.equal(model(new)[:, 1], model(moved)[:, 1])


def test_mean_and_variance_equal_dense_conditioning() -> None:
    x = table(80, 0)
    evidence = GPEvidence(x)
    model = fit_gp(x, GRAPH, evidence=evidence)
    scale0, scale2, noise, linear = evidence.kernel_parameters(1, GRAPH[:, 1]).exp()
    new = table(5, 2)
    both = torch.cat([x, new])
    z = both[:, [0, 2]] / torch.stack([scale0, scale2])
    kernel = torch.exp(-0.5 * torch.cdist(z, z).square())
    kernel = kernel + linear * both[:, [0, 2]] @ both[:, [0, 2]].T
    inner = kernel[:80, :80] + noise * torch.eye(80)
    cross = kernel[80:, :80]
    mean = cross @ torch.linalg.solve(inner, x[:, 1])
    assert torch.allclose(model(new)[:, 1], mean, atol=1e-8)
    left_out = []  # squared errors over their variance, each row from all others
    for row in range(80):
        others = torch.arange(80) != row
        weight = torch.linalg.solve(inner[others][:, others], inner[others, row])
        error = x[row, 1] - weight @ x[others, 1]
        left_out.append(error.square() / (inner[row, row] - weight @ inner[others, row]))
    amplitude = torch.stack(left_out).mean()
    spread = kernel[80:, 80:].diagonal() + noise
    spread = amplitude * (spread - (cross * torch.linalg.solve(inner, cross.T).T).sum(-1))
    assert torch.allclose(model.variance(new)[:, 1], spread, atol=1e-8)


def test_many_rows_are_all_used() -> None:
    x, new = table(2000, 0), table(500, 1)
    error = {
        rows: (fit_gp(x[:used], GRAPH, rows=rows)(new)[:, 1] - new[:, 1]).square().mean()
        for rows, used in ((2000, 2000), (1000, 2000), (500, 500))
    }
    assert error[1000] < error[500]  # kernels at 500 rows, fitted to all of them or to those
    assert error[1000] < 1.02 * error[2000]


def test_spreads_of_many_rows_are_those_of_all_of_them() -> None:
    x, new = table(1600, 0), table(200, 1)
    evidence = GPEvidence(x[:500])
    every, some = (fit_gp(x, GRAPH, evidence=evidence, rows=rows) for rows in (1600, 500))
    assert some.represents == pytest.approx(1600 / len(some.inputs))

    def unknown(model: GPMechanisms) -> Tensor:
        """What is not known about the function, without the noise."""
        return model.variance(new)[:, 1] - model.amplitude[1] * model.noise[1]

    ratio = (unknown(some) / unknown(every)).median()
    assert 0.8 < ratio < 1.3  # as if only 500 rows were known it would be about 3


def test_kernels_at_some_rows_give_the_posterior_of_the_covariance_they_span(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gp, "_WORK", 120 * 40**2)
    monkeypatch.setattr(gp, "_FEWEST", 1)
    monkeypatch.setattr(gp, "_BLOCK", 33)
    x = table(120, 0)
    evidence = GPEvidence(x)
    model = fit_gp(x, GRAPH, evidence=evidence, rows=100)
    scale0, scale2, noise, linear = evidence.kernel_parameters(1, GRAPH[:, 1]).exp()
    scale, points = torch.stack([scale0, scale2]), model.inputs[:, [0, 2]]

    def kernel(a: Tensor, b: Tensor) -> Tensor:
        near = torch.exp(-0.5 * torch.cdist(a / scale, b / scale).square())
        return near + linear * a @ b.T

    inner, cross = kernel(points, points), kernel(x[:, [0, 2]], points)
    inner.diagonal().mul_(1 + 1e-8)
    spanned = cross @ torch.linalg.solve(inner, cross.T)
    weight = torch.linalg.solve(spanned + noise * torch.eye(120), x[:, 1])
    assert len(points) == 40
    torch.testing.assert_close(model(x)[:, 1], spanned @ weight, rtol=1e-5, atol=1e-5)
    missed = (x[:, 1] - spanned @ weight).square().mean()
    torch.testing.assert_close(model.amplitude[1] * noise, missed, rtol=1e-5, atol=0)


def test_blocks_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model, new = fit_gp(table(80, 0), GRAPH), table(50, 1)
    whole = model(new)
    monkeypatch.setattr(gp, "_BLOCK", 7)
    torch.testing.assert_close(model(new), whole)


def test_one_row_more_than_can_have_a_kernel_each_costs_no_accuracy() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(1001, 6, generator=generator).double()
    x[:, 5] = torch.sin(x[:, 0] * x[:, 1]) + torch.cos(x[:, 2] + x[:, 3] * x[:, 4]) + 0.1 * x[:, 5]
    graph = torch.zeros(6, 6, dtype=torch.bool)
    graph[:5, 5] = True
    train, new = x[:401], x[401:]
    evidence = GPEvidence(train)
    dense, sparse = (
        (fit_gp(part, graph, evidence=evidence, rows=400)(new)[:, 5] - new[:, 5]).square().mean()
        for part in (train[:400], train)
    )
    assert sparse < 1.05 * dense


def test_factors_are_found_once_and_never_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    model, new = fit_gp(table(80, 0), GRAPH), table(5, 1)
    plain, size = model.variance(new), len(pickle.dumps(fit_gp(table(80, 0), GRAPH)))
    assert len(pickle.dumps(model)) == size
    torch.testing.assert_close(pickle.loads(pickle.dumps(model)).variance(new), plain)
    factorise = torch.linalg.cholesky
    made: list[Tensor] = []
    monkeypatch.setattr(torch.linalg, "cholesky", lambda m: made.append(m) or factorise(m))
    torch.testing.assert_close(model.variance(new), plain)
    assert not made
    monkeypatch.setattr(gp, "_KEPT", 0)
    poor = pickle.loads(pickle.dumps(model))
    for _ in range(2):
        torch.testing.assert_close(poor.variance(new), plain)
    assert len(made) == 2
