"""dpdag sample, predict and impute: what a saved model gives."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .fit import (
    DataArgument,
    DecimalOption,
    EncodingOption,
    NaOption,
    OverwriteOption,
    SeparatorOption,
    ThousandsOption,
)

ModelArgument = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="Folder written by 'dpdag fit', or its model/.", show_default=False
    ),
]
OutOption = Annotated[
    Path, typer.Option("--out", "-o", help="File to write: .csv, .tsv, .parquet or .npy.")
]


def sample(
    model: ModelArgument,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="File to write: .npz for graphs, .csv and such for rows."),
    ],
    k: Annotated[int, typer.Option("-k", min=1, help="How many graphs or rows.")] = 100,
    do: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Rows with a column set to a value; repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same draws.")] = 0,
    overwrite: OverwriteOption = False,
) -> None:
    r"""Draw graphs from the posterior of a model, or rows of data from its learned functions.

    A .npz file holds 'dags' (k, n, n), where dags\[s, i, j] = 1 means i → j, and 'names' (n,).

    Rows hold labels by name, and rounded values in columns of whole numbers.

    [bold]Examples[/]

      dpdag sample run/ -k 100 --out dags.npz

      dpdag sample run/ -k 1000 --do PKC=50 --out rows.csv
    """
    from . import model_outputs

    if out.suffix == ".npz":
        if do:
            raise ValueError(f"--do is for rows, not for graphs; let {out} end in .csv or such.")
        model_outputs.write_graphs(model, k, seed, out, overwrite=overwrite)
        return
    rows = model_outputs.drawn(model_outputs.functions(model), k, do or [], seed)
    model_outputs.write(rows, out, overwrite=overwrite)


def predict(
    model: ModelArgument,
    data: DataArgument,
    out: OutOption,
    std: Annotated[
        bool, typer.Option("--std", help="Add how far values lie from there, as NAME_std.")
    ] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Add those of all levels, as NAME=LEVEL.")
    ] = False,
    separator: SeparatorOption = None,
    decimal: DecimalOption = ".",
    thousands: ThousandsOption = None,
    encoding: EncodingOption = "utf-8",
    na: NaOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Predict every column that was learned from, from its learned causes.

    Predicted are means, also of whole numbers; of labels the likeliest, by name. Where columns
    were transformed, as 'chosen' says, they lie nearer the medians.

    [bold]Examples[/]

      dpdag predict run/ new.csv --out predicted.csv

      dpdag predict run/ new.csv --std --probabilities --out predicted.csv
    """
    from . import model_outputs
    from .table import Reading, read

    table = read(data, Reading(separator, decimal, thousands, encoding, na or ()))
    learner = model_outputs.functions(model)
    answer = model_outputs.predicted(learner, table, std=std, probabilities=probabilities)
    model_outputs.write(answer, out, overwrite=overwrite)


def impute(
    model: ModelArgument,
    data: DataArgument,
    out: OutOption,
    separator: SeparatorOption = None,
    decimal: DecimalOption = ".",
    thousands: ThousandsOption = None,
    encoding: EncodingOption = "utf-8",
    na: NaOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Fill missing values from the learned causes; all else stays as it is.

    Columns that were not learned from are passed on.

    [bold]Example[/]

      dpdag impute run/ gaps.csv --out filled.csv
    """
    from . import model_outputs
    from .table import Reading, read

    table = read(data, Reading(separator, decimal, thousands, encoding, na or ()))
    filled = model_outputs.imputed(model_outputs.functions(model), table)
    model_outputs.write(filled, out, overwrite=overwrite)
