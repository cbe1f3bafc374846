"""Gaussian process evidence: textbook values, gradients, batching, honesty."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from dpdag.evidence.ascent import maximise
from dpdag.evidence.bge import BGeEvidence
from dpdag.evidence.gp import GPEvidence
from dpdag.evidence.marginal import gp_evidence
from dpdag.evidence.screened import ExactScreen


def table(rows: int = 80, seed: int = 0) -> Tensor:  # (rows, 4): 0 → 1, (0, 1) → 2, 3 alone
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randn(rows, 4, generator=generator, dtype=torch.float64)
    a = noise[:, 0]
    b = torch.sin(2 * a) + 0.3 * noise[:, 1]
    c = torch.cos(a + 2 * b) + 0.3 * noise[:, 2]
    return torch.stack([a, b, c, noise[:, 3]], -1)


def sets(*members: list[int], n: int = 4) -> Tensor:
    out = torch.zeros(len(members), n, dtype=torch.bool)
    for k, row in enumerate(members):
        out[k, row] = True
    return out


def dense_evidence(y: np.ndarray, x: np.ndarray, parameters: np.ndarray) -> float:
    """Textbook log density of y under N(0, s² M) at its best s², loops and all."""
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
    variance = y @ np.linalg.solve(matrix, y) / rows
    _, logdet = np.linalg.slogdet(variance * matrix)
    density = -0.5 * logdet - 0.5 * y @ np.linalg.solve(variance * matrix, y)
    return float(density) + rows / 2


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


def test_units_do_not_matter() -> None:
    x = table()
    child, parents = torch.tensor([1, 2]), sets([0], [0, 1])
    other = GPEvidence(x * torch.tensor([10.0, 1e-3, 5.0, 1.0]) + 7, dtype=torch.float64)
    plain = GPEvidence(x, dtype=torch.float64)
    values = plain.log_evidence(child, parents)
    assert torch.allclose(other.log_evidence(child, parents), values, atol=1e-6)


def test_true_parents_win_and_useless_ones_cost() -> None:
    evidence = GPEvidence(table(200))
    child = torch.tensor([2, 2, 2, 1, 0])
    values = evidence.log_evidence(child, sets([0, 1], [0], [0, 1, 3], [0], [1]))
    assert values[0] > values[1] + 10
    assert values[0] > values[2] + 1
    assert values[3] > values[4] + 10


@pytest.mark.parametrize("rows", [100, 400])
def test_direction_of_linear_gaussian_pairs_is_left_open(rows: int) -> None:
    generator = torch.Generator().manual_seed(rows)
    cause, noise = torch.randn(2, rows, generator=generator)
    evidence = GPEvidence(torch.stack([cause, 0.8 * cause + 0.6 * noise], -1))
    forward, backward = evidence.log_evidence(torch.tensor([1, 0]), sets([0], [1], n=2))
    assert forward > 10
    assert abs(forward - backward) < 0.2


def test_linear_evidence_is_equal_for_equivalent_graphs() -> None:
    generator = torch.Generator().manual_seed(1)
    mix = torch.randn(4, 4, generator=generator, dtype=torch.float64)
    x = torch.randn(50, 4, generator=generator, dtype=torch.float64) @ mix
    evidence = BGeEvidence(x)
    full = [[], [0], [0, 1], [0, 1, 2]]
    reverse = [[1, 2, 3], [2, 3], [3], []]
    totals = [
        evidence.log_evidence(torch.arange(4), sets(*graph)).sum() for graph in (full, reverse)
    ]
    assert totals[0].item() == pytest.approx(totals[1].item(), abs=1e-8)


def test_reach_stops_early_only_below_the_target() -> None:
    x = table(400)
    child, parents = torch.tensor([3]), sets([0, 1])
    value = GPEvidence(x).log_evidence(child, parents)
    hopeless = GPEvidence(x).reach(child, parents, value + 1000)
    assert hopeless.item() < value.item() + 1000
    easy = GPEvidence(x).reach(child, parents, value - 1000)
    assert easy.item() == pytest.approx(value.item(), abs=1e-6)


def test_screening_ranks_the_missing_parent_first() -> None:
    evidence = GPEvidence(table(400), screen_rows=150)
    parents = sets([0])[0]
    change = evidence.screen(2, parents)
    assert change[[1, 3]].argmax() == 0
    assert change[1] > 10
    probe = evidence.probe(2, parents)
    assert probe is not None
    assert probe[1] > probe[3]
    assert evidence.screen(2, sets([0, 1])[0])[1] < -10
    assert evidence.screen(1, sets([])[0]).argmax() == 0


def test_exact_screen_holds_exact_changes() -> None:
    x = table(60)
    screen = ExactScreen(BGeEvidence(x))
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
    values = GPEvidence(x).log_evidence(
        torch.tensor([3, 3, 2, 1]), sets([0], [0, 1, 2], [0, 1, 3], [3])
    )
    assert values.isfinite().all()


def test_rows_beyond_the_budget_are_drawn_by_seed() -> None:
    x = table(300)
    child, parents = torch.tensor([1]), sets([0])
    a, b, c = (
        GPEvidence(x, rows=100, random_state=seed).log_evidence(child, parents)
        for seed in (0, 0, 1)
    )
    assert torch.equal(a, b)
    assert not torch.equal(a, c)


def test_bad_table_is_refused() -> None:
    with pytest.raises(ValueError, match="'x' must be a"):
        GPEvidence(torch.zeros(0, 3))


def test_ascent_finds_peaks_in_a_box_each_on_its_own() -> None:
    peak = torch.tensor([[0.5, -1.0], [9.0, 0.0], [0.0, 0.3]], dtype=torch.float64)
    curve = torch.tensor([[1.0, 10.0], [2.0, 1.0], [5.0, 0.1]], dtype=torch.float64)

    def value(rows: Tensor, points: Tensor) -> Tensor:
        return -(curve[rows] * (points - peak[rows]) ** 2).sum(-1)

    def both(rows: Tensor, points: Tensor) -> tuple[Tensor, Tensor]:
        return value(rows, points), -2 * curve[rows] * (points - peak[rows])

    box = torch.full((2,), 3.0, dtype=torch.float64)
    found = maximise(
        both,
        torch.zeros(3, 2, dtype=torch.float64),
        lower=-box,
        upper=box,
        inverse_hessian=torch.eye(2, dtype=torch.float64).expand(3, 2, 2) / 4,
        steps=60,
        tolerance=1e-10,
        value_only=value,
    )
    assert torch.allclose(found.point, peak.clamp(-3, 3), atol=1e-3)
    assert torch.allclose(found.value, value(torch.arange(3), found.point))
