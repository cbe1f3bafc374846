"""What the documentation claims, an experiment each."""

from . import accuracy, calibration, grid_search, robustness, skewed_columns

__all__ = ["accuracy", "calibration", "grid_search", "robustness", "skewed_columns"]
