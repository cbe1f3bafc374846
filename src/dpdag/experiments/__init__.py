"""Runs as plain data: what a fit found, how, and on what, to be reported at any later time."""

from .comparison import Comparison, compare
from .describe import describe
from .diagnostics import Diagnostics, diagnose, listed
from .record import Curve, Origin, RunRecord

__all__ = [
    "Comparison",
    "Curve",
    "Diagnostics",
    "Origin",
    "RunRecord",
    "compare",
    "describe",
    "diagnose",
    "listed",
]
