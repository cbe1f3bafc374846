"""What the documentation claims, an experiment each."""

from . import accuracy, calibration, grid_search, mixed_columns, robustness, skewed_columns

__all__ = [
    "accuracy",
    "calibration",
    "grid_search",
    "mixed_columns",
    "robustness",
    "skewed_columns",
]
