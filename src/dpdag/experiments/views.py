"""How the values of an experiment are to be shown, as plain data that is stored beside them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A measured value as a table shows it.

    Attributes:
        name: Under which it is stored.
        scale: Factor, such as 100 for percent.
        digits: Behind the point.
        better: "higher", "lower", or "" where no value is better than another.
        gap: Instead of a stored value, the mean distance of two stored lists, bin by bin: their
            names and that of the counts in the bins, which are pooled over all fits.
    """

    name: str
    scale: float = 1.0
    digits: int = 1
    better: str = "higher"
    gap: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """Means ± standard errors, the best in bold and the second underlined.

    Attributes:
        metrics: What is shown.
        columns: "metrics" makes a table of every data set, with a row for each method; "methods" a
            table of every metric, with a row for each data set; "all" a single table with a row
            for each data set and method.
        paper: Which of the paper's tables stand beside.
        unranked: Methods that cannot be best, such as one that knows the truth.
    """

    metrics: tuple[Metric, ...]
    columns: str = "metrics"
    paper: tuple[str, ...] = ()
    unranked: tuple[str, ...] = ()


# What most tables show.
AUCS = tuple(Metric(f"{kind}-AUC-{area}", 100) for kind in ("Un", "Dir") for area in ("PR", "ROC"))
DIRECTED = AUCS[2]
SHD = Metric("SHD", better="lower")
SECONDS = Metric("seconds", better="")


def all_in_one(*metrics: Metric) -> tuple[Table]:
    """A single table with a row for each data set and method."""
    return (Table(metrics, columns="all"),)


@dataclass(frozen=True)
class Figure:
    """Lines of one value over another, a line for each method.

    Attributes:
        x, y: Names of stored values, each a number or a list.
        x_label, y_label: Under the axes.
        panels: A panel for each data set instead of one for all.
        log: Which axes are logarithmic: "", "y" or "xy".
        top: Where the axis of y ends; lines may leave it. None shows all.
        diagonal: Draw the line x = y.
        pooled: Name of the stored counts by which y and x are averaged; "" where every fit counts
            alike, and their standard error is drawn.
    """

    x: str
    y: str
    x_label: str
    y_label: str
    panels: bool = True
    log: str = ""
    top: float | None = None
    diagonal: bool = False
    pooled: str = ""
