"""Records of runs as pages and pictures for people."""

from .html import render_report, report, write_report
from .plot import plot_graph

__all__ = ["plot_graph", "render_report", "report", "write_report"]
