"""Areas under the curves: by hand, by scikit-learn, by definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from dpdag.metrics import edge_auc

KEYS = {"Un-AUC-PR", "Un-AUC-ROC", "Dir-AUC-PR", "Dir-AUC-ROC"}


@st.composite
def problems(draw):
    """A random DAG with an edge, and scores with many ties."""
    n = draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    A = np.triu(rng.random((n, n)) < draw(st.floats(0.1, 1)), 1).astype(int)
    A[0, 1] = 1
    order = rng.permutation(n)
    levels = draw(st.integers(1, 6))
    return rng.integers(0, levels, (n, n)) / levels, A[np.ix_(order, order)]


def test_by_hand():
    A = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]])
    S = np.array([[0.0, 0.9, 0.25], [0.8, 0.0, 0.0], [0.125, 0.375, 0.0]])
    auc = edge_auc(S, A)
    # Directed, falling: .9 (true), .8, .375, .25 (true), …: precision 1 and 2/4 at the two steps.
    assert auc["Dir-AUC-PR"] == pytest.approx((1 + 2 / 4) / 2)
    # Of 2 · 7 pairs (true, false): .9 beats 7; .25 loses to .8 and .375 and beats 5.
    assert auc["Dir-AUC-ROC"] == pytest.approx((7 + 5) / 14)
    # Undirected scores 1.7 (true), .375 (a true and a false pair tie), 0 on the diagonal.
    assert auc["Un-AUC-PR"] == pytest.approx(0.5 * 1 + 0.5 * 4 / 6)
    assert auc["Un-AUC-ROC"] == pytest.approx((2 * 5 + 2 * (3 + 2 / 2)) / 20)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_agrees_with_scikit_learn(problem):
    S, A = problem
    auc = edge_auc(S, A)
    assert set(auc) == KEYS
    un_s, un_a = (S + S.T).ravel(), np.minimum(A + A.T, 1).ravel()
    assert auc["Dir-AUC-PR"] == pytest.approx(average_precision_score(A.ravel(), S.ravel()))
    assert auc["Dir-AUC-ROC"] == pytest.approx(roc_auc_score(A.ravel(), S.ravel()))
    assert auc["Un-AUC-PR"] == pytest.approx(average_precision_score(un_a, un_s))
    assert auc["Un-AUC-ROC"] == pytest.approx(roc_auc_score(un_a, un_s))


@settings(max_examples=50, deadline=None)
@given(problems())
def test_roc_is_the_probability_of_ranking_a_pair_right(problem):
    S, A = problem
    true, false = S[A == 1], S[A == 0]
    wins = np.sign(true[:, None] - false[None, :])
    assert edge_auc(S, A)["Dir-AUC-ROC"] == pytest.approx((1 + wins.mean()) / 2)


@settings(max_examples=50, deadline=None)
@given(problems())
def test_identities(problem):
    S, A = problem
    auc = edge_auc(S, A)
    assert all(value == 1 for value in edge_auc(A, A).values())  # perfect is best
    assert all(0 <= value <= 1 for value in auc.values())
    other = edge_auc(S.T, A.T)  # both reversed
    assert other == pytest.approx(auc)
    complement = edge_auc(-S, A)
    assert complement["Dir-AUC-ROC"] == pytest.approx(1 - auc["Dir-AUC-ROC"])
    monotone = edge_auc(np.exp(3 * S) - 7, A)
    assert monotone["Dir-AUC-PR"] == pytest.approx(auc["Dir-AUC-PR"])
    assert monotone["Dir-AUC-ROC"] == pytest.approx(auc["Dir-AUC-ROC"])


def test_reversing_every_edge_hurts_directed_scores_only():
    A = np.triu(np.ones((5, 5), dtype=int), 1)
    auc = edge_auc(A.T, A)
    assert auc["Un-AUC-PR"] == auc["Un-AUC-ROC"] == 1
    assert auc["Dir-AUC-ROC"] < 0.5


def test_the_diagonal_counts():
    A = np.array([[0, 1], [0, 0]])
    assert edge_auc([[5.0, 1.0], [0.0, 5.0]], A)["Dir-AUC-PR"] == pytest.approx(1 / 3)


def test_constant_scores_are_chance():
    A = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]])
    auc = edge_auc(np.ones((3, 3)), A)
    assert auc["Dir-AUC-ROC"] == 0.5
    assert auc["Dir-AUC-PR"] == pytest.approx(1 / 9)


def test_truths_without_edges_are_refused():
    with pytest.raises(ValueError, match=r"'truth' has no edges: areas .* are undefined"):
        edge_auc(np.ones((3, 3)), np.zeros((3, 3)))
