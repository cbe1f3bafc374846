"""Runs as plain data: what a fit found, how, and on what, to be reported at any later time."""

from .describe import describe
from .diagnostics import Diagnostics, diagnose, listed
from .record import Curve, Origin, RunRecord

__all__ = ["Curve", "Diagnostics", "Origin", "RunRecord", "describe", "diagnose", "listed"]
