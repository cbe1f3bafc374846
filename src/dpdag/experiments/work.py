"""The work of a process: load, fit, measure."""

from __future__ import annotations

import os
import platform
import resource
import sys
import time
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from ..learners.many import fit_alone, fit_together
from ..records import versions
from .cell import Cell
from .measures import Array, Fitted, Values, plain
from .store import Outcome

# A learner, rows (rows, n) to learn from, and where values of these were set.
Task = tuple[Any, Array, Any]


def use_one_thread() -> None:
    """Keep this process to one thread; beside others, more only wait for each other."""
    threadpool_limits(1)
    torch.set_num_threads(1)


def run_batch(cells: Sequence[Cell]) -> list[Outcome]:
    """Fit cells, several as one batch, and measure each; the error of a single cell is recorded.

    Only ``fit`` is timed.
    """
    try:
        return _run(cells)
    except Exception as error:
        if len(cells) > 1:
            raise  # by themselves, the others may succeed
        return [failure(cells[0], error)]


def failure(cell: Cell, error: BaseException) -> Outcome:
    """The outcome of a cell that has none."""
    said = " ".join(str(error).split())
    return _outcome(cell, error=f"{type(error).__name__}: {said}" if said else type(error).__name__)


def _run(cells: Sequence[Cell]) -> list[Outcome]:
    asked, tasks = zip(*map(_prepare, cells))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        wall, cpu = time.perf_counter(), time.process_time()
        if len(tasks) > 1:
            fit_together(tasks)
        else:
            fit_alone(*tasks[0])
        if cells[0].device.startswith("cuda"):
            torch.cuda.synchronize()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        measured = list(map(_measured, cells, asked))
    said = tuple(dict.fromkeys(" ".join(str(one.message).split()) for one in heard))
    return [
        _outcome(
            cell,
            values={"seconds": wall / len(tasks), **values},
            seconds=wall / len(tasks),
            batch=len(tasks),
            batch_seconds=wall,
            cpu_seconds=cpu / len(tasks),
            warnings=said,
        )
        for cell, values in zip(cells, measured)
    ]


def _prepare(cell: Cell) -> tuple[Fitted, Task]:
    """What is to be measured, and the fit that this takes."""
    data = cell.source(cell.index)
    known = {} if data.types is None else {"types": dict(enumerate(data.types.values()))}
    learner = cell.method.build(
        random_state=cell.seed, device=cell.device, verbose=False, adjacency=data.adjacency, **known
    )
    told = data.mask if getattr(learner, "takes_interventions", False) else None
    if not cell.held_out:
        return Fitted(learner, data), (learner, data.X, told)
    split, rows = data.split(seed=cell.index), data.split_rows(seed=cell.index)
    if told is not None:
        told = told[np.concatenate([rows.train, rows.validation])]
    learned = np.concatenate([split.train, split.validation])
    return Fitted(learner, data, split.test), (learner, learned, told)


def _measured(cell: Cell, fitted: Fitted) -> Values:
    values: dict[str, Any] = {}
    for measure in cell.measures:
        values |= measure(fitted)
    return plain(values)


def _outcome(cell: Cell, **facts: Any) -> Outcome:
    return Outcome(
        cell.identity,
        cell.text,
        cell.method.name,
        cell.source.name,
        cell.index,
        cell.seed,
        cell.learner,
        memory=_peak_memory(),
        versions=versions(),
        machine=_machine(cell.device),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        **facts,
    )


def _peak_memory() -> float:
    """Of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)


def _machine(device: str) -> str:
    processor = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return (
        f"{processor}, {torch.cuda.get_device_name()}" if device.startswith("cuda") else processor
    )
