"""Monotone functions of columns: what noise of their images is of the columns themselves."""

import math

import pytest
import torch

from dpdag.columns import MonotoneColumns, monotone


def curve() -> MonotoneColumns:
    """A logarithm and a column as it is."""
    x = torch.linspace(0.01, 60, 4000, dtype=torch.float64)[:, None]
    return MonotoneColumns.through(x.expand(-1, 2), torch.cat([x.log(), x], -1), knots=4000)


@pytest.mark.parametrize("rows", [1, 300])
def test_deviations_of_a_logarithm_are_those_of_a_log_normal(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monotone, "_WORK", 300_000)
    noise = torch.special.ndtri((torch.arange(20_000).double() + 0.5) / 20_000)[:, None]
    mean = torch.linspace(0, 1, rows, dtype=torch.float64)[:, None].expand(-1, 2)
    size = torch.full_like(mean, 0.4)
    found = curve().deviation(mean, size, noise.expand(-1, 2))
    square = 0.4**2
    wanted = (mean[:, 0] + square / 2).exp() * math.sqrt(math.exp(square) - 1)
    torch.testing.assert_close(found[:, 0], wanted, rtol=0.01, atol=0)
    torch.testing.assert_close(found[:, 1], size[:, 1])
