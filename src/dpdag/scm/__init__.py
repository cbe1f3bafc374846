"""What a graph with fitted mechanisms can answer: predictions, interventions, counterfactuals."""

from .additive import AdditiveMechanisms, fit_additive
from .categories import Categories
from .gp import GPMechanisms, fit_gp
from .linear import LinearMechanisms, fit_linear
from .location_scale import LocationScaleMechanisms, fit_location_scale
from .model import Mechanisms, StructuralModel
from .observed import Observed
from .units import MonotoneColumns

__all__ = [
    "AdditiveMechanisms",
    "Categories",
    "GPMechanisms",
    "LinearMechanisms",
    "LocationScaleMechanisms",
    "Mechanisms",
    "MonotoneColumns",
    "Observed",
    "StructuralModel",
    "fit_additive",
    "fit_gp",
    "fit_linear",
    "fit_location_scale",
]
