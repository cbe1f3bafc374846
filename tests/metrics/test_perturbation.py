"""The perturbation experiment and the prediction error."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdag import metrics

TRUTH = np.triu(np.ones((6, 6), dtype=int), 1)
TRUTH[0, 1:4] = 0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 12), st.integers(0, 2**32))
def test_perturbing_moves_exactly_the_edges_asked_for(moved, seed):
    other = metrics.perturb(TRUTH, moved, random_state=seed)
    assert other.sum() == TRUTH.sum()
    assert (TRUTH & other).sum() == TRUTH.sum() - moved
    assert not other.diagonal().any()


def test_every_free_place_can_be_reached():
    reached = sum(metrics.perturb(TRUTH, 3, random_state=seed) for seed in range(300))
    assert (reached[~np.eye(6, dtype=bool)] > 0).all()


def test_relative_confidence_of_a_perfect_score_falls_linearly():
    edges = TRUTH.sum()
    for moved in (0, 3, 12):
        result = metrics.relative_confidence(TRUTH, TRUTH, moved)
        assert result.mean == pytest.approx(1 - moved / edges)
        assert result.std == pytest.approx(0)
        assert result.values.shape == (10,)


def test_relative_confidence_of_constant_scores_is_one():
    result = metrics.relative_confidence(np.ones((6, 6)), TRUTH, 5)
    assert result.values.tolist() == [1] * 10


def test_relative_confidence_by_the_formula():
    scores = np.random.default_rng(0).random((6, 6))
    result = metrics.relative_confidence(scores, TRUTH, 4, random_state=1)
    again = metrics.relative_confidence(scores, TRUTH, 4, random_state=1)
    assert (result.values == again.values).all()
    assert result.mean == pytest.approx(result.values.mean())
    assert result.std > 0
    assert (
        metrics.relative_confidence(scores, TRUTH, 4, random_state=2).values != result.values
    ).any()


def test_impossible_perturbations_are_refused():
    with pytest.raises(ValueError, match=r"'moved' must be in 0 … 12 for 12 edges and 18 free"):
        metrics.perturb(TRUTH, 13)
    with pytest.raises(ValueError, match=r"'moved' must be in 0 … 12"):
        metrics.relative_confidence(TRUTH, TRUTH, -1)
    with pytest.raises(ValueError, match=r"sum to zero: the ratio is undefined"):
        metrics.relative_confidence(np.zeros((6, 6)), TRUTH, 1)


def test_mse_by_hand_and_in_every_form():
    X, guess = np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([[1.0, 1.0], [2.0, 0.0]])
    assert metrics.mse(X, guess) == (1 + 9) / 4
    assert metrics.mse(X, guess, per_node=True).tolist() == [0.5, 4.5]
    assert metrics.mse(torch.tensor(X), torch.tensor(guess, requires_grad=True)) == 2.5
    assert metrics.mse(X.tolist(), guess) == 2.5
    assert metrics.mse(X, X) == 0


def test_mse_aligns_columns_by_name():
    X = pd.DataFrame({"a": [0.0, 2.0], "b": [1.0, 3.0]})
    assert metrics.mse(X, X[["b", "a"]]) == 0
    assert metrics.mse(X, X[["b", "a"]] + [0, 2], per_node=True).tolist() == [4, 0]
    with pytest.raises(ValueError, match=r"must have the same columns; only one has \['b', 'c'\]"):
        metrics.mse(X, X.rename(columns={"b": "c"}))


@pytest.mark.parametrize(
    ("X", "guess", "message"),
    [
        (np.ones((2, 3)), np.ones((2, 2)), r"must have one shape; got \(2, 3\) and \(2, 2\)"),
        (np.ones(3), np.ones(3), r"'X' must be \(rows, nodes\) and not empty; got \(3,\)"),
        (np.ones((0, 3)), np.ones((0, 3)), r"'X' must be \(rows, nodes\) and not empty"),
        (np.ones((2, 2)), np.full((2, 2), np.nan), r"'predicted' must be finite; columns \[0, 1\]"),
    ],
)
def test_bad_predictions_are_refused(X, guess, message):
    with pytest.raises(ValueError, match=message):
        metrics.mse(X, guess)
