"""How far an estimate is from the truth, and how far the data itself gives the truth away."""

from .ranking import edge_auc
from .structural import shd

__all__ = ["edge_auc", "shd"]
