"""What the tables of these pages are made of: the outcomes of a store, by experiment."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dpdag.experiments import Metric, Outcome, Store, Table, read_layouts
from dpdag.reports import formats
from dpdag.reports.tables import Grid, entries, grids, of_layout

HERE = Path(__file__).parent


class Place(NamedTuple):
    """A mean in a table."""

    method: str
    data: str
    metric: str
    mean: float


class Results:
    """The outcomes of a store by experiment.

    Arguments:
        group: Its folder in ``results``.
    """

    def __init__(self, group: str) -> None:
        store = Store(HERE.parent / "results" / group)
        outcomes = store.outcomes()
        self.layouts = {layout.name: layout for layout in read_layouts(store)}
        self.outcomes = {
            name: [one for one in of_layout(layout, outcomes) if not one.error]
            for name, layout in self.layouts.items()
        }

    def grids(
        self, name: str, metrics: tuple[Metric, ...] = (), *, shared: bool = False
    ) -> list[Grid]:
        """The tables of an experiment, or those of some metrics; of sets that all models share."""
        layout, outcomes = self.layouts[name], self.outcomes[name]
        table = next(view for view in layout.views if isinstance(view, Table))
        if metrics:
            table = Table(metrics, "methods", table.paper, table.unranked)
        if shared:
            fits = Counter((one.dataset, one.index) for one in outcomes)
            most = len({one.method for one in outcomes})
            outcomes = [one for one in outcomes if fits[one.dataset, one.index] == most]
        return grids(entries(layout, table, outcomes), table.columns)

    def table(self, name: str, metrics: tuple[Metric, ...] = (), *, shared: bool = False) -> str:
        """The same in Markdown."""
        return "\n\n".join(map(formats.markdown, self.grids(name, metrics, shared=shared)))

    def of(self, name: str, method: str, data: str) -> list[Outcome]:
        """The outcomes of one method on one kind of data."""
        return [one for one in self.outcomes[name] if (one.method, one.dataset) == (method, data)]

    def values(self, name: str, metric: str, method: str, sets: Iterable[str]) -> dict:
        """Data set and number -> value."""
        return {
            (one.dataset, one.index): one.values[metric]
            for one in self.outcomes[name]
            if one.method == method and one.dataset in sets and metric in one.values
        }

    def mean(self, name: str, metric: str, method: str, sets: Iterable[str]) -> float:
        """Mean over data sets of the means over their fits."""
        return level(self.values(name, metric, method, sets))

    def places(self, name: str, *, shared: bool = False) -> Iterator[Place]:
        """Every mean in the tables of an experiment, as it is shown."""
        table = next(view for view in self.layouts[name].views if isinstance(view, Table))
        for grid in self.grids(name, shared=shared):
            for (label,), row in grid.rows:
                for head, entry in zip(grid.heads, row):
                    if entry.mean is None:
                        continue
                    mean = round(entry.mean, entry.digits)
                    if table.columns == "methods":
                        yield Place(head, label, grid.title, mean)
                    else:
                        yield Place(label, grid.title, head, mean)


def level(found: Mapping[tuple[str, int], float]) -> float:
    """Mean over data sets of the means over their fits."""
    groups = defaultdict(list)
    for (data, _), value in found.items():
        groups[data].append(value)
    return float(np.mean([np.mean(own) for own in groups.values()]))


def rows(heads: Iterable[str], body: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in body)])


def replace(page: Path, name: str, table: str) -> None:
    """Put a table between the comments that name it."""
    text = page.read_text(encoding="utf-8")
    head, rest = text.split(f"<!-- {name} -->\n")
    _, tail = rest.split("<!-- end -->", maxsplit=1)
    page.write_text(f"{head}<!-- {name} -->\n{table}\n<!-- end -->{tail}", encoding="utf-8")
