"""Scikit-learn estimators, one file per method."""

from .base import DAGLearner, Solution
from .cam import CAM

__all__ = ["CAM", "DAGLearner", "Solution"]
