"""What columns explain of each other."""

import numpy as np
import pytest

from dpdag.ops.regression import explained_by_others

RNG = np.random.default_rng(0)
FREE = RNG.normal(size=(60, 5))
TABLES = {
    "free": FREE,
    "a constant": np.column_stack([FREE, np.ones(60)]),
    "a total": np.column_stack([FREE, FREE[:, 0] + 2 * FREE[:, 1]]),
    "a copy": np.column_stack([FREE, FREE[:, 0]]),
    "more columns than rows": RNG.normal(size=(20, 40)),
}


def by_regressions(X: np.ndarray) -> list[float]:
    """One regression after the other."""
    found = []
    for k, column in enumerate(X.T - X.mean(0)[:, None]):
        others = np.delete(X - X.mean(0), k, axis=1)
        left = column - others @ np.linalg.lstsq(others, column, rcond=None)[0]
        found.append(1 - left.var() / column.var() if column.any() else 0.0)
    return found


@pytest.mark.parametrize("name", TABLES)
def test_shares_are_those_of_regressions(name: str) -> None:
    np.testing.assert_allclose(
        explained_by_others(TABLES[name]), by_regressions(TABLES[name]), atol=1e-9
    )
