"""Calibration of edge probabilities: by hand, by scikit-learn, by simulation."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from dpdag import metrics

OFF = ~np.eye(12, dtype=bool)


def problem(seed=0, n=12):
    rng = np.random.default_rng(seed)
    return rng.random((n, n)), np.triu(rng.random((n, n)) < 0.4, 1).astype(int)


def test_brier_agrees_with_scikit_learn():
    p, truth = problem()
    assert metrics.brier(p, truth) == pytest.approx(brier_score_loss(truth[OFF], p[OFF]))
    assert metrics.brier(truth, truth) == 0
    assert metrics.brier(np.triu(1 - truth, 1) + np.tril(np.ones((12, 12)), -1), truth) == 1


def test_reliability_agrees_with_scikit_learn():
    p, truth = problem()
    frequency, probability = calibration_curve(truth[OFF], p[OFF], n_bins=8)
    curve = metrics.reliability_curve(p, truth, bins=8)
    np.testing.assert_allclose(curve.frequency, frequency)
    np.testing.assert_allclose(curve.probability, probability)
    assert curve.counts.sum() == 12 * 11


def test_reliability_by_hand():
    p = np.array([[0.0, 1.0, 0.5], [0.0, 0.0, 0.7], [0.1, 0.2, 0.0]])
    truth = np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]])
    curve = metrics.reliability_curve(p, truth, bins=4)
    np.testing.assert_allclose(curve.probability, [0.1, np.nan, 0.6, 1.0])
    np.testing.assert_allclose(curve.frequency, [0.0, np.nan, 0.5, 1.0])
    assert curve.counts.tolist() == [3, 0, 2, 1]
    error = metrics.expected_calibration_error(p, truth, bins=4)
    assert error == pytest.approx((3 * 0.1 + 2 * 0.1 + 0) / 6)


def test_true_probabilities_are_calibrated_and_overconfident_ones_are_not():
    rng = np.random.default_rng(0)
    p = np.triu(rng.random((150, 150)), 1)
    truth = (rng.random((150, 150)) < p).astype(int)
    honest = metrics.expected_calibration_error(p, truth)
    boasting = metrics.expected_calibration_error(np.triu(p > 0.5, 1).astype(float), truth)
    assert honest < 0.01
    assert boasting > 0.1
    assert metrics.brier(p, truth) < metrics.brier(np.triu(p > 0.5, 1).astype(float), truth)


def test_the_diagonal_is_ignored():
    p, truth = problem()
    other = p.copy()
    np.fill_diagonal(other, 0.5)
    assert metrics.brier(p, truth) == metrics.brier(other, truth)


def test_perfect_probabilities_have_no_calibration_error():
    _, truth = problem()
    assert metrics.expected_calibration_error(truth, truth) == 0


@pytest.mark.parametrize("bad", [-0.1, 1.5])
def test_values_that_are_no_probabilities_are_refused(bad):
    p, truth = problem()
    p[0, 1] = bad
    for metric in (metrics.brier, metrics.expected_calibration_error, metrics.reliability_curve):
        with pytest.raises(ValueError, match=r"'probabilities' must be in \[0, 1\]; they range"):
            metric(p, truth)


@pytest.mark.parametrize("bins", [0, -3, 2.5])
def test_bad_bins_are_refused(bins):
    with pytest.raises(ValueError, match=r"'bins' must be a whole number from 1; got"):
        metrics.reliability_curve(*problem(), bins=bins)


def test_a_single_node_has_no_edges_to_be_calibrated():
    with pytest.raises(ValueError, match=r"'truth' must have at least 2 nodes"):
        metrics.brier([[0.0]], [[0]])
