"""The order in which a table lists its columns changes nothing."""

import numpy as np
import pytest
from numpy.typing import NDArray

from dpdag import DAGPosterior, Knowledge

ORDER = [3, 0, 4, 1, 2, 5]


def table(kind: str, rows: int = 150) -> NDArray[np.float64]:
    rng = np.random.default_rng(3)
    noise = rng.laplace(size=(rows, 6)) if kind == "laplace" else rng.normal(size=(rows, 6))
    x = noise.copy()
    for child, (first, second) in {2: (0, 1), 3: (2, 0), 5: (3, 4)}.items():
        if kind == "curved":
            x[:, child] = np.sin(2 * x[:, first]) * x[:, second] + 0.3 * noise[:, child]
        else:
            x[:, child] = x[:, first] - 0.7 * x[:, second] + 0.5 * noise[:, child]
    return np.exp(x / 2) if kind == "skewed" else x


@pytest.mark.parametrize("kind", ["gaussian", "laplace", "curved", "skewed"])
def test_permuted_columns_have_the_same_probabilities(kind: str) -> None:
    x = table(kind)
    given, moved = (
        DAGPosterior(random_state=0, verbose=False, device="cpu").fit(columns)
        for columns in (x, x[:, ORDER])
    )
    expected = given.edge_probabilities_[np.ix_(ORDER, ORDER)]
    np.testing.assert_allclose(moved.edge_probabilities_, expected, atol=1e-6)
    np.testing.assert_array_equal(moved.adjacency_, given.adjacency_[np.ix_(ORDER, ORDER)])
    kinds = [record["transformation"] for record in given.choice_]
    assert [record["transformation"] for record in moved.choice_] == [kinds[k] for k in ORDER]
    np.testing.assert_allclose(moved.predict(x[:, ORDER]), given.predict(x)[:, ORDER], atol=1e-3)


def test_knowledge_moves_with_the_columns() -> None:
    x = table("curved")
    place = {column: k for k, column in enumerate(ORDER)}
    for columns, source, target in ((x, 5, 3), (x[:, ORDER], place[5], place[3])):
        known = Knowledge(required=[(source, target)], forbidden=[(target, source)])
        model = DAGPosterior(knowledge=known, random_state=0, verbose=False).fit(columns)
        assert model.adjacency_[source, target] == 1
        assert model.edge_probabilities_[target, source] == 0
