"""A learned graph drawn with matplotlib, in layers, causes above effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..ops.layout import bends, layered
from ..optional import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_BENT = 500  # in denser pictures no edge can avoid all nodes
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
    pyplot = optional("matplotlib.pyplot", needed_by="Drawing", install="dpdag[plot]")
    edges = np.asarray(adjacency) != 0
    weight = edges.astype(np.float64) if strengths is None else np.asarray(strengths)
    shown = edges if threshold is None else (weight >= threshold) & ~np.eye(len(edges), dtype=bool)
    pairs = sorted(((int(i), int(j)) for i, j in np.argwhere(shown)), key=lambda e: weight[e])
    labels = [_broken(name) for name in names]
    points = layered(edges, order) * [1, -1]
    slots, rows = np.ptp(points, axis=0).tolist()
    font = float(np.clip(13 - 0.5 * slots, 5, 10))
    # inches of a column and of a row, so that neighbours do not touch
    wide = 0.0085 * font * max(len(line) for text in labels for line in text.split("\n"))
    column, row = wide + 0.55, 0.09 * font
    if ax is None:
        size = (max(column * (slots + 1) + 0.9, 2.5), max(row * (rows + 1), 1.8))
        _, ax = pyplot.subplots(figsize=size, layout="constrained")
    boxes = _boxes(ax, points, labels, font)
    scale = _shades(pyplot, weight, label)
    bows = [0.0] * len(pairs)
    if len(pairs) <= MAX_BENT:
        radius = (wide / 2 + 0.15, 0.02 * font)
        bent = bends(points * [column, row], pairs, radius=radius, skews=(0.0,))
        bows = [bow for bow, _ in bent]
    for edge, bow in zip(pairs, bows, strict=True):
        share = 0.7 if strengths is None else float(scale.norm(weight[edge]))
        colour = RIM if strengths is None else scale.to_rgba(weight[edge])
        _arrow(ax, points, edge, boxes, bow=bow, share=share, color=colour, dashed=not edges[edge])
    low, high = points.min(0), points.max(0)
    ax.set(xlim=(low[0] - 0.6, high[0] + 0.6), ylim=(low[1] - 0.4, high[1] + 0.4))
    ax.axis("off")
    if strengths is not None and pairs:
        ax.figure.colorbar(scale, ax=ax, label=label, shrink=0.6, aspect=25, pad=0.02)
    return ax


def _boxes(ax: Axes, points: NDArray[Any], labels: list[str], font: float) -> list[Any]:
    """The names in round boxes."""
    look = {"boxstyle": "round,pad=0.35,rounding_size=0.9", "fc": PAPER, "ec": RIM}
    centre: dict[str, Any] = {"ha": "center", "va": "center", "parse_math": False, "bbox": look}
    return [
        ax.text(x, y, text, color=INK, size=font, zorder=3, **centre).get_bbox_patch()
        for (x, y), text in zip(points.tolist(), labels, strict=True)
    ]


def _arrow(
    ax: Axes,
    points: NDArray[Any],
    edge: tuple[int, int],
    boxes: list[Any],
    *,
    bow: float,
    share: float,
    color: Any,
    dashed: bool,
) -> None:
    from matplotlib.patches import FancyArrowPatch

    i, j = edge
    ax.add_patch(
        FancyArrowPatch(
            posA=tuple(points[i]),
            posB=tuple(points[j]),
            patchA=boxes[i],
            patchB=boxes[j],
            shrinkA=0,
            shrinkB=1,
            # the control point is off the middle by rad of the length, to the other side
            connectionstyle=f"arc3,rad={-2 * bow:.3f}",
            arrowstyle="-|>",
            mutation_scale=9 + 4 * share,
            linewidth=0.8 + 1.8 * share,
            linestyle=(0, (4, 3)) if dashed else "-",
            color=color,
            zorder=2,
        )
    )


def _shades(pyplot: Any, weight: NDArray[Any], label: str) -> Any:
    """Viridis from its bright end to its dark end; scores on a logarithmic scale."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize, SymLogNorm

    viridis = pyplot.get_cmap("viridis")
    dark = LinearSegmentedColormap.from_list("dark", viridis(np.linspace(0.78, 0.0, 64)))
    top = float(weight.max()) or 1.0
    norm = Normalize(0, 1) if label == "probability" else SymLogNorm(1, vmin=0, vmax=top)
    return ScalarMappable(norm, dark)


def _broken(name: str, width: int = 14) -> str:
    """The name in at most two lines, cut where it is longer still."""
    flat = " ".join(str(name).split())
    if len(flat) <= width:
        return flat
    space = flat.rfind(" ", 0, width + 1)
    first, rest = (flat[:space], flat[space + 1 :]) if space > 4 else (flat[:width], flat[width:])
    return f"{first}\n{rest if len(rest) <= width else rest[: width - 1] + '…'}"
