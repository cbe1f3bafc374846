"""Runs as plain data, and experiments: data sets × learners × metrics × seeds."""

from . import own, paper
from .comparison import Comparison, compare
from .describe import describe, time_notes
from .diagnostics import Diagnostics, diagnose, listed
from .experiment import EXPERIMENTS, Experiment, Method, Source
from .interventions import experiment_facts, experiment_notes
from .layout import Layout, read_layouts, record_layout
from .quality import cautions, explains, may_be_effects
from .record import Curve, Origin, RunRecord
from .store import Outcome, Store
from .views import Figure, Metric, Table

__all__ = [
    "EXPERIMENTS",
    "Comparison",
    "Curve",
    "Diagnostics",
    "Experiment",
    "Figure",
    "Layout",
    "Method",
    "Metric",
    "Origin",
    "Outcome",
    "RunRecord",
    "Source",
    "Store",
    "Table",
    "cautions",
    "compare",
    "describe",
    "diagnose",
    "experiment_facts",
    "experiment_notes",
    "explains",
    "listed",
    "may_be_effects",
    "own",
    "paper",
    "read_layouts",
    "record_layout",
    "time_notes",
]
