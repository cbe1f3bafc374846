"""Rows spread evenly over a table."""

import pytest
import torch

from dpdag.ops.rows import spaced, spaced_rows


@pytest.mark.parametrize(("count", "most"), [(10, 3), (1000, 7), (5, 5), (3, 10), (100_001, 50)])
def test_spaced_rows_are_distinct_sorted_and_reach_both_ends(count: int, most: int) -> None:
    rows = spaced_rows(count, most)
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
