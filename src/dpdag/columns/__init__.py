"""What a column is: its type, its units, its transformation, its ties."""

from .monotone import MonotoneColumns
from .table import Table, order_by_values, table_of
from .transforms import TRANSFORMS, Transformed, standardise, transform
from .types import TYPES, ColumnType, TypedColumns, column_types, infer_type

__all__ = [
    "TRANSFORMS",
    "TYPES",
    "ColumnType",
    "MonotoneColumns",
    "Table",
    "Transformed",
    "TypedColumns",
    "column_types",
    "infer_type",
    "order_by_values",
    "standardise",
    "table_of",
    "transform",
]
