"""The record: frozen, checked, split without leaking."""

from dataclasses import FrozenInstanceError

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from dpdag.datasets import Dataset, Provenance, load


def record(**changes):
    given = {
        "X": np.arange(60.0).reshape(20, 3) ** 1.5,
        "adjacency": [[0, 1, 0], [0, 0, 1], [0, 0, 0]],
        "names": ["a", "b", "c"],
        "name": "little",
        "provenance": Provenance("simulated", "by hand"),
    }
    return Dataset(**(given | changes))


def test_records_are_frozen():
    with pytest.raises(FrozenInstanceError):
        load("Sachs").X = 0
    with pytest.raises(FrozenInstanceError):
        record().provenance.source = "elsewhere"


def test_records_own_their_arrays():
    X, adjacency, names = np.ones((5, 2)), np.zeros((2, 2), dtype=int), ["a", "b"]
    data = record(X=X, adjacency=adjacency, names=names)
    X[:], adjacency[0, 1], names[0] = 7, 1, "z"
    assert (data.X == 1).all()
    assert data.adjacency.sum() == 0
    assert data.names == ["a", "b"]
    frame = data.frame
    frame.loc[:, "a"] = 9
    assert (data.X == 1).all()


def test_split_is_80_10_10_of_all_rows():
    data = load("Sachs")
    rows = data.split_rows(seed=3)
    assert [len(part) for part in rows] == [683, 85, 85]
    assert sorted(np.concatenate(rows)) == list(range(853))
    assert [part.shape for part in data.split(3)] == [(683, 11), (85, 11), (85, 11)]


def test_split_is_standardised_with_the_training_rows_only():
    data = load("Sachs")
    rows, parts = data.split_rows(1), data.split(1)
    train = data.X[rows.train]
    np.testing.assert_allclose(parts.train.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(parts.train.std(0), 1)
    np.testing.assert_allclose(parts.test, (data.X[rows.test] - train.mean(0)) / train.std(0))
    assert np.abs(parts.validation.mean(0)).max() > 1e-3  # not standardised by itself


def test_test_rows_do_not_leak_into_training():
    data = load("Sachs")
    rows = data.split_rows(0)
    changed = data.X.copy()
    changed[rows.test] += 1e6
    other = record(X=changed, adjacency=data.adjacency, names=data.names)
    assert (other.split(0).train == data.split(0).train).all()


def test_splits_differ_by_seed_and_repeat_by_seed():
    data = load("Sachs")
    assert (data.split(0).train == data.split(0).train).all()
    assert (data.split_rows(0).train != data.split_rows(1).train).any()


def test_constant_columns_are_centred_not_scaled():
    X = np.random.default_rng(0).standard_normal((50, 2))
    X[:, 1] = 0.1 + 0.2
    train = record(X=X, adjacency=np.zeros((2, 2)), names=["a", "b"]).split(0).train
    assert np.abs(train[:, 1]).max() < 1e-12


def test_every_part_of_a_small_split_has_rows():
    for rows in range(3, 40):
        sizes = [len(part) for part in record(X=np.ones((rows, 3))).split_rows(0)]
        assert sum(sizes) == rows
        assert min(sizes) >= 1
    with pytest.raises(ValueError, match="needs at least 3 rows; 'little' has 2"):
        record(X=np.ones((2, 3))).split(0)


def test_views_carry_the_names():
    data = record()
    assert isinstance(data.frame, pd.DataFrame)
    assert list(data.frame.columns) == ["a", "b", "c"]
    assert data.truth.loc["a", "b"] == 1
    assert data.truth.loc["b", "a"] == 0
    assert isinstance(data.graph, nx.DiGraph)
    assert list(data.graph.nodes) == ["a", "b", "c"]
    assert set(data.graph.edges) == {("a", "b"), ("b", "c")}
    assert repr(data) == "Dataset('little', rows=20, nodes=3, edges=2, source='simulated')"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"adjacency": [[0, 1, 0], [0, 0, 1], [1, 0, 0]]}, r"it has the cycle a → b → c → a"),
        ({"adjacency": [[1, 0, 0], [0, 0, 0], [0, 0, 0]]}, r"it has the cycle a → a"),
        ({"adjacency": 2 * np.eye(3, k=1)}, r"must hold only 0 and 1"),
        ({"adjacency": np.zeros((2, 2))}, r"must be \(3, 3\); got \(2, 2\)"),
        ({"names": ["a", "b"]}, r"must have 3 entries; got 2"),
        ({"names": ["a", "b", "b"]}, r"\['b'\] stand there more than once"),
        ({"X": np.array([[1.0, np.nan, 3.0]])}, r"not finite in \['b'\]"),
        ({"X": np.ones(3)}, r"must be \(rows, nodes\); got shape \(3,\)"),
        ({"conditions": [1, 2]}, r"'conditions' must be \(20,\), one per row; got shape \(2,\)"),
        ({"mask": np.ones((1, 3))}, r"'mask' must have the shape \(20, 3\) of X; got \(1, 3\)"),
    ],
)
def test_inconsistent_records_are_refused_in_one_line(changes, message):
    with pytest.raises(ValueError, match=message) as caught:
        record(**changes)
    assert "\n" not in str(caught.value)
