"""Gaussian process evidence: textbook values, gradients, batching, honesty."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from dpdag.columns import standardise
from dpdag.evidence.gp import GPEvidence
from dpdag.evidence.gp.ascent import maximise
from dpdag.evidence.gp.marginal import gp_evidence, gp_evidence_and_gradient
from dpdag.evidence.linear import LinearEvidence
from dpdag.evidence.noise import log_gaussian
from dpdag.evidence.screened import ExactScreen


def table(rows: int = 80, seed: int = 0) -> Tensor:  # (rows, 4): 0 → 1, (0, 1) → 2, 3 alone
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randn(rows, 4, generator=generator, dtype=torch.float64)
    a = noise[:, 0]
    b = torch.sin(2 * a) + 0.3 * noise[:, 1]
    c = torch.cos(a + 2 * b) + 0.3 * noise[:, 2]
    return standardise(torch.stack([a, b, c, noise[:, 3]], -1))[0]


def sets(*members: list[int], n: int = 4) -> Tensor:
    out = torch.zeros(len(members), n, dtype=torch.bool)
    for k, row in enumerate(members):
        out[k, row] = True
    return out


def dense_evidence(y: np.ndarray, x: np.ndarray, parameters: np.ndarray) -> float:
    """Textbook log density of y under N(0, s² M), s² integrated out, loops and all."""
    rows, d = x.shape
    scale, noise, linear = (
        np.exp(parameters[:d]),
        math.exp(parameters[d]),
        math.exp(parameters[d + 1]),
    )
    matrix = np.zeros((rows, rows))
    for i in range(rows):
        for j in range(rows):
            distance = sum(((x[i, k] - x[j, k]) / scale[k]) ** 2 for k in range(d))
            matrix[i, j] = math.exp(-distance / 2) + linear * float(x[i] @ x[j])
    matrix += noise * np.eye(rows)
    quadratic = torch.tensor(y @ np.linalg.solve(matrix, y))
    log_det = torch.tensor(np.linalg.slogdet(matrix)[1])
    return float(log_gaussian(quadratic, log_det, rows))


def test_evidence_equals_the_textbook_density() -> None:
    x = table(30)
    parameters = torch.tensor([0.1, -0.2, -1.0, -2.0], dtype=torch.float64)
    value = gp_evidence(x[:, 2:3], x[:, :2], parameters)
    expected = dense_evidence(x[:, 2].numpy(), x[:, :2].numpy(), parameters.numpy())
    assert value.item() == pytest.approx(expected, abs=1e-9)


def test_float32_agrees_with_float64() -> None:
    x = table(300)
    for child, parents in ((1, [0]), (2, [0, 1]), (3, [0, 1, 2])):
        single, double = (
            GPEvidence(x, dtype=dtype).log_evidence(torch.tensor([child]), sets(parents))
            for dtype in (torch.float32, torch.float64)
        )
        assert single.item() == pytest.approx(double.item(), abs=0.5)


def test_batch_equals_loop() -> None:
    x = table(60)
    child = torch.tensor([1, 2, 2, 0, 3])
    parents = sets([0], [0, 1], [3], [], [0, 1, 2])
    together = GPEvidence(x, dtype=torch.float64).log_evidence(child, parents)
    apart = [
        GPEvidence(x, dtype=torch.float64).log_evidence(child[k, None], parents[k, None]).item()
        for k in range(len(child))
    ]
    assert together.tolist() == pytest.approx(apart, abs=1e-6)


def test_same_data_gives_the_same_values() -> None:
    child, parents = torch.tensor([1, 2]), sets([0], [0, 1])
    first, second = (GPEvidence(table()).log_evidence(child, parents) for _ in range(2))
    assert torch.equal(first, second)


def test_true_parents_win_and_useless_ones_cost() -> None:
    evidence = GPEvidence(table(200))
    child = torch.tensor([2, 2, 2, 1, 0])
    values = evidence.log_evidence(child, sets([0, 1], [0], [0, 1, 3], [0], [1]))
    assert values[0] > values[1] + 10
    assert values[0] > values[2] + 1
    assert values[3] > values[4] + 10


def test_linear_evidence_is_equal_for_equivalent_graphs() -> None:
    generator = torch.Generator().manual_seed(1)
    mix = torch.randn(4, 4, generator=generator, dtype=torch.float64)
    x = torch.randn(50, 4, generator=generator, dtype=torch.float64) @ mix
    evidence = LinearEvidence(standardise(x)[0])
    full = [[], [0], [0, 1], [0, 1, 2]]
    reverse = [[1, 2, 3], [2, 3], [3], []]
    totals = [
        evidence.log_evidence(torch.arange(4), sets(*graph)).sum() for graph in (full, reverse)
    ]
    assert totals[0].item() == pytest.approx(totals[1].item(), abs=1e-8)


def test_screening_ranks_the_missing_parent_first() -> None:
    evidence = GPEvidence(table(400))
    parents = sets([0])[0]
    change = evidence.screen(2, parents)
    assert change[[1, 3]].argmax() == 0
    assert change[1] > 10
    probe = evidence.probes(torch.tensor([2]), parents[None])[0]
    assert probe is not None
    assert probe[1] > probe[3]
    assert evidence.screen(2, sets([0, 1])[0])[1] < -10


def test_exact_screen_holds_exact_changes() -> None:
    x = table(60)
    screen = ExactScreen(LinearEvidence(x))
    change = screen.screen(2, sets([0, 3])[0])
    values = screen.log_evidence(torch.full((4,), 2), sets([0, 3], [3], [0, 3, 1], [0]))
    assert torch.allclose(change[[0, 1, 3]], values[1:] - values[0])


@pytest.mark.parametrize("kind", ["constant", "duplicate", "binary", "heavy"])
def test_awkward_columns_give_finite_values(kind: str) -> None:
    x = table(120)
    x[:, 3] = {
        "constant": torch.ones(120, dtype=torch.float64),
        "duplicate": x[:, 0],
        "binary": (x[:, 0] > 0).double(),
        "heavy": torch.tan(x[:, 3].clamp(-1.57, 1.57)),
    }[kind]
    values = GPEvidence(standardise(x)[0]).log_evidence(
        torch.tensor([3, 3, 2, 1]), sets([0], [0, 1, 2], [0, 1, 3], [3])
    )
    assert values.isfinite().all()


def test_ascent_finds_peaks_in_a_box_each_on_its_own() -> None:
    peak = torch.tensor([[0.5, -1.0], [9.0, 0.0], [0.0, 0.3]], dtype=torch.float64)
    curve = torch.tensor([[1.0, 10.0], [2.0, 1.0], [5.0, 0.1]], dtype=torch.float64)

    def value(rows: Tensor, points: Tensor) -> Tensor:
        return -(curve[rows] * (points - peak[rows]) ** 2).sum(-1)

    def objective(rows: Tensor, points: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        slope = -2 * curve[rows] * (points - peak[rows])
        return value(rows, points), slope, points.square()

    box = torch.full((2,), 3.0, dtype=torch.float64)
    found = maximise(
        objective,
        torch.zeros(3, 2, dtype=torch.float64),
        lower=-box,
        upper=box,
        inverse_hessian=torch.eye(2, dtype=torch.float64).expand(3, 2, 2) / 4,
        steps=60,
        tolerance=1e-10,
    )
    assert torch.allclose(found.point, peak.clamp(-3, 3), atol=1e-3)
    assert torch.allclose(found.value, value(torch.arange(3), found.point))
    assert torch.equal(found.details, found.point.square())


def test_a_last_step_brings_what_the_quadratic_model_says() -> None:
    peak = torch.tensor([[0.5, -0.3]], dtype=torch.float64)

    def objective(rows: Tensor, points: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        distance = points - peak[rows]
        return 7 - distance.square().sum(-1), -2 * distance, distance

    start = torch.zeros(1, 2, dtype=torch.float64)
    box = torch.ones(2, dtype=torch.float64)
    curvature = torch.eye(2, dtype=torch.float64)[None] / 2  # the true one
    found = maximise(
        objective, start, lower=-box, upper=box, inverse_hessian=curvature, steps=1, trust=1.0
    )
    assert torch.allclose(found.point, peak)
    assert found.value.item() == pytest.approx(7.0)
    assert torch.equal(found.details, -peak)  # of the point that was evaluated


def test_residuals_are_those_of_rows_left_out_over_their_deviation() -> None:
    x = table(40)
    parameters = torch.tensor([0.1, -0.2, -1.0, -2.0], dtype=torch.float64)
    *_, found = gp_evidence_and_gradient(x[None, :, 2], x[None, :, :2], parameters[None])
    scale, noise, line = parameters[:2].exp(), parameters[2].exp(), parameters[3].exp()
    z = x[:, :2] / scale
    covariance = torch.exp(-torch.cdist(z, z).square() / 2) + line * x[:, :2] @ x[:, :2].T
    for row in (0, 20, 39):
        rest = torch.arange(40) != row
        inner = covariance[rest][:, rest] + noise * torch.eye(39)
        cross = covariance[row, rest]
        mean = cross @ torch.linalg.solve(inner, x[rest, 2])
        variance = covariance[row, row] + noise - cross @ torch.linalg.solve(inner, cross)
        expected = (x[row, 2] - mean) / variance.sqrt()
        assert found[0, row].item() == pytest.approx(expected.item(), abs=1e-6)


def test_what_stays_below_a_target_is_given_up_and_all_else_followed_to_the_end() -> None:
    x = table(400)
    child, parents = torch.tensor([3]), sets([0, 1])
    value = GPEvidence(x).log_evidence(child, parents)
    hopeless = GPEvidence(x).fit(child, parents, value + 1000)
    assert not hopeless.final.any()
    assert hopeless.value.item() < value.item() + 1
    easy = GPEvidence(x).fit(child, parents, value - 1000)
    assert easy.final.all()
    assert easy.value.item() == pytest.approx(value.item(), abs=1e-6)
