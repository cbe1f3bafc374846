"""Experiments: data sets × learners × metrics."""

from . import own, paper
from .experiment import EXPERIMENTS, Experiment, Method, Source
from .store import Layout, Outcome, Store, read_layouts, record_layout
from .views import Figure, Metric, Table

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Figure",
    "Layout",
    "Method",
    "Metric",
    "Outcome",
    "Source",
    "Store",
    "Table",
    "own",
    "paper",
    "read_layouts",
    "record_layout",
]
