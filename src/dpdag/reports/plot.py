"""Static pictures of a graph for papers and slides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..records import RunRecord
from ..scm.plot import draw_graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = (".png", ".svg", ".pdf")


def plot_graph(
    record: RunRecord,
    path: str | Path | None = None,
    *,
    threshold: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the graph of a run, and save it where a path is given.

    Arguments:
        record: The run.
        path: File ending in .png, .svg or .pdf.
        threshold: Draw all edges of at least this probability (or score) instead of the
            learned graph.
        ax: Where to draw; a new figure by default, closed once it is saved.
    """
    if path is not None and Path(path).suffix.lower() not in KINDS:
        raise ValueError(f"{path} must end in {', '.join(KINDS[:-1])} or {KINDS[-1]}.")
    axes = draw_graph(
        record.adjacency,
        record.names,
        order=record.causal_order,
        strengths=record.strengths,
        threshold=threshold,
        label=record.word,
        ax=ax,
    )
    if path is not None:
        figure = axes.get_figure(root=True)
        if figure is not None:
            figure.savefig(path, dpi=200)
        if ax is None:
            from matplotlib import pyplot

            pyplot.close(figure)
    return axes
