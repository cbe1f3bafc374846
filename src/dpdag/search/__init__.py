"""Searches over graphs, with any evidence."""

from .bagging import bootstrap_weights
from .greedy import SearchResult, greedy

__all__ = ["SearchResult", "bootstrap_weights", "greedy"]
