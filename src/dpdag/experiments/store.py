"""Finished cells on disk, one JSON line each, and what they are cells of."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ..files import write_whole
from .cell import Cell
from .experiment import Experiment
from .measures import Values
from .views import Figure, Metric, Table


@dataclass(frozen=True)
class Outcome:
    """How a cell ended.

    Attributes:
        id: The cell's identity.
        cell: The cell for people.
        method, dataset, index, seed: What it is made of, as tables show it.
        learner: Class and parameters.
        values: What was measured; empty after an error.
        seconds: What its fit took; its share where several trained as one batch.
        batch: How many trained as one batch.
        batch_seconds: What the batch took.
        cpu_seconds: Of the processor, for this fit.
        memory: Peak of the process in MiB.
        error: Why there are no values; "" where there are.
        warnings: What the learner warned of.
        versions: Of this package and of those it relies on.
        machine: On which it ran.
        created: When, in ISO 8601.
    """

    id: str
    cell: str
    method: str
    dataset: str
    index: int
    seed: int
    learner: Mapping[str, Any] = field(default_factory=dict)
    values: Values = field(default_factory=dict)
    seconds: float = 0.0
    batch: int = 1
    batch_seconds: float = 0.0
    cpu_seconds: float = 0.0
    memory: float = 0.0
    error: str = ""
    warnings: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: str = ""
    created: str = ""


class Store:
    """The outcomes in a folder, in ``cells.jsonl``, and what they are outcomes of.

    A line is appended by one write under a lock, so that several runs may share a folder; what a
    killed run left of a line is passed over. The last line of a cell counts. Lines of an earlier
    run may lie beside them, packed, in ``cells.jsonl.gz``.

    Arguments:
        folder: Created with the first outcome.

    Example:
        >>> import tempfile
        >>> store = Store(tempfile.mkdtemp())
        >>> store.append(Outcome("1f", "CAM × Sachs[0] × seed 0", "CAM", "Sachs", 0, 0))
        >>> store.outcomes()["1f"].method
        'CAM'
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.cells = self.folder / "cells.jsonl"
        self.packed = self.folder / "cells.jsonl.gz"
        self.layouts = self.folder / "experiments.json"

    def append(self, outcome: Outcome) -> None:
        """Add a line, whole or not at all."""
        line = json.dumps(asdict(outcome), ensure_ascii=False, allow_nan=False).encode() + b"\n"
        self.folder.mkdir(parents=True, exist_ok=True)
        file = os.open(self.cells, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            end = os.lseek(file, 0, os.SEEK_END)
            if end and os.pread(file, 1, end - 1) != b"\n":  # a run was killed within a line
                line = b"\n" + line
            os.write(file, line)
            os.fsync(file)
        finally:
            os.close(file)

    def outcomes(self) -> dict[str, Outcome]:
        """The last outcome of every cell, by identity."""
        found: dict[str, Outcome] = {}
        known = {one.name for one in fields(Outcome)}
        for line in self._lines():
            try:
                facts = json.loads(line)
                one = Outcome(**{name: facts[name] for name in known & facts.keys()})
            except (ValueError, TypeError, AttributeError):  # the torn line of a killed run
                continue
            found[one.id] = one
        return found

    def _lines(self) -> list[bytes]:
        packed = gzip.decompress(self.packed.read_bytes()) if self.packed.is_file() else b""
        own = self.cells.read_bytes() if self.cells.is_file() else b""
        return packed.splitlines() + own.splitlines()

    def read_layouts(self) -> dict[str, Any]:
        """What tables and figures to make, by experiment."""
        if not self.layouts.is_file():
            return {}
        found: dict[str, Any] = json.loads(self.layouts.read_text(encoding="utf-8"))
        return found

    @contextmanager
    def changed_layouts(self) -> Iterator[dict[str, Any]]:
        """:meth:`read_layouts` to be changed in place, by one run at a time, all or nothing."""
        self.folder.mkdir(parents=True, exist_ok=True)
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            layouts = self.read_layouts()
            yield layouts
            write_whole(self.layouts, json.dumps(layouts, ensure_ascii=False, indent=1))
        finally:
            os.close(folder)


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
    return [
        Layout(**{**facts, "views": tuple(_view(**view) for view in facts["views"])})
        for facts in _tuples(store.read_layouts()).values()
    ]


def _merged(before: Iterable[str], now: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*before, *now]))


def _tuples(part: Any) -> Any:
    """What was read from JSON, with tuples, which JSON does not have."""
    if isinstance(part, dict):
        return {name: _tuples(value) for name, value in part.items()}
    return tuple(map(_tuples, part)) if isinstance(part, list) else part


def _view(kind: str, **facts: Any) -> Table | Figure:
    if kind == "figure":
        return Figure(**facts)
    return Table(tuple(Metric(**metric) for metric in facts.pop("metrics")), **facts)
