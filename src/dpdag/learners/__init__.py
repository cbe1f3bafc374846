"""Scikit-learn estimators, one file per method."""

from pathlib import Path

from .base import DAGLearner, Solution
from .cam import CAM
from .constrained import NotConvergedWarning
from .dag_gnn import DAGGNN
from .dag_nf import DAGNF
from .dag_posterior import DAGPosterior
from .exact_posterior import ExactPosterior
from .floors import Correlation, SortRegress
from .gran_dag import GraNDAG
from .ground_truth import GroundTruthDAG
from .many import PAPER_GRID, Fit, fit_many, grid_search
from .masked_dag import MaskedDAG
from .model_learner import ModelLearner
from .notears import NOTEARS
from .storage import load_learner
from .vi_dp_dag import VIDPDAG

__all__ = [
    "CAM",
    "DAGGNN",
    "DAGNF",
    "LEARNERS",
    "NOTEARS",
    "PAPER_GRID",
    "VIDPDAG",
    "Correlation",
    "DAGLearner",
    "DAGPosterior",
    "ExactPosterior",
    "Fit",
    "GraNDAG",
    "GroundTruthDAG",
    "MaskedDAG",
    "ModelLearner",
    "NotConvergedWarning",
    "Solution",
    "SortRegress",
    "fit_many",
    "grid_search",
    "load",
]

LEARNERS: dict[str, type[DAGLearner]] = {
    kind.__name__: kind
    for kind in (
        DAGPosterior,
        VIDPDAG,
        ExactPosterior,
        CAM,
        GraNDAG,
        MaskedDAG,
        DAGGNN,
        DAGNF,
        NOTEARS,
        GroundTruthDAG,
        SortRegress,
        Correlation,
    )
}


def load(folder: str | Path) -> DAGLearner:
    """Read a fitted learner that ``save`` wrote; nothing in the files is executed."""
    learner: DAGLearner = load_learner(folder, LEARNERS)
    return learner
