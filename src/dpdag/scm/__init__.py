"""What a graph with fitted mechanisms can answer: predictions, interventions, counterfactuals."""

from .model import Mechanisms, StructuralModel

__all__ = ["Mechanisms", "StructuralModel"]
