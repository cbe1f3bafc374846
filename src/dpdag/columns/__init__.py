"""What a column is: its type, its units, its transformation, its ties."""

from .inference import column_types, infer_type
from .modes import upper_modes
from .monotone import MonotoneColumns
from .relations import EXACT, classes, exact_relations
from .table import Table, effective_values, order_by_values, table_of
from .transforms import TRANSFORMS, Transformed, standardise, transform
from .types import TYPES, ColumnType, TypedColumns, level_text
from .units import Units

__all__ = [
    "EXACT",
    "TRANSFORMS",
    "TYPES",
    "ColumnType",
    "MonotoneColumns",
    "Table",
    "Transformed",
    "TypedColumns",
    "Units",
    "classes",
    "column_types",
    "effective_values",
    "exact_relations",
    "infer_type",
    "level_text",
    "order_by_values",
    "standardise",
    "table_of",
    "transform",
    "upper_modes",
]
