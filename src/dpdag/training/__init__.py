"""The one training loop of all gradient learners, and its parts."""

from .adam import ADAM, RMSPROP, ReplicaAdam
from .lagrangian import AugmentedLagrangian
from .loop import Epoch, Outcome, Schedule, train
from .progress import LONG, ProgressBar, Stages
from .rows import Data, split_rows

__all__ = [
    "ADAM",
    "LONG",
    "RMSPROP",
    "AugmentedLagrangian",
    "Data",
    "Epoch",
    "Outcome",
    "ProgressBar",
    "ReplicaAdam",
    "Schedule",
    "Stages",
    "split_rows",
    "train",
]
