"""What one fit found, as plain data and in words."""

from .comparison import Comparison, compare
from .describe import describe, versions
from .diagnostics import Diagnostics, diagnose, listed
from .notes import experiment_facts
from .quality import MISFIT, cautions, explains, graph_was_given, may_be_effects
from .record import Curve, Origin, RunRecord

__all__ = [
    "MISFIT",
    "Comparison",
    "Curve",
    "Diagnostics",
    "Origin",
    "RunRecord",
    "cautions",
    "compare",
    "describe",
    "diagnose",
    "experiment_facts",
    "explains",
    "graph_was_given",
    "listed",
    "may_be_effects",
    "versions",
]
