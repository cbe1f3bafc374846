"""Figures of experiments, from stored outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..experiments import Figure, Layout, Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
WIDTH, HEIGHT, COLUMNS = 3.2, 2.7, 4  # of a panel in inches, and panels in a row


def draw_figure(
    layout: Layout, figure: Figure, outcomes: Sequence[Outcome], stem: Path
) -> list[Path]:
    """Write a figure as PNG and SVG; nothing where no outcome has its values."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Canvas

    used = [one for one in outcomes if figure.x in one.values and figure.y in one.values]
    if not used:
        return []
    sets = [name for name in layout.datasets if any(one.dataset == name for one in used)]
    panels = sets if figure.panels else [""]
    across = min(len(panels), COLUMNS)
    down = -(-len(panels) // across)
    size = (max(WIDTH * across, 4.5), max(HEIGHT * down, 3.3))
    canvas = Canvas(figsize=size, layout="constrained")
    grid = canvas.subplots(down, across, squeeze=False)
    for axes, panel in zip(grid.flat, panels):
        own = [one for one in used if not panel or one.dataset == panel]
        _panel(axes, layout, figure, own)
        axes.set_title(panel)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    lines = {line.get_label(): line for axes in grid.flat for line in axes.get_lines()}
    known = [name for name in layout.methods if name in lines]
    canvas.legend(
        [lines[name] for name in known],
        known,
        loc="outside upper center",
        ncols=min(len(known), 2 * across),
        frameon=False,
    )
    canvas.supxlabel(figure.x_label, fontsize=9)
    canvas.supylabel(figure.y_label, fontsize=9)
    stem.parent.mkdir(parents=True, exist_ok=True)
    files = [stem.with_suffix(kind) for kind in (".png", ".svg")]
    canvas.savefig(files[0], dpi=150)
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": layout.name}):
        canvas.savefig(files[1], metadata={"Date": None})
    return files


def _panel(axes: Axes, layout: Layout, figure: Figure, outcomes: Sequence[Outcome]) -> None:
    """A line with its error for every method."""
    from matplotlib.ticker import LogLocator, NullFormatter

    if figure.diagonal:
        axes.axline((0, 0), slope=1, color="0.8", zorder=0)
    for k, method in enumerate(layout.methods):
        own = [one for one in outcomes if one.method == method]
        if not own:
            continue
        x, mean, error = _pooled(figure, own) if figure.pooled else _averaged(figure, own)
        color = f"C{k}"
        axes.plot(x, mean, "o-", ms=2.5, lw=1.2, color=color, label=method)
        inside = mean + error <= (np.inf if figure.top is None else figure.top)
        axes.fill_between(x, mean - error, mean + error, where=inside, color=color, alpha=0.2, lw=0)
    for name in figure.log:
        axis = axes.xaxis if name == "x" else axes.yaxis
        axes.set(**{f"{name}scale": "log"})
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())
    if figure.top is not None:
        axes.set_ylim(0, figure.top)
    axes.grid(alpha=0.3)


def _averaged(figure: Figure, outcomes: Sequence[Outcome]) -> tuple[Array, Array, Array]:
    """Mean and standard error of y at each x."""
    x, y = (
        np.concatenate([np.ravel(one.values[name]).astype(np.float64) for one in outcomes])
        for name in (figure.x, figure.y)
    )
    at, inverse = np.unique(x.round(6), return_inverse=True)
    points = [y[inverse == k] for k in range(len(at))]
    errors = [own.std(ddof=1) / len(own) ** 0.5 if len(own) > 1 else 0.0 for own in points]
    return at, np.array([own.mean() for own in points]), np.array(errors)


def _pooled(figure: Figure, outcomes: Sequence[Outcome]) -> tuple[Array, Array, Array]:
    """x and y of every bin, averaged by counts, with the binomial standard error of y."""
    counts, x, y = (
        np.stack([np.ravel(one.values[name]) for one in outcomes])
        for name in (figure.pooled, figure.x, figure.y)
    )
    total = counts.sum(0)
    used = total >= 5
    x, y = ((counts * part).sum(0)[used] / total[used] for part in (x, y))
    return x, y, np.sqrt(y * (1 - y) / total[used])
