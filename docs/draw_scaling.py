"""Draw the picture of docs/scaling.md from the tables in benchmarks/.

python docs/draw_scaling.py
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

HERE = Path(__file__).parent
BENCHMARKS = HERE.parent / "benchmarks"
INK, SOFT, FAINT, WARM = "#22313f", "#2e86c1", "#aab7b8", "#d35400"
# Seconds that others publish, by columns; docs/scaling.md says where.
PUBLISHED = {
    "SDCD, a GPU": {50: 606, 100: 591, 500: 736, 1000: 1072},
    "NOTEARS": {100: 6498},
    "COSMO": {100: 228},
    "FGES, lines": {2000: 31},
    "CAM in R": {10: 14, 50: 21600},
}


def table(name: str, which: int = 0) -> list[dict[str, str]]:
    """One of the tables of a page, one dictionary per line."""
    lines = [one.strip() for one in (BENCHMARKS / name).read_text().splitlines()]
    tables = [list(own) for held, own in groupby(lines, lambda one: one.startswith("|")) if held]
    head, _, *rows = ([cell.strip() for cell in one.strip("|").split("|")] for one in tables[which])
    return [dict(zip(head, row)) for row in rows]


def number(cell: str) -> float:
    """The median of ``12.3 (11–14)``; what rounds to nothing is half a second at most."""
    return float(cell.split()[0]) or 0.5


def line(axes: Axes, x: list[float], y: list[float], label: str, colour: str) -> None:
    axes.plot(x, y, "o-", color=colour, label=label, markersize=5, linewidth=1.8)


def columns(axes: Axes) -> None:
    """Seconds against columns, beside what others publish."""
    known = [one for one in table("scaling.md") if one["rows"] == "1000"]
    for learner, label, colour in (
        ("`CAM(n_bootstrap=0)`", "CAM, one thread", INK),
        ('`DAGPosterior(mechanism=("linear", "additive"))`', "curves, one thread", SOFT),
        ("`DAGPosterior()`", "default, one thread", WARM),
    ):
        own = [one for one in known if one["learner"] == learner]
        x = [float(one["columns"]) for one in own]
        line(axes, x, [number(one["seconds"]) for one in own], label, colour)
    for which, label, colour in ((0, "default, H200", WARM), (2, "curves, H200", SOFT)):
        fits = table("gpu.md", which)
        x, y = zip(*((float(one["columns"]), number(one["seconds"])) for one in fits))
        axes.plot(x, y, "s--", color=colour, label=label, markersize=5, linewidth=1.8)
    for name, points in PUBLISHED.items():
        axes.plot(list(points), list(points.values()), "x:", color=FAINT, markersize=6)
        n, seconds = next(iter(points.items()))
        axes.annotate(
            name,
            (n, seconds),
            (-18 if n > 1000 else 4, 5),
            textcoords="offset points",
            fontsize=8,
            color="#7f8c8d",
        )
    axes.set(xlabel="columns, 1000 rows", ylabel="seconds", xscale="log", yscale="log")
    axes.legend(frameon=False, fontsize=8)


def rows(axes: Axes) -> None:
    """Seconds and memory against rows."""
    own = [
        one
        for one in table("scaling.md")
        if one["columns"] == "10" and one["learner"] == "`DAGPosterior()`"
    ]
    x = [float(one["rows"]) for one in own]
    line(axes, x, [number(one["seconds"]) for one in own], "seconds", WARM)
    line(axes, x, [number(one["GB"]) for one in own], "GB", SOFT)
    axes.set(xlabel="rows, 10 columns, default, one thread", xscale="log", yscale="log")
    axes.legend(frameon=False, fontsize=8)


def fits(axes: Axes) -> None:
    """Seconds of the paper's learner against fits that train as one batch."""
    own = table("training_cuda.md")
    x = [float(one["fits at once"]) for one in own]
    line(axes, x, [number(one["seconds"]) for one in own], "CUDA graphs", WARM)
    line(axes, x, [number(one["launched apart"]) for one in own], "launched apart", SOFT)
    axes.axhline(191, color=FAINT, linestyle=":")
    axes.annotate("paper, one fit", (1, 191), (2, -12), textcoords="offset points", fontsize=8)
    axes.set(xlabel="fits at once, ER-100-400, H200", xscale="log", yscale="log")
    axes.legend(frameon=False, fontsize=8)


def main() -> None:
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), width_ratios=[1.6, 1, 1])
    for one, draw in zip(axes, (columns, rows, fits)):
        draw(one)
        one.spines[["top", "right"]].set_visible(False)
        one.grid(alpha=0.2)
    figure.tight_layout()
    figure.savefig(HERE / "img" / "scaling.png", dpi=110)


if __name__ == "__main__":
    main()
