"""What training minimises."""

from .elbo import ELBO, Terms, edge_kl
from .fixed_graph import FixedGraph
from .likelihoods import LIKELIHOODS, Gaussian, Likelihood, SquaredError

__all__ = [
    "ELBO",
    "LIKELIHOODS",
    "FixedGraph",
    "Gaussian",
    "Likelihood",
    "SquaredError",
    "Terms",
    "edge_kl",
]
