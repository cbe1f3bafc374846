"""How far an estimate is from the truth, and how far the data itself gives the truth away.

Graphs and scores may be arrays, torch tensors, DataFrames or networkx graphs; named ones are
aligned by name. Scores come before the truth they are judged by; of two graphs the truth is first.
"""

from .adjustment import ancestor_aid, parent_aid, sid
from .calibration import ReliabilityCurve, brier, expected_calibration_error, reliability_curve
from .diagnostics import Sortability, r2_sortability, sortability, varsortability
from .perturbation import RelativeConfidence, perturb, relative_confidence
from .prediction import mse
from .ranking import edge_auc
from .structural import (
    EdgeReport,
    ThresholdCurve,
    edge_report,
    expected_shd,
    order_divergence,
    shd,
    shd_over_thresholds,
)

__all__ = [
    "EdgeReport",
    "RelativeConfidence",
    "ReliabilityCurve",
    "Sortability",
    "ThresholdCurve",
    "ancestor_aid",
    "brier",
    "edge_auc",
    "edge_report",
    "expected_calibration_error",
    "expected_shd",
    "mse",
    "order_divergence",
    "parent_aid",
    "perturb",
    "r2_sortability",
    "relative_confidence",
    "reliability_curve",
    "shd",
    "shd_over_thresholds",
    "sid",
    "sortability",
    "varsortability",
]
