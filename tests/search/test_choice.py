"""The choice of transformation and mechanism by evidence."""

import pytest
import torch
from torch import Tensor

from dpdag.search.choice import choose_mechanism


def table(kind: str, rows: int = 300) -> Tensor:  # (rows, 4)
    noise = torch.randn(rows, 4, generator=torch.Generator().manual_seed(0)).double()
    a, b = noise[:, 0], noise[:, 1]
    if kind == "linear":
        c, d = a + b + 0.7 * noise[:, 2], a - 0.5 * b + 0.7 * noise[:, 3]
    elif kind == "additive":
        c, d = torch.sin(2 * a) + b.abs() + 0.3 * noise[:, 2], torch.cos(2 * b) + 0.3 * noise[:, 3]
    else:
        c, d = torch.sin(2 * a) * b + 0.1 * noise[:, 2], torch.cos(a * b * 2) + 0.1 * noise[:, 3]
    return torch.stack([a, b, c, d], -1)


@pytest.mark.parametrize("kind", ["linear", "gp"])
def test_mechanism_follows_the_data(kind: str) -> None:
    choice = choose_mechanism(table(kind))
    assert choice.mechanism == kind
    assert choice.transform == "identity"
    assert choice.mechanism in choice.reason


def test_additive_data_are_not_called_linear() -> None:
    assert choose_mechanism(table("additive")).mechanism != "linear"


def test_skewed_columns_are_straightened() -> None:
    choice = choose_mechanism(table("additive").exp())
    assert choice.transform in ("log", "per column")
    assert set(choice.columns) <= {"log", "gaussian", "asinh", "identity"}
    assert choice.data.z.shape == (300, 4)


def test_choice_is_deterministic() -> None:
    first, second = (choose_mechanism(table("gp")) for _ in range(2))
    assert first.totals == second.totals
