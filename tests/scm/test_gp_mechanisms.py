"""Gaussian process mechanisms: posterior means and variances on a graph."""

import torch
from torch import Tensor

from dpdag.evidence.gp import GPEvidence
from dpdag.scm import fit_gp


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
    amplitude = x[:, 1] @ torch.linalg.solve(inner, x[:, 1]) / 80
    spread = kernel[80:, 80:].diagonal() + noise
    spread = amplitude * (spread - (cross * torch.linalg.solve(inner, cross.T).T).sum(-1))
    assert torch.allclose(model.variance(new)[:, 1], spread, atol=1e-8)
