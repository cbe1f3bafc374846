"""Draw the pictures of docs/datasets.md into docs/img.

python docs/draw_datasets.py
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from matplotlib.axes import Axes

from dpdag.datasets import MECHANISMS, Dataset, load

IMAGES = Path(__file__).parent / "img"
INK, HUB, LINE = "#22313f", "#d35400", "#7f8c8d"


# Signals run from the top down; no edge passes through a protein that it does not touch.
SACHS_LAYOUT = {
    "Plcg": (0.0, 3.0),
    "PIP3": (-0.6, 2.0),
    "PIP2": (0.3, 1.0),
    "PKC": (2.9, 3.0),
    "PKA": (2.9, 2.0),
    "Raf": (1.2, 2.0),
    "P38": (4.2, 1.6),
    "Jnk": (4.9, 2.3),
    "Mek": (1.9, 1.0),
    "Erk": (2.6, 0.2),
    "Akt": (3.8, 0.0),
}


def layered(graph: nx.DiGraph, *, tries: int = 3000) -> dict[str, np.ndarray]:
    """Causes above effects; of many random arrangements the one with the clearest edges."""
    rng = np.random.default_rng(0)
    levels = list(nx.topological_generations(graph))

    def arrangement() -> dict[str, np.ndarray]:
        position = {}
        for level, nodes in enumerate(levels):
            places = np.linspace(-1.6, 1.6, 2 * len(nodes) + 1)[1::2]
            for node, x in zip(rng.permutation(nodes), places):
                position[node] = np.array([x, -level]) + rng.uniform(-0.22, 0.22, 2)
        return position

    return max((arrangement() for _ in range(tries)), key=lambda p: clearness(graph, p))


def clearness(graph: nx.DiGraph, position: Mapping[str, np.ndarray]) -> float:
    """Large when no edge comes close to a node that it does not touch, and edges are short."""
    nodes = list(graph)
    points = np.stack([position[node] for node in nodes])
    closest, length = np.inf, 0.0
    for source, target in graph.edges:
        a, b = position[source], position[target]
        along = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
        distance = np.linalg.norm(points - a - along[:, None] * (b - a), axis=1)
        others = [node not in (source, target) for node in nodes]
        closest = min(closest, distance[others].min())
        length += np.linalg.norm(b - a)
    return min(closest, 0.14) - 0.004 * length


def draw(data: Dataset, position: Mapping[str, Any], file: str, *, title: str) -> None:
    """One graph; a node's area grows with its parents, most parents in orange."""
    graph = data.graph
    parents = np.array([graph.in_degree(node) for node in graph])
    figure, axes = plt.subplots(figsize=(6.2, 4.4), layout="constrained")
    short = {node: node.removeprefix("x") for node in graph}
    size = 330 + 70 * parents
    nx.draw_networkx_edges(
        graph,
        position,
        ax=axes,
        edge_color=LINE,
        width=1.1,
        arrowsize=11,
        node_size=size,
        connectionstyle="arc3,rad=0.07",
    )
    colours = [HUB if k == parents.max() else INK for k in parents]
    nx.draw_networkx_nodes(graph, position, ax=axes, node_color=colours, node_size=size)
    nx.draw_networkx_labels(
        graph, position, short, ax=axes, font_size=7.5, font_color="white", font_weight="bold"
    )
    axes.set_title(title, fontsize=10, color=INK)
    axes.axis("off")
    figure.savefig(IMAGES / file, dpi=110)
    plt.close(figure)


def draw_mechanisms(file: str) -> None:
    """Three random functions of one parent from every family."""
    families = [name for name in MECHANISMS if name != "additive-gp"]  # of one parent: gp
    figure, all_axes = plt.subplots(
        1, len(families), figsize=(9, 2.3), sharex=True, layout="constrained"
    )
    x = np.linspace(-3, 3, 300)[:, None]
    axes: Axes
    for axes, name in zip(all_axes, families):
        for seed in range(3):
            values = MECHANISMS[name]().draw(x, np.random.default_rng(seed))
            axes.plot(x[:, 0], values, linewidth=1.4)
        axes.set_title(name, fontsize=9, color=INK)
        axes.tick_params(labelsize=7)
    figure.savefig(IMAGES / file, dpi=110)
    plt.close(figure)


def main() -> None:
    """Draw all pictures."""
    IMAGES.mkdir(exist_ok=True)
    sachs, er, sf = load("Sachs"), load("ER-20-20"), load("SF-20-20")
    draw(er, layered(er.graph), "er-20-20.png", title="ER-20-20, data set 0")
    draw(
        sf,
        nx.kamada_kawai_layout(sf.graph.to_undirected()),
        "sf-20-20.png",
        title="SF-20-20, data set 0: edges point into the hubs",
    )
    draw(sachs, SACHS_LAYOUT, "sachs.png", title="Sachs: 17-edge consensus graph")
    draw_mechanisms("mechanisms.png")


if __name__ == "__main__":
    main()
