"""What a column is: its units, its transformation, its ties."""

from .monotone import MonotoneColumns
from .table import Table, table_of
from .transforms import TRANSFORMS, Transformed, standardise, transform

__all__ = [
    "TRANSFORMS",
    "MonotoneColumns",
    "Table",
    "Transformed",
    "standardise",
    "table_of",
    "transform",
]
