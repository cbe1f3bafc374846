"""dpdag reproduce: experiments from data to tables, continued wherever they stopped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperCommand

if TYPE_CHECKING:
    from ..experiments import Source
    from ..experiments.runner import Engine

LISTS = ("--datasets", "--learners")


class EngineName(StrEnum):
    """Where cells run."""

    local = "local"
    ray = "ray"


class ListsCommand(TyperCommand):
    """A command whose options in ``LISTS`` take several values: ``--datasets A B``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option before each of its values, which is how click reads a list."""
        return super().parse_args(ctx, repeated(args))


def repeated(args: Sequence[str]) -> list[str]:
    """Words with every option in ``LISTS`` repeated before each value.

    Example:
        >>> repeated(["structure", "--datasets", "A", "B", "--jobs", "2"])
        ['structure', '--datasets', 'A', '--datasets', 'B', '--jobs', '2']
    """
    found: list[str] = []
    option, values = None, 0
    for word in args:
        if word.startswith("-"):
            option, values = (word if word in LISTS else None), 0
        elif option is not None:
            values += 1
            if values > 1:
                found.append(option)
        found.append(word)
    return found


def _names(incomplete: str) -> list[str]:
    from ..experiments import EXPERIMENTS

    return [name for name in ("paper", "own", *EXPERIMENTS) if name.startswith(incomplete)]


def reproduce(
    experiments: Annotated[
        list[str],
        typer.Argument(
            metavar="EXPERIMENT...",
            help="See 'dpdag list experiments'; 'paper' and 'own' are all of a kind.",
            autocompletion=_names,
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the results; continued.")],
    datasets: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME...", help="Only these, any other, or a file with --truth."),
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(help="Edges of the true graph of a file: source,target.")
    ] = None,
    learners: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME...", help="Only these, any other, NAME[key=value] or module:Class."
        ),
    ] = None,
    sets: Annotated[int | None, typer.Option(min=1, help="Data sets of every name.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Seeds for every data set.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes, of one thread each.")] = 1,
    timeout: Annotated[
        float | None, typer.Option(min=0, help="Seconds that a cell may take.")
    ] = None,
    batch: Annotated[
        int, typer.Option(min=1, help="Fits to train together, where a learner can.")
    ] = 10,
    device: Annotated[str, typer.Option(help="Of the learners: cpu or cuda.")] = "cpu",
    engine: Annotated[EngineName, typer.Option(help="Where cells run.")] = EngineName.local,
    address: Annotated[
        str | None, typer.Option(help="Of a Ray cluster; a local one is started without.")
    ] = None,
    cpus: Annotated[float, typer.Option(help="Of a cell on Ray.")] = 1.0,
    gpus: Annotated[float, typer.Option(help="Of a cell on Ray, also parts of one.")] = 0.0,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed cells again.")] = False,
) -> None:
    """Run experiments; the same command continues where an earlier one stopped.

    [bold]Examples[/]

      dpdag reproduce structure --datasets ER-10-10 Sachs --learners VIDPDAG CAM --sets 10 --jobs 2 --out results/structure

      dpdag reproduce paper --jobs 16 --out results/paper

      dpdag reproduce structure --datasets data.csv --truth edges.csv --learners mypackage.module:MyLearner --out results/own
    """  # noqa: E501
    from ..experiments import Store, record_layout
    from ..experiments.cell import plan
    from ..experiments.runner import batches, missing, run
    from ..learners.checks import resolve_device
    from ..reports import write_study
    from .choices import chosen_experiments, narrowed
    from .progress import Progress

    if out.is_file():
        raise ValueError(f"{out} is a file; --out must name a folder.")
    wanted = narrowed(
        chosen_experiments(experiments), learners=learners or [], data=datasets or [], truth=truth
    )
    if engine is EngineName.local:  # a cluster has other devices than this machine
        device = resolve_device(device)
    where = _engine(engine, jobs=jobs, timeout=timeout, address=address, cpus=cpus, gpus=gpus)
    store, work = Store(out), []
    planned: dict[str, Any] = {}
    for one in wanted:
        cells = plan(one, sets=sets, seeds=seeds, device=device)
        record_layout(store, one, cells)
        left = missing(cells, store, alone=one.alone, retry=retry)
        left = [cell for cell in left if cell.identity not in planned]
        planned |= {cell.identity: cell for cell in cells}
        work += batches(left, 1 if one.alone else batch)
    _check_files(cell.source for batch_ in work for cell in batch_)
    with Progress(planned, store) as progress:
        try:
            run(work, store, where, tell=progress.tell)
        except SystemExit as end:
            end.add_note(f"Stopped; the same command continues with what {store.cells} has.")
            raise
    failed = sum(bool(one.error) for key, one in store.outcomes().items() if key in planned)
    written = write_study(out)
    Console().print(f"[bold]Report[/]    {written[0]}", soft_wrap=True, highlight=False)
    if failed:
        typer.echo(
            f"dpdag: {failed} of {len(planned)} cells failed; {written[0]} says why, and --retry "
            "runs them again.",
            err=True,
        )
        raise typer.Exit(1)


def _check_files(sources: Iterable[Source]) -> None:
    """Refuse files that cannot be read now rather than in every cell."""
    for source in {one.name: one for one in sources if one.count is not None}.values():
        source(source.first)


def _engine(name: EngineName, *, jobs: int, timeout: float | None, **cluster: Any) -> Engine:
    from ..experiments.engines import Local, OnRay

    if name is EngineName.ray:
        return OnRay(jobs=jobs, timeout=timeout, **cluster)
    if cluster["address"] is not None:
        raise ValueError("--address goes with --engine ray.")
    return Local(jobs, timeout)
