"""Posteriors over graphs: of all of them, around the best one, or coarsened."""

from .coarse import coarse_posterior
from .doubt import ColumnFacts, Doubt, doubts, fineness
from .enumerated import likely_graphs
from .exact import MAX_NODES, SubsetPosterior, exact_posterior
from .hidden import moving_together
from .local import LocalPosterior, fit_locally
from .quality import quality
from .reversals import direction_odds

__all__ = [
    "MAX_NODES",
    "ColumnFacts",
    "Doubt",
    "LocalPosterior",
    "SubsetPosterior",
    "coarse_posterior",
    "direction_odds",
    "doubts",
    "exact_posterior",
    "fineness",
    "fit_locally",
    "likely_graphs",
    "moving_together",
    "quality",
]
