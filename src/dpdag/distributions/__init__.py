"""Distributions over permutations, edges and DAGs."""
