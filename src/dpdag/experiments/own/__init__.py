"""What the documentation claims, an experiment each."""

from . import (
    accuracy,
    baselines,
    calibration,
    grid_search,
    hidden_causes,
    interventions,
    mixed_columns,
    real_tables,
    robustness,
    sachs_conditions,
    skewed_columns,
)

__all__ = [
    "accuracy",
    "baselines",
    "calibration",
    "grid_search",
    "hidden_causes",
    "interventions",
    "mixed_columns",
    "real_tables",
    "robustness",
    "sachs_conditions",
    "skewed_columns",
]
