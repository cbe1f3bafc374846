"""Functions of categories: every value has its own effect, whatever its number."""

import pytest
import torch
from torch import Tensor

from dpdag.columns import TypedColumns, standardise
from dpdag.scm import Mechanisms, fit_additive, fit_discrete

GRAPH = torch.tensor([[False, True], [False, False]])


def table(levels: int, rows: int) -> tuple[Tensor, Tensor]:  # (rows, 2), (rows,)
    """A category, and a column with a mean of its own for every value; both are standardised."""
    generator = torch.Generator().manual_seed(0)
    group = torch.arange(rows) % levels
    effect = torch.randn(levels, generator=generator).double()[group]
    noise = 0.4 * torch.randn(rows, generator=generator).double()
    x, _ = standardise(torch.stack([group.double(), effect + noise], -1))
    return x, group


def group_means(y: Tensor, group: Tensor) -> Tensor:  # (rows,), (rows,) -> (rows,)
    count = group.bincount().double()
    return (torch.zeros_like(count).index_add(0, group, y) / count)[group]


@pytest.mark.parametrize("levels", [3, 12, 50])
@pytest.mark.parametrize("n_functions", [1, 8])
def test_a_category_of_many_levels_is_answered_by_level_means(
    levels: int, n_functions: int
) -> None:
    x, group = table(levels, 40 * levels)
    model = fit_additive(x, GRAPH, n_functions=n_functions, categories=(0,))
    torch.testing.assert_close(model(x)[:, 1], group_means(x[:, 1], group), atol=0.12, rtol=0)


def test_means_of_rare_levels_are_shrunk() -> None:
    x, group = table(5, 200)
    rare = torch.cat([torch.arange(1), torch.arange(1, 200)[group[1:] != 0]])
    x, _ = standardise(x[rare])
    found = fit_additive(x, GRAPH, categories=(0,))(x)[0, 1]
    assert 0.2 < found / x[0, 1] < 0.95


def test_a_value_that_was_not_seen_is_answered_by_the_mean() -> None:
    x, _ = table(12, 480)
    model = fit_additive(x, GRAPH, categories=(0,))
    between = (x[:1] + x[1:2]) / 2
    torch.testing.assert_close(model(between)[0, 1], x.new_zeros(()), atol=1e-6, rtol=0)


def sums(x: Tensor) -> Mechanisms:
    return fit_additive(x, GRAPH, categories=(0,))


def test_numbers_of_the_values_do_not_matter() -> None:
    x, group = table(12, 480)
    other = torch.randperm(12, generator=torch.Generator().manual_seed(1)).double()[group]
    y = torch.stack([standardise(other[:, None])[0][:, 0], x[:, 1]], -1)
    torch.testing.assert_close(sums(y)(y)[:, 1], sums(x)(x)[:, 1])


@pytest.mark.parametrize("kind", ["binary", "category", "ordinal", "count"])
def test_discrete_effects_of_a_category_are_shares_by_level(kind: str) -> None:
    generator = torch.Generator().manual_seed(0)
    group = torch.arange(1200) % 12
    chance = torch.rand(12, generator=generator).double()[group]
    draws = torch.rand(3, 1200, generator=generator).double() < chance
    values = draws[: 1 if kind == "binary" else 3].sum(0).double()
    x, scale = standardise(torch.stack([group.double(), values], -1))
    location = torch.tensor([group.double().mean(), values.mean()])
    model = fit_discrete(x, GRAPH, TypedColumns(("category", kind), location, scale))
    own = model.probabilities(x)[1]
    for level, value in enumerate(values.unique().tolist()):
        share = group_means((values == value).double(), group)
        assert (own[:, level] - share).abs().max() < 0.13
