"""What one fit found, as plain data and in words."""

from .describe import describe, versions
from .diagnostics import Diagnostics, diagnose, listed
from .notes import experiment_facts
from .quality import MISFIT, Comparison, compare, explains
from .record import Curve, Origin, RunRecord

__all__ = [
    "MISFIT",
    "Comparison",
    "Curve",
    "Diagnostics",
    "Origin",
    "RunRecord",
    "compare",
    "describe",
    "diagnose",
    "experiment_facts",
    "explains",
    "listed",
    "versions",
]
