"""Columns that arithmetic ties together."""

import numpy as np
import pandas as pd
import pytest
import torch

from dpdag import DAGPosterior
from dpdag.columns import classes, exact_relations


def columns(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)).double()


def test_shares_of_a_whole_are_one_group_of_which_one_column_was_computed() -> None:
    parts = columns(300, 10)
    found = exact_relations(parts / parts.sum(1, keepdim=True))
    assert found.groups == [list(range(10))]
    off = ~torch.eye(10, dtype=torch.bool)
    assert torch.allclose(found.linked[off], torch.tensor(0.2).double())


def test_two_totals_are_two_groups_and_free_columns_are_in_none() -> None:
    x = columns(300, 6)
    x[:, 2], x[:, 5] = x[:, 0] - x[:, 1], 3 * x[:, 3] + x[:, 4] - 7
    assert exact_relations(x).groups == [[0, 1, 2], [3, 4, 5]]
    assert exact_relations(columns(300, 6, seed=1)).groups == []


@pytest.mark.parametrize("relations", [1, 2, 3])
def test_the_share_of_links_counts_pairs_of_which_one_was_computed(relations: int) -> None:
    parts, k = columns(400, 4), 4 + relations
    mixed = parts @ columns(4, relations, seed=2)
    found = exact_relations(torch.cat([parts, mixed], 1))
    computed = [(i, j) for j in range(k) for i in range(j) if j >= 4]
    assert float(found.linked[0, -1]) == pytest.approx(len(computed) / (k * (k - 1) / 2))


def test_units_and_the_order_of_columns_do_not_matter() -> None:
    x = columns(300, 5)
    x[:, 4] = x[:, 0] + x[:, 1]
    order = torch.tensor([3, 1, 4, 0, 2])
    scaled = (x * torch.tensor([1.0, 1e6, 1e-3, 1.0, 50.0]) + 9)[:, order]
    assert torch.allclose(
        exact_relations(scaled).linked, exact_relations(x).linked[order][:, order]
    )


def test_few_rows_and_constant_columns_tie_nothing() -> None:
    assert exact_relations(columns(10, 12)).groups == []
    x = columns(100, 3)
    x[:, 1] = 2.0
    assert exact_relations(x).groups == []


def test_classes_of_a_column_are_recognised_and_noisy_ones_are_not() -> None:
    generator = torch.Generator().manual_seed(0)
    pressure, other = torch.randn(2, 300, generator=generator).double()
    stage = torch.bucketize(pressure, torch.tensor([-1.0, 0.0, 1.0]).double()).double()
    codes = torch.tensor([2.0, 0.0, 3.0, 1.0]).double()[stage.long()]  # of a category
    noisy = torch.bucketize(pressure + 0.1 * other, torch.tensor([0.0]).double()).double()
    rare = (pressure > pressure.sort().values[-3]).double()
    found = classes(torch.stack([pressure, other, stage, codes, noisy, rare], -1))
    assert found.nonzero().tolist() == [[0, 2], [0, 3]]


def test_no_direction_is_told_beside_classes_of_a_column() -> None:
    rng = np.random.default_rng(0)
    age = rng.normal(size=300)
    pressure = age + rng.normal(size=300)
    table = pd.DataFrame(
        {"age": age, "pressure": pressure, "stage": np.digitize(pressure, [-1, 1])}
    )
    learner = DAGPosterior(mechanism="linear", random_state=0, verbose=False).fit(table)
    assert learner.linked_probabilities_[0, 1] > 0.9
    assert learner.edge_probabilities_.max() == pytest.approx(0.5, abs=0.02)
