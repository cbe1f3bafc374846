"""A learned graph drawn with matplotlib, in layers, causes above effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..ops.layout import bends, layered

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_graph"]

ROW = 0.8  # distance of two rows, where that of two columns is one
INK, PAPER, RIM = "#1b2330", "#eef2f8", "#52617a"


def draw_graph(
    adjacency: NDArray[Any],  # (n, n)
    names: Sequence[str],
    *,
    order: Sequence[int] | NDArray[Any],
    strengths: NDArray[Any] | None = None,  # (n, n)
    threshold: float | None = None,
    label: str = "probability",
    ax: Axes | None = None,
) -> Axes:
    """Draw a DAG; wider and darker edges are stronger, dashed ones are not in it.

    Arguments:
        adjacency: The DAG, which decides where nodes stand.
        names: Of the nodes; long ones are broken into lines.
        order: Nodes, causes first.
        strengths: Probabilities or scores of all edges.
        threshold: Draw all edges of at least this strength instead of those of the DAG.
        label: What the strengths are, for the colour bar.
        ax: Where to draw; a new figure by default.

    Example:
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> axes = draw_graph(np.array([[0, 1], [0, 0]]), ["rain", "wet"], order=[0, 1])
        >>> [text.get_text() for text in axes.texts]
        ['rain', 'wet']
        >>> matplotlib.pyplot.close(axes.figure)
    """
    pyplot = _pyplot()
    from matplotlib.patches import FancyArrowPatch

    edges = np.asarray(adjacency) != 0
    weight = edges.astype(np.float64) if strengths is None else np.asarray(strengths)
    shown = edges if threshold is None else (weight >= threshold) & ~np.eye(len(edges), dtype=bool)
    grid = layered(edges, order)
    points = grid * [1, -ROW]
    if ax is None:
        size = np.ptp(points, axis=0) * 1.25 + [1.6, 1.2]
        _, ax = pyplot.subplots(figsize=np.clip(size, 2.5, 24), layout="constrained")
    pairs = sorted(((int(i), int(j)) for i, j in np.argwhere(shown)), key=lambda e: weight[e])
    scale = _shades(pyplot, weight, label)
    font = float(np.clip(15 - 0.9 * np.ptp(grid[:, 0]), 5, 10))
    boxes = [
        ax.text(x, y, _broken(name), ha="center", va="center", color=INK, zorder=3, size=font,
                parse_math=False,
                bbox={"boxstyle": "round,pad=0.35,rounding_size=0.9", "fc": PAPER, "ec": RIM})
        for (x, y), name in zip(points.tolist(), names, strict=True)
    ]  # fmt: skip
    for (i, j), bow in zip(pairs, bends(points, pairs, radius=(0.4, 0.2)), strict=True):
        share = float(scale.norm(weight[i, j])) if strengths is not None else 0.7
        ax.add_patch(
            FancyArrowPatch(
                posA=tuple(points[i]),
                posB=tuple(points[j]),
                arrowstyle="-|>",
                mutation_scale=9 + 4 * share,
                linewidth=0.8 + 1.8 * share,
                color=RIM if strengths is None else scale.to_rgba(weight[i, j]),
                linestyle="-" if edges[i, j] else (0, (4, 3)),
                # the control point is off the middle by rad of the length, to the other side
                connectionstyle=f"arc3,rad={-2 * bow:.3f}",
                shrinkA=0,
                shrinkB=1,
                patchA=boxes[i].get_bbox_patch(),
                patchB=boxes[j].get_bbox_patch(),
                zorder=2,
            )
        )
    _frame(ax, points)
    if strengths is not None and pairs:
        ax.figure.colorbar(scale, ax=ax, label=label, shrink=0.6, aspect=25, pad=0.02)
    return ax


def _shades(pyplot: Any, weight: NDArray[Any], label: str) -> Any:
    """Viridis from its bright end to its dark end; scores on a logarithmic scale."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize, SymLogNorm

    viridis = pyplot.get_cmap("viridis")
    dark = LinearSegmentedColormap.from_list("dark", viridis(np.linspace(0.78, 0.0, 64)))
    top = float(weight.max()) or 1.0
    norm = Normalize(0, 1) if label == "probability" else SymLogNorm(1, vmin=0, vmax=top)
    return ScalarMappable(norm, dark)


def _frame(ax: Axes, points: NDArray[Any]) -> None:
    low, high = points.min(0), points.max(0)
    ax.set_xlim(low[0] - 0.7, high[0] + 0.7)
    ax.set_ylim(low[1] - 0.45, high[1] + 0.45)
    ax.axis("off")


def _broken(name: str, width: int = 14) -> str:
    """The name in at most two lines, cut where it is longer still."""
    flat = " ".join(str(name).split())
    if len(flat) <= width:
        return flat
    space = flat.rfind(" ", 0, width + 1)
    first, rest = (flat[:space], flat[space + 1 :]) if space > 4 else (flat[:width], flat[width:])
    return f"{first}\n{rest if len(rest) <= width else rest[: width - 1] + '…'}"


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("Drawing needs matplotlib: pip install 'dpdag[plot]'.") from None
    return pyplot
