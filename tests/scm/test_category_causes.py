"""Functions of categories: every value has its own effect, whatever its number."""

import pytest
import torch
from torch import Tensor

from dpdag.columns import Table, TypedColumns, standardise
from dpdag.evidence.discrete import DiscreteEvidence
from dpdag.evidence.typed import TypedEvidence
from dpdag.scm import Mechanisms, fit_additive, fit_discrete, fit_gp, fit_mixed

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


def slopes_by_group(rows: int, seed: int) -> tuple[Tensor, Tensor]:  # (rows, 3), (rows,)
    """A category, a number, and a column whose slope in it each value decides; and its mean."""
    generator = torch.Generator().manual_seed(seed)
    group = torch.randint(4, (rows,), generator=generator)
    cause, noise = torch.randn(2, rows, generator=generator).double()
    mean = torch.tensor([-2.0, -0.5, 0.5, 2.0]).double()[group] * cause
    width = 1.46  # of the last column
    x = torch.stack([(group - 1.5) / 1.118, cause, (mean + 0.3 * noise) / width], -1)
    return x, mean / width


BOTH = torch.tensor([[0, 0, 1], [0, 0, 1], [0, 0, 0]]).bool()


@pytest.mark.parametrize("kernel", ["rbf", "network"])
@pytest.mark.parametrize("rows", [400, 100])
def test_processes_tell_the_values_of_a_category_apart(kernel: str, rows: int) -> None:
    x, _ = slopes_by_group(400, 0)
    new, mean = slopes_by_group(200, 1)
    model = fit_gp(x, BOTH, kernel=kernel, rows=rows, categories=(0,))
    assert (model(new)[:, 2] - mean).square().mean().sqrt() < 0.15
    size = model.variance(new)[:, 2].sqrt()
    assert size.median() == pytest.approx(0.3 / 1.46, rel=0.2)


def test_the_function_that_explains_a_column_is_the_one_that_answers() -> None:
    x, _ = slopes_by_group(300, 0)
    kinds = "category", "continuous", "continuous"
    types = TypedColumns(kinds, torch.zeros(3), torch.ones(3))
    discrete = DiscreteEvidence(x, x, kinds)
    evidence = TypedEvidence(Table(x, x), discrete, functions=["linear", "additive", "gp"])
    new, mean = slopes_by_group(200, 1)
    model = fit_mixed(x, BOTH, evidence, types)
    assert (model(new)[:, 2] - mean).square().mean().sqrt() < 0.15
