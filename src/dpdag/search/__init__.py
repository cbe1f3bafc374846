"""Searches over graphs, with any evidence."""

from .greedy import SearchResult, greedy

__all__ = ["SearchResult", "greedy"]
