"""Tables with more rows than there is anything to learn from."""

import numpy as np
import pytest

from dpdag import DAGPosterior
from dpdag.learners import dag_posterior
from dpdag.records.notes import fit_notes


def table(rows: int) -> np.ndarray:  # -> (rows, 3): 0 → 1 → 2
    noise = np.random.default_rng(0).normal(size=(rows, 3))
    middle = np.sin(2 * noise[:, 0]) + 0.4 * noise[:, 1]
    return np.stack([noise[:, 0], middle, np.tanh(2 * middle) + 0.4 * noise[:, 2]], 1)


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dag_posterior, "ENOUGH_ROWS", 300)


def test_what_is_learned_from_is_said() -> None:
    model = DAGPosterior(mechanism="additive", random_state=0).fit(table(1000))
    assert model.rows_used_ == 300
    assert "Learned from 300 of 1,000 rows, drawn at random." in fit_notes(model, 1000)
    assert model.adjacency_.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert model.predict(table(1000)).shape == (1000, 3)
    few = DAGPosterior(mechanism="additive", random_state=0).fit(table(200))
    assert few.rows_used_ == 200
    assert fit_notes(few, 200) == []


def test_rare_experiments_keep_their_rows() -> None:
    X = table(1000)
    X[:20, 1] = np.random.default_rng(1).normal(size=20)
    X[:20, 2] = np.tanh(2 * X[:20, 1])
    was_set = np.zeros(X.shape, dtype=bool)
    was_set[:20, 1] = True
    model = DAGPosterior(mechanism="additive", random_state=0).fit(X, interventions=was_set)
    assert model.rows_used_ == 300
    assert {record["column"]: record["rows"] for record in model.choice_}["1"] == 280
