"""The one training loop of all gradient learners, and its parts."""

from .adam import ReplicaAdam
from .loop import Data, Epoch, Objective, Outcome, Schedule, train
from .progress import ProgressBar, Spinner

__all__ = [
    "Data",
    "Epoch",
    "Objective",
    "Outcome",
    "ProgressBar",
    "ReplicaAdam",
    "Schedule",
    "Spinner",
    "train",
]
