"""What a column is: its units, its transformation, its ties."""

from .monotone import MonotoneColumns
from .table import Table, order_by_values, table_of
from .transforms import TRANSFORMS, Transformed, standardise, transform

__all__ = [
    "TRANSFORMS",
    "MonotoneColumns",
    "Table",
    "Transformed",
    "order_by_values",
    "standardise",
    "table_of",
    "transform",
]
