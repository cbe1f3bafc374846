"""Kernels: textbook values, gradients, what a wide network really does, what jumps show."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from dpdag.columns import standardise
from dpdag.evidence.gp import GPEvidence
from dpdag.evidence.gp.kernels import KERNELS, NetworkKernel, rbf
from dpdag.evidence.gp.marginal import gp_evidence, gp_evidence_and_gradient
from dpdag.scm import fit_gp

PARAMETERS = torch.tensor([-0.9, 0.2, -1.0, 0.5], dtype=torch.float64)  # of two parents
SCALE, EXTRA = PARAMETERS[:2].exp(), PARAMETERS[3:].exp()
both = pytest.mark.parametrize("kernel", list(KERNELS))


def table(rows: int = 40, seed: int = 0) -> Tensor:  # (rows, 3): (0, 1) → 2
    noise = torch.randn(rows, 3, generator=torch.Generator().manual_seed(seed)).double()
    effect = torch.sin(2 * noise[:, 0] + noise[:, 1]) + 0.2 * noise[:, 2]
    return torch.stack([noise[:, 0], noise[:, 1], effect], -1)


def steps(rows: int = 300, seed: int = 0) -> Tensor:  # (rows, 2): 0 → 1
    cause, noise = torch.randn(2, rows, generator=torch.Generator().manual_seed(seed)).double()
    x = torch.stack([cause, 1.0 * (cause > -0.5) - 2.0 * (cause > 0.7) + 0.2 * noise], -1)
    return (x - x.mean(0)) / x.std(0)


@both
def test_gradient_equals_finite_differences(kernel: str) -> None:
    x, kind = table(), KERNELS[kernel]
    y, parents = x[None, :, 2], x[None, :, :2]
    _, gradient, _ = gp_evidence_and_gradient(y, parents, PARAMETERS[None], kind)
    step = 1e-5 * torch.eye(4, dtype=torch.float64)
    above, below = (
        gp_evidence(
            y[..., None].expand(4, -1, -1), parents.expand(4, -1, -1), PARAMETERS + sign, kind
        )
        for sign in (step, -step)
    )
    numeric = (above - below)[:, 0] / 2e-5
    torch.testing.assert_close(gradient[0], numeric, rtol=1e-4, atol=1e-4)


@both
def test_zero_columns_change_nothing(kernel: str) -> None:
    x, kind = table(), KERNELS[kernel]
    narrow = torch.tensor([0.3, -1.0, -3.0], dtype=torch.float64)
    wide = torch.tensor([0.3, 5.0, -1.0, -3.0], dtype=torch.float64)
    padded = torch.cat([x[:, :1], torch.zeros(len(x), 1, dtype=torch.float64)], -1)
    value = gp_evidence(x[:, 1:2], x[:, :1], narrow, kind)
    torch.testing.assert_close(value, gp_evidence(x[:, 1:2], padded, wide, kind))


@both
def test_one_function_between_all_rows(kernel: str) -> None:
    x, kind = table()[:, :2], KERNELS[kernel]
    matrix = kind.covariance(x, SCALE, EXTRA).matrix
    torch.testing.assert_close(kind.between(x[:12], x[12:], SCALE, EXTRA), matrix[:12, 12:])
    torch.testing.assert_close(kind.own(x, SCALE, EXTRA), matrix.diagonal())
    assert torch.linalg.eigvalsh(matrix).min() > -1e-9


def test_network_kernel_is_the_covariance_of_random_networks() -> None:
    x, units = table(6)[:, :2], 400_000
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(3, units, generator=generator).double()
    weight[:2] /= SCALE[:, None]
    weight[2] *= EXTRA.sqrt()
    hidden = torch.erf(x @ weight[:2] + weight[2])  # (rows, units)
    sampled = hidden @ hidden.T / units
    exact = NetworkKernel().covariance(x, SCALE, EXTRA).matrix
    torch.testing.assert_close(exact, sampled, atol=0.01, rtol=0)


def test_network_kernel_equals_the_textbook_formula() -> None:
    x = table(5)[:, :2].numpy()
    z = np.c_[x / SCALE.numpy(), np.full(len(x), math.sqrt(EXTRA.item()))]
    exact = NetworkKernel().covariance(torch.from_numpy(x), SCALE, EXTRA).matrix
    for a in range(5):
        for b in range(5):
            size = math.sqrt((1 + 2 * z[a] @ z[a]) * (1 + 2 * z[b] @ z[b]))
            expected = 2 / math.pi * math.asin(2 * z[a] @ z[b] / size)
            assert exact[a, b].item() == pytest.approx(expected, abs=1e-12)


def test_jumps_are_networks_and_point_the_right_way() -> None:
    forward, backward = torch.tensor([[True, False], [False, True]])
    ways = torch.tensor([1, 0]), torch.stack([forward, backward])
    smooth, network = (
        GPEvidence(steps(), kernel=k).log_evidence(*ways) for k in ("rbf", "network")
    )
    assert network[0] > smooth[0] + 30
    assert network[0] > network[1] + 100
    curve = torch.stack([steps()[:, 0], torch.sin(4 * steps()[:, 0]) + steps()[:, 1] / 9], -1)
    smooth, network = (GPEvidence(curve, kernel=k).log_evidence(*ways) for k in ("rbf", "network"))
    assert smooth[0] > network[0]


def test_network_evidence_in_single_and_double_precision() -> None:
    x = steps()
    single, double = (
        GPEvidence(x, kernel="network", dtype=dtype).log_evidence(
            torch.tensor([1]), torch.tensor([[True, False]])
        )
        for dtype in (torch.float32, torch.float64)
    )
    assert single.item() == pytest.approx(double.item(), abs=0.5)


@pytest.mark.parametrize("kind", ["outlier", "rare"])
def test_network_gradients_are_finite_at_the_bounds(kind: str) -> None:
    x = torch.randn(500, 4, generator=torch.Generator().manual_seed(0))
    if kind == "outlier":
        x[0] = 1e4
    else:
        x[:, :3] = (torch.arange(500)[:, None] < torch.tensor([2, 3, 5])).float() * 15
    kernel = NetworkKernel()
    lower, upper = kernel.bounds(3)
    sharp = torch.cat([lower[:-1], upper[-1:]])
    value, gradient, _ = gp_evidence_and_gradient(
        x[None, :, 3], x[None, :, :3], sharp[None], kernel
    )
    assert value.isfinite().all()
    assert gradient.isfinite().all()


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_functions_have_the_kernel_of_their_evidence(kernel: str) -> None:
    x = steps(200)
    graph = torch.tensor([[False, True], [False, False]])
    given = fit_gp(x, graph, evidence=GPEvidence(standardise(x)[0], kernel=kernel))
    torch.testing.assert_close(given(x), fit_gp(x, graph, kernel=kernel)(x))


@pytest.mark.parametrize("rows", [300, 50])
def test_functions_follow_a_jump(rows: int) -> None:
    x = steps(400)
    graph = torch.tensor([[False, True], [False, False]])
    known, unseen = x[:300], x[300:]
    network = fit_gp(known, graph, kernel="network", rows=rows)
    smooth = fit_gp(known, graph, kernel="rbf", rows=rows)
    wrong, wronger = ((unseen - f(unseen))[:, 1].square().mean() for f in (network, smooth))
    assert wrong < wronger
    spread = network.variance(unseen)[:, 1].sqrt()
    assert 0.5 < ((unseen - network(unseen))[:, 1] / spread).std() < 1.5


def test_rbf_has_a_unit_diagonal() -> None:
    kernel = rbf(table(20))
    torch.testing.assert_close(kernel.diagonal(), torch.ones(20, dtype=torch.float64))
    torch.testing.assert_close(kernel, kernel.T)


def test_unknown_kernels_are_named() -> None:
    with pytest.raises(ValueError, match=r"Unknown kernel .netwrk.\. Did you mean .network."):
        GPEvidence(table(), kernel="netwrk")
