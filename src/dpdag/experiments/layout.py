"""What the cells of a folder are cells of, kept beside them so that reports need nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .cell import Cell
from .experiment import Experiment
from .store import Store
from .views import Figure, Metric, Table


@dataclass(frozen=True)
class Layout:
    """An experiment as a report sees it.

    Attributes:
        name, summary: Of the experiment.
        methods, datasets: In the order of the tables.
        views: Tables and figures.
        cells: Identity of every planned cell, by its text.
        alone: Outcomes of batches are left out.
    """

    name: str
    summary: str
    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    views: tuple[Table | Figure, ...]
    cells: dict[str, str]
    alone: bool = False


def record_layout(store: Store, experiment: Experiment, cells: Sequence[Cell]) -> None:
    """Write down what is planned; cells planned before stay, but for those of the same text."""
    with store.changed_layouts() as layouts:
        before = layouts.get(experiment.name, {})
        layout = Layout(
            experiment.name,
            experiment.summary,
            _merged(before.get("methods", ()), (cell.method.name for cell in cells)),
            _merged(before.get("datasets", ()), (cell.source.name for cell in cells)),
            experiment.views,
            {**before.get("cells", {}), **{cell.text: cell.identity for cell in cells}},
            experiment.alone,
        )
        views = [{"kind": type(view).__name__.lower(), **asdict(view)} for view in layout.views]
        layouts[experiment.name] = {**asdict(layout), "views": views}


def read_layouts(store: Store) -> list[Layout]:
    """The experiments of a folder."""
    return [_revived(facts) for facts in store.read_layouts().values()]


def _merged(before: Iterable[str], now: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*before, *now]))


def _revived(facts: dict[str, Any]) -> Layout:
    views = tuple(_view(**view) for view in facts["views"])
    names = {name: tuple(facts[name]) for name in ("methods", "datasets")}
    return Layout(**{**facts, **names, "views": views})


def _view(kind: str, **facts: Any) -> Table | Figure:
    if kind == "figure":
        return Figure(**facts)
    metrics = tuple(
        Metric(**{**metric, "gap": tuple(metric["gap"])}) for metric in facts.pop("metrics")
    )
    names = {name: tuple(facts[name]) for name in ("paper", "unranked")}
    return Table(metrics, **{**facts, **names})
