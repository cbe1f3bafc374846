"""What training minimises."""

from .elbo import ELBO, Terms, edge_kl
from .likelihoods import LIKELIHOODS, Gaussian, Likelihood, SquaredError

__all__ = ["ELBO", "LIKELIHOODS", "Gaussian", "Likelihood", "SquaredError", "Terms", "edge_kl"]
