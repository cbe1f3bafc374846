"""The tables and figures of the paper, an experiment each, listed by being imported."""

from . import direct_learning, learning, processing_time, sampling_time  # noqa: F401
