"""dpdag: a differentiable probability distribution over DAGs and the learners built on it."""

from .distributions import DPDAG, DAGDistribution, Knowledge

__version__ = "0.1.0"

__all__ = ["DPDAG", "DAGDistribution", "Knowledge", "__version__"]
