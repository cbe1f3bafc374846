"""Mechanisms: every node's value from its parents, all nodes and all replicas at once."""

from .base import MECHANISMS, Mechanism
from .mlp import MLP, FrozenMLP, Linear

__all__ = ["MECHANISMS", "MLP", "FrozenMLP", "Linear", "Mechanism"]
