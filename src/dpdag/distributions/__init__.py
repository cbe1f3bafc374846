"""Distributions over permutations, edges and DAGs."""

from .dag import DAGDistribution, Noise, Seeds
from .edges import EdgeDistribution
from .knowledge import Constraints, Knowledge
from .knowledge_file import read_knowledge
from .mixture import DAGMixture
from .module import DPDAG
from .permutation import PERMUTATIONS, Estimate, PermutationDistribution
from .sinkhorn import GumbelSinkhorn  # registers its family, as the next one does
from .topk import GumbelTopK

__all__ = [
    "DPDAG",
    "PERMUTATIONS",
    "Constraints",
    "DAGDistribution",
    "DAGMixture",
    "EdgeDistribution",
    "Estimate",
    "GumbelSinkhorn",
    "GumbelTopK",
    "Knowledge",
    "Noise",
    "PermutationDistribution",
    "Seeds",
    "read_knowledge",
]
