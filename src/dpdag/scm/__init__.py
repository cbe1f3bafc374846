"""What a graph with fitted mechanisms can answer: predictions, interventions, counterfactuals."""

from .additive import AdditiveMechanisms, LinearMechanisms, fit_additive, fit_linear
from .discrete import DiscreteColumn, DiscreteMechanisms, fit_discrete
from .divided import DividedMechanisms, fit_by_rows, fit_mixed_by_rows
from .gp import GPMechanisms, fit_gp
from .mixed import MixedMechanisms, fit_mixed
from .model import Mechanisms, StructuralModel
from .observed import Observed

__all__ = [
    "AdditiveMechanisms",
    "DiscreteColumn",
    "DiscreteMechanisms",
    "DividedMechanisms",
    "GPMechanisms",
    "LinearMechanisms",
    "Mechanisms",
    "MixedMechanisms",
    "Observed",
    "StructuralModel",
    "fit_additive",
    "fit_by_rows",
    "fit_discrete",
    "fit_gp",
    "fit_linear",
    "fit_mixed",
    "fit_mixed_by_rows",
]
