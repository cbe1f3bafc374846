"""Sortability: by enumeration of paths, by regression, by known extremes."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from dpdag import metrics


def random_problem(seed, n=6, rows=200):
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    A = np.triu(rng.random((n, n)) < 0.5, 1).astype(int)
    A[0, 1] = 1
    X = np.zeros((rows, n))
    for j in range(n):
        X[:, j] = X @ (A[:, j] * rng.uniform(0.5, 2, n)) + rng.standard_normal(rows)
    return X[:, order], A[np.ix_(order, order)]


def naive_sortability(value, A):
    """For every length, every pair joined by a path of that length counts once."""
    graph, n = nx.DiGraph(A), len(A)
    joined = set()
    for i in range(n):
        for j in set(range(n)) - {i}:
            joined |= {(i, j, len(path)) for path in nx.all_simple_paths(graph, i, j)}
    scores = [
        0.5 if np.isclose(value[i], value[j], rtol=1e-9) else float(value[i] < value[j])
        for i, j, _ in joined
    ]
    return np.mean(scores)


@pytest.mark.parametrize("seed", range(10))
def test_varsortability_agrees_with_enumerated_paths(seed):
    X, A = random_problem(seed)
    assert metrics.varsortability(X, A) == pytest.approx(naive_sortability(X.var(0), A))


@pytest.mark.parametrize("seed", range(5))
def test_r2_sortability_agrees_with_regression(seed):
    X, A = random_problem(seed)
    others = [np.delete(X, j, axis=1) for j in range(6)]
    r2 = [LinearRegression().fit(o, X[:, j]).score(o, X[:, j]) for j, o in enumerate(others)]
    assert metrics.r2_sortability(X, A) == pytest.approx(naive_sortability(np.array(r2), A))


def test_extremes():
    A = np.triu(np.ones((4, 4), dtype=int), 1)
    Z = np.random.default_rng(0).standard_normal((500, 4))
    Z = (Z - Z.mean(0)) / Z.std(0)
    assert metrics.varsortability(Z * [1, 2, 3, 4], A) == 1
    assert metrics.varsortability(Z * [4, 3, 2, 1], A) == 0
    assert metrics.varsortability(Z, A) == 0.5  # standardised: all ties
    assert metrics.varsortability(Z.astype(np.float32), A) == 0.5
    assert metrics.varsortability(1e-9 * Z * [1, 2, 3, 4], A) == 1


def test_scaling_removes_varsortability_and_leaves_r2_sortability():
    X, A = random_problem(0)
    scale = np.random.default_rng(0).uniform(0.1, 10, 6)
    assert metrics.r2_sortability(X * scale, A) == pytest.approx(metrics.r2_sortability(X, A))
    assert metrics.varsortability(X / X.std(0), A) == 0.5


def test_reversing_the_truth_mirrors_the_value():
    X, A = random_problem(1)
    assert metrics.varsortability(X, A.T) == pytest.approx(1 - metrics.varsortability(X, A))
    assert metrics.r2_sortability(X, A.T) == pytest.approx(1 - metrics.r2_sortability(X, A))


def test_linearly_dependent_and_constant_columns_have_a_value():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 100))
    X = np.stack([a, b, a + b, np.ones(100)], axis=1)
    A = np.array([[0, 0, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    # R² is one (a tie) for the three dependent columns and zero for the constant one.
    assert metrics.r2_sortability(X, A) == pytest.approx((0.5 + 0.5 + 0) / 3)


def test_the_verdict_is_plain():
    A = np.triu(np.ones((4, 4), dtype=int), 1)
    Z = np.random.default_rng(0).standard_normal((500, 4))
    given_away = metrics.sortability(Z * [1, 2, 3, 4], A)
    assert given_away.varsortability == 1
    assert "the raw scales give the causal order away, to any method" in given_away.verdict
    assert "away backwards" in metrics.sortability(Z * [4, 3, 2, 1], A).verdict
    fair = metrics.sortability(Z / Z.std(0), A)
    assert "the raw scales tell little about the causal order" in fair.verdict
    assert "\n" not in fair.verdict


def test_frames_are_aligned_with_named_truths():
    X, A = random_problem(2)
    names = list("abcdef")
    frame = pd.DataFrame(X, columns=names)
    graph = nx.relabel_nodes(nx.DiGraph(A), dict(enumerate(names)))
    expected = metrics.varsortability(X, A)
    assert metrics.varsortability(frame[list("fedcba")], graph) == pytest.approx(expected)
    assert metrics.varsortability(X, graph, names=names) == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"'truth' has names and 'X' has none"):
        metrics.varsortability(X, graph)


@pytest.mark.parametrize(
    ("X", "truth", "message"),
    [
        (np.ones((5, 3)), [[0, 1], [0, 0]], r"'X' must be \(rows, 2\) with at least 2 rows"),
        (np.ones((1, 2)), [[0, 1], [0, 0]], r"'X' must be \(rows, 2\) with at least 2 rows"),
        (np.ones((5, 2)), [[0, 0], [0, 0]], r"'truth' has no edges: sortability is undefined"),
        (np.ones((5, 2)), [[0, 1], [1, 0]], r"'truth' must be acyclic"),
        (np.full((5, 2), np.inf), [[0, 1], [0, 0]], r"'X' must be finite"),
    ],
)
def test_bad_input_is_refused(X, truth, message):
    with pytest.raises(ValueError, match=message):
        metrics.sortability(X, truth)
