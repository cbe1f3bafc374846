"""Data sets of experiments: the benchmark's, and tables of one's own."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import datasets
from ..datasets import Dataset, Provenance
from ..learners.ground_truth import read_dag
from .experiment import Source

# Sets whose original files are read from the data folder or downloaded; all others are generated.
ORIGINAL = {
    "ER-10-10": 10,
    "ER-10-40": 10,
    "SF-10-10": 10,
    "SynTReN": 10,
    "Sachs": 1,
    "Sachs-interventional": 1,
}


def benchmark(name: str, index: int) -> Dataset:
    """Data set number ``index``: an original one where there is a file, else generated."""
    source = "original" if name in ORIGINAL and name != "Sachs" else "auto"
    return datasets.load(name, index, source=source)


def named(name: str, first: int = 0) -> Source:
    """The data sets of a name; of generated ones, those from number ``first`` on.

    Example:
        >>> named("ER-50-200", first=50)(50).X.shape
        (1000, 50)
    """
    count = ORIGINAL.get(name)
    return Source(name, benchmark, first=0 if count else first, count=count)


def graph_alone(name: str, index: int) -> Dataset:
    """A random graph of a setting such as "ER-10-40", with a row of zeros for data."""
    family, n_nodes, n_edges = name.split("-")
    graph = datasets.GRAPHS[family](int(n_nodes), int(n_edges), random_state=index)
    return _without_data(name, graph)


def nodes_alone(name: str, index: int) -> Dataset:
    """Nothing but a number of nodes, as in "50 nodes"."""
    n = int(name.split()[0])
    return _without_data(name, np.zeros((n, n), dtype=int))


def own_table(path: str | Path, truth: str | Path) -> Source:
    """A table of one's own with the graph that is known.

    Arguments:
        path: CSV, TSV, Parquet or npy file without missing values.
        truth: Edge table with the columns "source" and "target", or GraphML.
    """
    files = [Path(path), Path(truth)]
    for file in files:
        if not file.is_file():
            raise FileNotFoundError(f"{file} does not exist or is not a file.")
    content = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    load = partial(_read, files=[str(file.resolve()) for file in files], content=content)
    source = Source(files[0].stem, load, count=1)
    source(0)  # an error in the files is one now
    return source


def _read(name: str, index: int, *, files: list[str], content: str) -> Dataset:
    """The table and its graph; ``content`` is part of what a cell is."""
    frame = datasets.read(files[0])
    names = [str(column) for column in frame.columns]
    try:
        graph = read_dag(files[1], names).numpy().astype(int)
    except ValueError as error:
        raise ValueError(f"{files[1]}: {error}") from None
    provenance = Provenance("original", f"Read from {Path(files[0]).name}.")
    return Dataset(frame.to_numpy(), graph, names, name, provenance)


def _without_data(name: str, graph: Any) -> Dataset:
    n = len(graph)
    provenance = Provenance("generated", "A graph without data.")
    return Dataset(np.zeros((1, n)), graph, [f"x{k}" for k in range(n)], name, provenance)


PAPER_SOURCES = tuple(
    named(name)
    for name in (
        "ER-10-10",
        "ER-10-40",
        "ER-50-50",
        "ER-50-200",
        "ER-100-100",
        "ER-100-400",
        "SF-10-10",
        "SF-50-50",
        "SF-50-200",
        "Sachs",
        "SynTReN",
    )
)
