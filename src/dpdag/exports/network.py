"""Graph objects and matrices of other packages, and the files that graph editors open."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..optional import optional
from .graph import Edge, LearnedGraph


def to_networkx(graph: LearnedGraph) -> nx.DiGraph[Any]:
    """A ``networkx.DiGraph`` whose edges carry ``score`` and, where known, ``probability``."""
    network: nx.DiGraph[Any] = nx.DiGraph()
    network.add_nodes_from(graph.names)
    for edge in graph.edges():
        known = {} if edge.probability is None else {"probability": edge.probability}
        network.add_edge(edge.source, edge.target, score=edge.score, **known)
    return network


def write_graphml(graph: LearnedGraph, path: str | Path) -> None:
    """Write GraphML, which Cytoscape, Gephi and yEd open; names become text."""
    nx.write_graphml(to_networkx(graph.in_text()), Path(path), named_key_ids=True)


def write_gml(graph: LearnedGraph, path: str | Path) -> None:
    """Write GML, which igraph and Gephi open; names become text."""
    nx.write_gml(to_networkx(graph.in_text()), Path(path))


def edge_table(graph: LearnedGraph, *, learned: bool = True) -> pd.DataFrame:
    """One row per edge, the most certain first: an :class:`Edge`, without what is not known."""
    table = pd.DataFrame(list(graph.edges(learned=learned)), columns=list(Edge._fields))
    return table if graph.probabilities is not None else table.iloc[:, :3]


def to_pgmpy(graph: LearnedGraph) -> Any:
    """A ``pgmpy.base.DAG`` over the same names, to which pgmpy can fit its own distributions."""
    dag = optional("pgmpy.base", needed_by="This export", install="pgmpy").DAG()
    dag.add_nodes_from(graph.names)
    dag.add_edges_from([(edge.source, edge.target) for edge in graph.edges()])
    return dag


def lingam_matrix(adjacency: Any) -> NDArray[np.float64]:  # (n, n) -> (n, n)
    r"""The graph as the package lingam writes it: ``B[i, j] = 1`` means j → i.

    .. math:: B = A^\top

    lingam's own entries are linear effects; here they are 1, for the functions are not linear.

    Example:
        >>> lingam_matrix([[0, 1], [0, 0]]).tolist()  # 0 → 1
        [[0.0, 0.0], [1.0, 0.0]]
    """
    return (np.asarray(adjacency) != 0).T.astype(np.float64)


def causallearn_matrix(adjacency: Any) -> NDArray[np.int64]:  # (n, n) -> (n, n)
    r"""The graph as causal-learn writes it: ``G[i, j] = -1`` and ``G[j, i] = 1`` mean i → j.

    .. math:: G = A^\top - A

    An entry is the mark at the row's node: -1 a tail, 1 an arrow head.

    Example:
        >>> causallearn_matrix([[0, 1], [0, 0]]).tolist()  # 0 → 1
        [[0, -1], [1, 0]]
    """
    edges = (np.asarray(adjacency) != 0).astype(np.int64)
    return edges.T - edges
