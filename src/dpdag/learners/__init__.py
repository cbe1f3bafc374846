"""Scikit-learn estimators, one file per method."""

from pathlib import Path

from .base import DAGLearner, Solution
from .cam import CAM
from .exact_posterior import ExactPosterior
from .many import PAPER_GRID, Fit, fit_many, grid_search
from .storage import load_learner
from .vi_dp_dag import VIDPDAG

__all__ = [
    "CAM",
    "LEARNERS",
    "PAPER_GRID",
    "VIDPDAG",
    "DAGLearner",
    "ExactPosterior",
    "Fit",
    "Solution",
    "fit_many",
    "grid_search",
    "load",
]

LEARNERS: dict[str, type[DAGLearner]] = {
    kind.__name__: kind for kind in (CAM, ExactPosterior, VIDPDAG)
}


def load(folder: str | Path) -> DAGLearner:
    """Read a fitted learner that ``save`` wrote; nothing in the files is executed."""
    learner: DAGLearner = load_learner(folder, LEARNERS)
    return learner
