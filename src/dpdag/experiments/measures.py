"""What is asked of a fitted learner; each measure returns values by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .. import metrics
from ..datasets import Dataset
from ..mechanisms.mlp import FrozenMLP

Array = NDArray[np.float64]
Values = dict[str, float | list[float]]

THRESHOLDS = np.round(np.linspace(0.95, 0.05, 19), 2)
FRACTIONS = np.round(np.linspace(0, 1, 11), 1)  # of the edges that can be moved


@dataclass(frozen=True)
class Fitted:
    """A learner after ``fit``, and what it could not see.

    Attributes:
        learner: With ``edge_scores_`` or ``adjacency_``.
        data: With the true graph.
        test: (rows, n) held out; None where nothing was.
    """

    learner: Any
    data: Dataset
    test: Array | None = None

    @property
    def scores(self) -> Array:  # (n, n)
        """Scores of the edges; of a learner without, its graph."""
        own = getattr(self.learner, "edge_scores_", None)
        return np.asarray(self.learner.adjacency_ if own is None else own, dtype=np.float64)

    @property
    def shares(self) -> Array:  # (n, n)
        """Scores in [0, 1]: as they are, or probabilities, or else shares of the largest."""
        scores = self.scores
        if scores.max() <= 1:
            return scores
        likely = getattr(self.learner, "edge_probabilities_", None)
        return scores / scores.max() if likely is None else np.asarray(likely)


Measure = Callable[[Fitted], Values]


def structure(fitted: Fitted) -> Values:
    """The four AUCs, and SHD and size of the graph where there is one."""
    truth = fitted.data.adjacency
    values: Values = {**metrics.edge_auc(fitted.scores, truth)}
    if (graph := getattr(fitted.learner, "adjacency_", None)) is not None:
        values |= {"SHD": metrics.shd(truth, graph), "edges": int(np.sum(graph))}
    return values


def thresholds(fitted: Fitted) -> Values:
    """SHD of the graph of all edges above a threshold, from sparse to dense."""
    curve = metrics.shd_over_thresholds(
        fitted.shares, fitted.data.adjacency, thresholds=THRESHOLDS.tolist()
    )
    return {
        "threshold": curve.thresholds.tolist(),
        "SHD over thresholds": curve.shd.tolist(),
        "lowest SHD": int(curve.shd.min()),
    }


def perturbations(fitted: Fitted) -> Values:
    """Relative confidence in the true graph with ever more edges moved, the mean of ten graphs."""
    truth = fitted.data.adjacency
    if not (fitted.scores * truth).sum():
        return {}
    edges = int(truth.sum())
    most = min(edges, len(truth) * (len(truth) - 1) - edges)
    moved = np.round(FRACTIONS * most).astype(int)
    confidence = np.array(
        [metrics.relative_confidence(fitted.scores, truth, int(k)).mean for k in moved]
    )
    steps = np.diff(confidence[np.unique(moved, return_index=True)[1]])
    return {
        "moved": FRACTIONS.tolist(),
        "relative confidence": confidence.tolist(),
        "decreasing steps": float((steps < 0).mean()),
    }


def prediction(fitted: Fitted) -> Values:
    """Squared error on the rows that were held out, of learners with functions."""
    if fitted.test is None or not hasattr(fitted.learner, "predict"):
        return {}
    return {"MSE": metrics.mse(fitted.test, fitted.learner.predict(fitted.test))}


def prediction_over_thresholds(fitted: Fitted) -> Values:
    """The same with only the edges above a threshold; without networks that take any, a line."""
    error = prediction(fitted).get("MSE")
    if error is None or fitted.test is None:
        return {}
    errors = [error] * len(THRESHOLDS)
    learner = fitted.learner
    if hasattr(learner, "posterior_") and isinstance(learner.model_.mechanisms, FrozenMLP):
        networks = learner.model_.mechanisms
        x = torch.from_numpy((fitted.test - learner.location_) / learner.scale_)
        for k, threshold in enumerate(THRESHOLDS):
            graph = torch.from_numpy(fitted.scores > threshold)
            found = replace(networks, adjacency=graph)(x).numpy()
            errors[k] = metrics.mse(fitted.test, found * learner.scale_ + learner.location_)
    return {"threshold": THRESHOLDS.tolist(), "MSE over thresholds": errors}


def posterior(fitted: Fitted) -> Values:
    """How far edge probabilities, where there are such, are true."""
    probabilities = getattr(fitted.learner, "edge_probabilities_", None)
    if probabilities is None:
        return {}
    truth = fitted.data.adjacency
    turned = (truth.T == 1) & (np.asarray(probabilities) > 0.95)
    curve = metrics.reliability_curve(probabilities, truth)
    used = curve.counts > 0
    return {
        "Brier": metrics.brier(probabilities, truth),
        "ECE": metrics.expected_calibration_error(probabilities, truth),
        "expected SHD": metrics.expected_shd(fitted.learner.sample_dags(100, 0), truth),
        "turned, surely": int(turned.sum()),
        "stated": np.where(used, curve.probability, 0.0).tolist(),
        "share": np.where(used, curve.frequency, 0.0).tolist(),
        "pairs": curve.counts.tolist(),
    }


def plain(values: Mapping[str, Any]) -> Values:
    """Numbers as JSON knows them; what is not finite is left out."""
    found: Values = {}
    for name, value in values.items():
        numbers = np.asarray(value, dtype=np.float64)
        if np.isfinite(numbers).all():
            found[name] = numbers.tolist()
    return found
