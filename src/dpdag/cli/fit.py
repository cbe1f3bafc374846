"""dpdag fit: from a table to a graph, a model and a report."""

from __future__ import annotations

import json
import time
import warnings
from contextlib import nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from .output import new_folder
from .streams import say

if TYPE_CHECKING:
    from ..learners import DAGLearner
    from ..records import RunRecord
    from .table import Table

MANY_COLUMNS = 100


class Missing(StrEnum):
    """What to do with missing values."""

    error = "error"
    impute = "impute"
    drop = "drop"


def _learners(incomplete: str) -> list[str]:
    from ..learners import LEARNERS

    return [name for name in LEARNERS if name.lower().startswith(incomplete.lower())]


def _data(incomplete: str) -> list[str]:
    from .. import datasets

    names = [name for name in datasets.available() if name.startswith(incomplete)]
    return names + sorted(map(str, Path().glob(f"{incomplete}*")))


DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Table (.csv, .tsv, .parquet, .npy), or a data set such as Sachs.",
        autocompletion=_data,
        show_default=False,
    ),
]
SeparatorOption = Annotated[
    str | None, typer.Option(help="Character between columns; found in the header by default.")
]
DecimalOption = Annotated[str, typer.Option(help="Character before the fraction of a number.")]
ThousandsOption = Annotated[
    str | None, typer.Option(help="Character between thousands, as the comma in 1,244.")
]
EncodingOption = Annotated[str, typer.Option(help="Encoding of a text file, such as latin-1.")]
NaOption = Annotated[
    list[str] | None,
    typer.Option(
        "--na", metavar="CODE", help="What stands for a missing value, as . or -999; repeatable."
    ),
]
OverwriteOption = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier result.")]


def fit(
    data: DataArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to create.")],
    learner: Annotated[
        str, typer.Option(help="See 'dpdag list learners'.", autocompletion=_learners)
    ] = "DAGPosterior",
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Setting of the learner; repeatable."),
    ] = None,
    forbid: Annotated[
        list[str] | None, typer.Option(metavar="A:B", help="No edge from A to B; repeatable.")
    ] = None,
    require: Annotated[
        list[str] | None, typer.Option(metavar="A:B", help="An edge from A to B; repeatable.")
    ] = None,
    first: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Column that no other can cause, as age; repeatable."),
    ] = None,
    last: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Column that causes no other; repeatable."),
    ] = None,
    tiers: Annotated[
        Path | None, typer.Option(help="YAML list of lists of columns, causes first.")
    ] = None,
    knowledge: Annotated[
        Path | None, typer.Option(help="YAML with forbidden, required and tiers.")
    ] = None,
    missing: Annotated[
        Missing, typer.Option(help="Missing values: refuse, fill while learning, or drop rows.")
    ] = Missing.error,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Leave out a column; repeatable.")
    ] = None,
    type_: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="NAME=TYPE",
            help="continuous, binary, category, ordinal or count; repeatable.",
        ),
    ] = None,
    interventions_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column that names what was set from outside in each row: names separated by ';', "
            "empty for none.",
        ),
    ] = None,
    under: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            help="File of further rows, in which NAME (or NAME;NAME) was set; repeatable.",
        ),
    ] = None,
    drop_text: Annotated[bool, typer.Option("--drop-text", help="Leave out text columns.")] = False,
    max_rows: Annotated[
        int, typer.Option(min=0, help="Draw at most so many rows at random; 0 takes all.")
    ] = 10_000,
    separator: SeparatorOption = None,
    decimal: DecimalOption = ".",
    thousands: ThousandsOption = None,
    encoding: EncodingOption = "utf-8",
    na: NaOption = None,
    overwrite: OverwriteOption = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print summary.json instead of text.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Same seed, same result.")] = 0,
) -> None:
    """Learn a causal graph from a table, and write graph, model and report to a folder.

    [bold]Examples[/]

      dpdag fit data.csv --out run/

      dpdag fit Sachs --out run/ --learner CAM

      dpdag fit data.csv --out run/ --first age --last outcome --forbid dose:weight

      dpdag fit observed.csv --out run/ --under PKA=pka.csv --under "Mek;Erk=both.csv"

      dpdag fit data.csv --out run/ --missing impute --type visits=count --set resamples=5
    """
    from . import summary
    from .options import build, known, settings, types_of
    from .table import Reading, load
    from .under import under_of

    reading = Reading(separator, decimal, thousands, encoding, na or ())
    chosen, types = settings(set_ or []), types_of(type_ or [])
    files = under_of(under or [])
    with new_folder(out, overwrite=overwrite, marker="summary.json") as folder:
        table = load(
            data,
            reading,
            drop=drop or [],
            drop_text=drop_text,
            types=types,
            missing=missing,
            max_rows=max_rows,
            seed=seed,
            interventions_column=interventions_column,
            under=files,
        )
        said = known(
            table.names,
            forbid=forbid or [],
            require=require or [],
            first=first or [],
            last=last or [],
            tiers=tiers,
            file=knowledge,
            dropped=table.origin.dropped,
        )
        model = build(
            learner,
            chosen,
            knowledge=said,
            seed=seed,
            missing=missing,
            types=types,
            interventions=table.interventions is not None,
        )
        record = _learn(model, table)
        found = summary.facts(record, table, model, seed=seed)
        _write(folder, model, record, found)
    if as_json:
        say(json.dumps(found, indent=2))
        return
    console = Console()
    summary.show(found, record, console=console)
    console.print(f"[bold]Report[/]    {out / 'report.html'}", soft_wrap=True, highlight=False)


