"""The order of linear mechanisms with noise that is not Gaussian."""

import pytest
import torch
from torch import Tensor

from dpdag.search.lingam import lingam_order


def chain(rows: int = 2000, n: int = 6, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Columns in random places and their true order."""
    generator = torch.Generator().manual_seed(seed)
    noise = torch.rand(rows, n, generator=generator).double() - 0.5
    order = torch.randperm(n, generator=generator)
    x = torch.zeros_like(noise)
    for k, node in enumerate(order.tolist()):
        x[:, node] = noise[:, node] + (x[:, order[k - 1]] if k else 0.0)
        x[:, node] += 0.5 * x[:, order[k - 2]] if k > 1 else 0.0
    return x, order


@pytest.mark.parametrize("seed", range(4))
def test_the_true_order_is_found(seed: int) -> None:
    x, order = chain(seed=seed)
    nothing = torch.zeros(6, 6, dtype=torch.bool)
    assert lingam_order(x, nothing).tolist() == order.tolist()
    assert lingam_order(1000 * x + 3, nothing).tolist() == order.tolist()


def test_what_is_known_comes_first() -> None:
    x, order = chain()
    before = torch.zeros(6, 6, dtype=torch.bool)
    before[order[5], order[0]] = True  # against the data
    found = lingam_order(x, before).tolist()
    assert found.index(int(order[5])) < found.index(int(order[0]))
    assert sorted(found) == list(range(6))


def test_equal_columns_are_no_obstacle() -> None:
    x, _ = chain()
    x = torch.cat([x, x[:, :1]], -1)
    order = lingam_order(x, torch.zeros(7, 7, dtype=torch.bool))
    assert sorted(order.tolist()) == list(range(7))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("held", ["column", "copy"])
@pytest.mark.parametrize("rows", [50, 2000])
def test_a_copy_is_no_argument_against_a_column(seed: int, held: str, rows: int) -> None:
    x, _ = chain(seed=seed, rows=rows)
    plain = lingam_order(x, torch.zeros(6, 6, dtype=torch.bool))
    first, last = int(plain[0]), int(plain[-1])
    x = torch.cat([x, 3 - x[:, first, None]], -1)
    before = torch.zeros(7, 7, dtype=torch.bool)
    before[last, first if held == "column" else 6] = True
    assert int(lingam_order(x, before)[0]) == (6 if held == "column" else first)
