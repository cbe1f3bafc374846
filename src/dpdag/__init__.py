"""dpdag: a differentiable probability distribution over DAGs and the learners built on it."""

from . import datasets, metrics, selection
from .distributions import DPDAG, DAGDistribution, Knowledge
from .learners import CAM, VIDPDAG, ExactPosterior, fit_many, grid_search, load

__version__ = "0.1.0"

__all__ = [
    "CAM",
    "DPDAG",
    "VIDPDAG",
    "DAGDistribution",
    "ExactPosterior",
    "Knowledge",
    "__version__",
    "datasets",
    "fit_many",
    "grid_search",
    "load",
    "metrics",
    "selection",
]
