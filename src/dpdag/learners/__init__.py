"""Scikit-learn estimators, one file per method."""

from .base import DAGLearner, Solution
from .cam import CAM
from .exact_posterior import ExactPosterior

__all__ = ["CAM", "DAGLearner", "ExactPosterior", "Solution"]
