"""The one training loop of all gradient learners, and its parts."""

from .adam import ADAM, RMSPROP, ReplicaAdam
from .lagrangian import AugmentedLagrangian
from .loop import Epoch, Outcome, Schedule, train
from .progress import ProgressBar, Spinner
from .rows import Data, split_rows

__all__ = [
    "ADAM",
    "RMSPROP",
    "AugmentedLagrangian",
    "Data",
    "Epoch",
    "Outcome",
    "ProgressBar",
    "ReplicaAdam",
    "Schedule",
    "Spinner",
    "split_rows",
    "train",
]
