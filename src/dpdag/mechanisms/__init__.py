"""Mechanisms: every node's value from its parents, all nodes and all replicas at once."""

from .base import MECHANISMS, Mechanism
from .mlp import MLP, Linear

__all__ = ["MECHANISMS", "MLP", "Linear", "Mechanism"]
