"""Before and after a learner: which edges are possible, and which of those found are real."""

from .parents import neighbours
from .pruning import edge_p_values, prune

__all__ = ["edge_p_values", "neighbours", "prune"]
