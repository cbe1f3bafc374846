"""What training minimises."""

from .acyclicity import CONSTRAINTS, trace_exponential, trace_polynomial
from .base import Objective, streams
from .elbo import ELBO, Terms, edge_kl
from .fixed_graph import FixedGraph
from .likelihoods import LIKELIHOODS, Gaussian, Likelihood, SquaredError

__all__ = [
    "CONSTRAINTS",
    "ELBO",
    "LIKELIHOODS",
    "FixedGraph",
    "Gaussian",
    "Likelihood",
    "Objective",
    "SquaredError",
    "Terms",
    "edge_kl",
    "streams",
    "trace_exponential",
    "trace_polynomial",
]
