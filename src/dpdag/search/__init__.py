"""Searches over graphs, with any evidence."""

from .bagging import consensus_order, mean_scores, subsamples
from .greedy import SearchResult, greedy

__all__ = ["SearchResult", "consensus_order", "greedy", "mean_scores", "subsamples"]
