"""Searches over graphs, with any evidence."""

from .bagging import consensus_order, mean_scores, subsamples
from .edge_changes import change_edge
from .hill_climb import ALL_MOVES, SearchResult, hill_climb
from .prior import EdgePrior

__all__ = [
    "ALL_MOVES",
    "EdgePrior",
    "SearchResult",
    "change_edge",
    "consensus_order",
    "hill_climb",
    "mean_scores",
    "subsamples",
]
