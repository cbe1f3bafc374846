"""dpdag: a differentiable probability distribution over DAGs and the learners built on it."""

__version__ = "0.1.0"
