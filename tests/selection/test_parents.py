"""Neighbour selection keeps true parents and drops most of the rest."""

import numpy as np
import pytest

from dpdag.selection import neighbours


def sparse(rows: int = 400, n: int = 8, seed: int = 0):
    """A chain of sines among independent columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, n))
    A = np.zeros((n, n), dtype=bool)
    for v in range(1, 4):
        X[:, v] = np.sin(2 * X[:, v - 1]) + 0.3 * rng.normal(size=rows)
        A[v - 1, v] = True
    return X, A


@pytest.mark.parametrize("method", ["additive", "trees"])
def test_parents_are_kept_and_the_diagonal_never(method):
    X, A = sparse()
    mask = neighbours(X, method, n_trees=30, random_state=0)
    assert mask.shape == A.shape
    assert mask.dtype == bool
    assert mask[A].all()
    assert not mask.diagonal().any()


def test_additive_selection_is_sparse_where_nothing_is_to_find():
    mask = neighbours(np.random.default_rng(1).normal(size=(500, 15)), "additive")
    assert mask.mean() < 0.1


@pytest.mark.parametrize("method", ["additive", "trees"])
def test_at_most_so_many_neighbours(method):
    X, _ = sparse()
    assert neighbours(X, method, max_neighbours=2, n_trees=30, random_state=0).sum(0).max() <= 2


def test_trees_repeat_with_the_same_seed():
    X, _ = sparse(rows=100, n=5)
    first, second = (neighbours(X, "trees", n_trees=30, random_state=3) for _ in range(2))
    assert (first == second).all()


def test_bad_arguments_are_refused_by_name():
    X, _ = sparse(rows=50, n=4)
    with pytest.raises(
        ValueError, match=r"Unknown neighbour selection 'tree'\. Did you mean 'trees'"
    ):
        neighbours(X, "tree")
    with pytest.raises(ValueError, match="'max_neighbours' must be at least 1; got 0"):
        neighbours(X, "additive", max_neighbours=0)
