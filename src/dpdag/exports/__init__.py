"""A learned graph in the forms that other software reads."""

from .dowhy import to_dowhy
from .graph import LearnedGraph
from .network import (
    causallearn_matrix,
    edge_table,
    lingam_matrix,
    to_networkx,
    to_pgmpy,
    write_gml,
    write_graphml,
)
from .text import to_dagitty, to_dot

__all__ = [
    "LearnedGraph",
    "causallearn_matrix",
    "edge_table",
    "lingam_matrix",
    "to_dagitty",
    "to_dot",
    "to_dowhy",
    "to_networkx",
    "to_pgmpy",
    "write_gml",
    "write_graphml",
]
