"""What the documentation claims, an experiment each, listed by being imported."""

from . import (  # noqa: F401
    accuracy,
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
