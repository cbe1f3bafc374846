"""dpdag report and list: what there is to see."""

from __future__ import annotations

import inspect
import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from .fit import OverwriteOption
from .output import new_file
from .streams import say


class Part(StrEnum):
    """What can be listed."""

    learners = "learners"
    datasets = "datasets"
    experiments = "experiments"


def report(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Folder written by 'dpdag fit' or 'dpdag reproduce'.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="File to write, or folder for experiments.",
            show_default="in DIR",
        ),
    ] = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Write the report of a run or of experiments again, without learning again.

    [bold]Examples[/]

      dpdag report run/

      dpdag report run/ --out for-the-group.html

      dpdag report results/structure
    """
    from ..records import RunRecord
    from ..reports import write_report, write_study

    if not run.is_dir():
        raise FileNotFoundError(
            f"{run} does not exist or is not a folder; run 'dpdag fit' or 'dpdag reproduce' first."
        )
    if (run / "experiments.json").is_file():
        typer.echo("\n".join(map(str, write_study(run, out))))
        return
    if not (run / "record.json").is_file():
        raise ValueError(
            f"{run} is no folder written by 'dpdag fit' or 'dpdag reproduce': it holds no "
            "record.json or experiments.json."
        )
    record = RunRecord.load(run / "record.json")
    target = run / "report.html" if out is None else out
    with new_file(target, overwrite=overwrite or out is None) as partial:
        write_report(record, partial)
    say(str(target))


def list_parts(
    part: Annotated[Part, typer.Argument(help="What to list.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Print names as JSON.")] = False,
) -> None:
    """List learners, data sets or experiments by name."""
    entries = {
        Part.learners: _learners,
        Part.datasets: _datasets,
        Part.experiments: _experiments,
    }[part]()
    if as_json:
        say(json.dumps(list(entries)))
        return
    grid = Grid(box=None, show_header=False, pad_edge=False, padding=(0, 2))
    for name, meaning in entries.items():
        grid.add_row(f"[bold]{escape(name)}[/]", escape(meaning))
    Console().print(grid)


def _learners() -> dict[str, str]:
    from ..learners import LEARNERS

    documents = {name: inspect.getdoc(kind) or "" for name, kind in LEARNERS.items()}
    return {name: text.partition("\n")[0] for name, text in documents.items()}


def _experiments() -> dict[str, str]:
    from ..experiments import EXPERIMENTS

    found = [EXPERIMENTS[name] for name in EXPERIMENTS]
    found.sort(key=lambda one: one.group != "paper")
    return {one.name: f"{one.summary} ({one.group})" for one in found}


def _datasets() -> dict[str, str]:
    from .. import datasets

    said = {
        "ER": "{n} nodes, {m} edges at random, functions from a Gaussian process",
        "SF": "{n} nodes, {m} edges with hubs, functions from a Gaussian process",
        "Sachs": "853 measurements of 11 proteins in cells, with the published network",
        "Sachs-interventional": "7466 such rows of nine conditions; read from DPDAG_DATA",
        "SynTReN": "simulated gene expression; read from DPDAG_DATA or downloaded",
    }
    found = {}
    for name in datasets.available():
        kind, *size = [name] if name in said else name.split("-")
        found[name] = said[kind].format(**dict(zip("nm", size)))
    return found