def _learn(model: DAGLearner, table: Table) -> RunRecord:
    """Fit, with a sign of life on a terminal and a warning where it takes long."""
    from ..columns import column_types
    from ..records import describe
    from .summary import discrete

    console = Console(stderr=True)
    name, (rows, columns) = type(model).__name__, table.frame.shape
    message = f"Learning from {rows} rows × {columns} columns with {name} …"
    many, own_bar = columns >= MANY_COLUMNS, hasattr(model, "verbose")
    if many and own_bar:  # 1 to 9 minutes of CPU time were seen with 1000 rows
        message += (
            " (so many columns may take several minutes; "
            "--learner CAM --set n_bootstrap=0 takes less than one)"
        )
    if own_bar and (many or console.is_terminal):
        console.print(message, soft_wrap=True, highlight=False)
    if hasattr(model, "types") and console.is_terminal:
        kinds = map(str, column_types(table.frame, model.types))
        if types := discrete(dict(zip(table.names, kinds))):
            text = f"Types: {types} (others continuous; --type changes them)"
            console.print(escape(text), soft_wrap=True, highlight=False)
    start = time.perf_counter()
    with nullcontext() if own_bar else console.status(message), warnings.catch_warnings():
        for noted in ("Columns .* number the rows", ".* left no time for"):  # with the table
            warnings.filterwarnings("ignore", noted)
        model.fit(table.frame, interventions=table.interventions)
    seconds = time.perf_counter() - start
    return describe(
        model, table.frame, seconds=seconds, truth=table.true_graph, origin=table.origin
    )


def _write(folder: Path, model: DAGLearner, record: RunRecord, found: dict[str, Any]) -> None:
    from ..reports import write_report

    columns = "source", "target", "score", "probability", "reverse_probability", "linked"
    edges = model.to_edges().reindex(columns=list(columns))
    edges.to_csv(folder / "edges.csv", index=False)
    model.to_graphml(folder / "graph.graphml")
    (folder / "graph.dot").write_text(model.to_dot() + "\n", encoding="utf-8")
    model.save(folder / "model")
    record.save(folder / "record.json")
    write_report(record, folder / "report.html")
    facts = json.dumps(found, indent=2, ensure_ascii=False)
    (folder / "summary.json").write_text(facts + "\n", encoding="utf-8")
