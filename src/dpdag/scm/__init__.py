"""What a graph with fitted mechanisms can answer: predictions, interventions, counterfactuals."""

from .additive import AdditiveMechanisms, fit_additive
from .gp import GPMechanisms, fit_gp
from .model import Mechanisms, StructuralModel

__all__ = [
    "AdditiveMechanisms",
    "GPMechanisms",
    "Mechanisms",
    "StructuralModel",
    "fit_additive",
    "fit_gp",
]
