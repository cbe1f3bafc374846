"""dpdag: a differentiable probability distribution over DAGs and the learners built on it."""

from . import datasets, metrics, selection
from .distributions import DPDAG, DAGDistribution, Knowledge
from .learners import CAM, ExactPosterior

__version__ = "0.1.0"

__all__ = [
    "CAM",
    "DPDAG",
    "DAGDistribution",
    "ExactPosterior",
    "Knowledge",
    "__version__",
    "datasets",
    "metrics",
    "selection",
]
