"""Graph objects and the files that graph editors open."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd

from .graph import Edge, LearnedGraph

__all__ = ["edge_table", "imported", "to_networkx", "to_pgmpy", "write_gml", "write_graphml"]


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
    base = imported("pgmpy.base", "pgmpy")
    dag = base.DAG()
    dag.add_nodes_from(graph.names)
    dag.add_edges_from([(edge.source, edge.target) for edge in graph.edges()])
    return dag


def imported(module: str, package: str) -> Any:
    """An optional module, or an error that names the package to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"This export needs the package {package}: pip install {package} ({error})."
        ) from error
