"""Rows spread evenly over a table."""

import pytest
import torch

from dpdag.ops.rows import spaced, varied_rows


@pytest.mark.parametrize(("count", "most"), [(10, 3), (1000, 7), (5, 5), (3, 10), (100_001, 50)])
def test_spaced_rows_are_distinct_sorted_and_reach_both_ends(count: int, most: int) -> None:
    rows = spaced(torch.arange(count)[:, None], most)[:, 0]
    assert len(rows) == min(count, most)
    assert rows[0] == 0
    assert rows[-1] == count - 1
    steps = rows.diff()
    assert steps.min() >= 1
    assert steps.max() - steps.min() <= 1


def test_a_table_with_few_rows_is_left_as_it_is() -> None:
    x = torch.arange(6.0).reshape(3, 2)
    assert torch.equal(spaced(x, 3), x)
    assert torch.equal(spaced(x, float("inf")), x)
    assert torch.equal(spaced(x, 2), x[[0, 2]])


def test_rare_values_are_not_lost() -> None:
    x = torch.zeros(1000, 3)
    x[:, 0] = torch.arange(1000)
    x[17, 1] = x[500, 2] = 1.0
    some = spaced(x, 10)
    assert some.shape == (10, 3)
    assert bool((some.std(0) > 0).all())
    assert torch.equal(x[:, 1].nonzero()[:, 0], torch.tensor([17]))  # the table is left alone


def test_columns_that_are_constant_everywhere_stay_so() -> None:
    x = torch.stack([torch.arange(20.0), torch.ones(20)], -1)
    assert varied_rows(x, torch.arange(5)).tolist() == [0, 1, 2, 3, 4]


def test_mending_one_column_does_not_break_another() -> None:
    x = torch.zeros(3000, 3)
    x[:, 0] = torch.arange(3000)
    x[2999, 1] = x[1, 2] = 1.0  # in the last row, which is always taken, and in one that is not
    some = spaced(x, 1000)
    assert bool((some.std(0) > 0).all())
