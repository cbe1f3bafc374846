"""The one training loop of all gradient learners, and its parts."""

from .adam import ReplicaAdam

__all__ = ["ReplicaAdam"]
