"""The tables and figures of the paper, an experiment each."""

from . import direct_learning, learning, processing_time, sampling_time

__all__ = ["direct_learning", "learning", "processing_time", "sampling_time"]
