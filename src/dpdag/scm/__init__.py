"""What a graph with fitted mechanisms can answer: predictions, interventions, counterfactuals."""

from .additive import AdditiveMechanisms, fit_additive
from .model import Mechanisms, StructuralModel

__all__ = ["AdditiveMechanisms", "Mechanisms", "StructuralModel", "fit_additive"]
