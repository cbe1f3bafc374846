"""Gaussian processes over all parents jointly."""

from .budget import TIME_BUDGET, affordable_rows, device_speed, search_seconds
from .grid import GridGPEvidence
from .inputs import Families
from .kernels import KERNELS
from .marginal import gp_weights
from .process import GPEvidence

__all__ = [
    "KERNELS",
    "TIME_BUDGET",
    "Families",
    "GPEvidence",
    "GridGPEvidence",
    "affordable_rows",
    "device_speed",
    "gp_weights",
    "search_seconds",
]
