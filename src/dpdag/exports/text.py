"""Graphs as text: Graphviz and DAGitty."""

from __future__ import annotations

from .graph import Edge, LearnedGraph


def to_dot(graph: LearnedGraph) -> str:
    r"""Graphviz source; an edge is labelled and drawn as thick as it is certain.

    Example:
        >>> import numpy as np
        >>> edge = np.array([[0, 1], [0, 0]])
        >>> print(to_dot(LearnedGraph(["a", "b"], edge, 3.0 * edge, 0.75 * edge)))
        digraph {
          "a";
          "b";
          "a" -> "b" [label="0.75", penwidth="2.50", score="3", probability="0.75"];
        }
    """
    graph = graph.in_text()
    strongest = max((edge.score for edge in graph.edges()), default=1.0)
    lines = [f"  {_quoted(name)};" for name in graph.names]
    lines += [
        f"  {_quoted(edge.source)} -> {_quoted(edge.target)} [{_marks(edge, strongest)}];"
        for edge in graph.edges()
    ]
    return "\n".join(["digraph {", *lines, "}"])


def to_dagitty(graph: LearnedGraph) -> str:
    r"""A model to paste into dagitty.net or to read with the R package dagitty.

    Example:
        >>> import numpy as np
        >>> edge = np.array([[0, 1], [0, 0]])
        >>> print(to_dagitty(LearnedGraph(["a", "b"], edge, 3.0 * edge)))
        dag {
        "a"
        "b"
        "a" -> "b"
        }
    """
    graph = graph.in_text()
    lines = [_quoted(name) for name in graph.names]
    lines += [f"{_quoted(edge.source)} -> {_quoted(edge.target)}" for edge in graph.edges()]
    return "\n".join(["dag {", *lines, "}"])


def _marks(edge: Edge, strongest: float) -> str:
    share = edge.score / strongest if strongest > 0 else 1.0
    weight = share if edge.probability is None else edge.probability
    marks = {
        "label": f"{edge.score if edge.probability is None else edge.probability:.3g}",
        "penwidth": f"{1 + 2 * weight:.2f}",
        "score": f"{edge.score:.6g}",
    }
    if edge.probability is not None:
        marks["probability"] = f"{edge.probability:.6g}"
    return ", ".join(f'{key}="{value}"' for key, value in marks.items())


def _quoted(name: str) -> str:
    text = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{text}"'
