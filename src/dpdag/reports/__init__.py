"""Records of runs and stores of experiments as pages, tables and pictures for people."""

from .html import render_report, report, write_report
from .plot import plot_graph
from .study import write_study

__all__ = [
    "plot_graph",
    "render_report",
    "report",
    "write_report",
    "write_study",
]
