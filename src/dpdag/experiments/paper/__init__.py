"""The tables and figures of the paper, an experiment each."""

from . import (
    direct_learning,
    mechanisms,
    perturbations,
    processing_time,
    sampling_time,
    structure,
    structure_processed,
    thresholds,
    training_time,
)

__all__ = [
    "direct_learning",
    "mechanisms",
    "perturbations",
    "processing_time",
    "sampling_time",
    "structure",
    "structure_processed",
    "thresholds",
    "training_time",
]
