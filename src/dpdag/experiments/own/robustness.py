"""What DAGPosterior does where its assumptions fail: few or many rows, hidden causes, copies."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ... import datasets
from ...datasets import Dataset
from ..experiment import Source
from ..views import AUCS, DIRECTED, SHD, Metric, all_in_one
from .accuracy import DEFAULT, MEASURES, own_experiment

FIRST = 200  # sets that were never looked at


def with_rows(name: str, index: int, *, count: int) -> Dataset:
    """12 nodes and 20 edges, functions from Gaussian processes."""
    return datasets.benchmark("ER-12-20", index, rows=count)


def with_hidden(name: str, index: int, *, count: int) -> Dataset:
    """The ``count`` nodes with most children are not observed."""
    data = with_rows(name, index, count=1000)
    kept = np.sort(np.argsort(-data.adjacency.sum(1), kind="stable")[count:])
    seen = data.adjacency[np.ix_(kept, kept)]
    return replace(data, X=data.X[:, kept], adjacency=seen, names=[data.names[k] for k in kept])


def with_copy(name: str, index: int, *, noise: float) -> Dataset:
    """One more column: the first one with a little noise."""
    data = with_rows(name, index, count=1000)
    rng = np.random.default_rng(index - FIRST)
    copy = data.X[:, 0] + noise * data.X[:, 0].std() * rng.normal(size=len(data.X))
    larger = np.pad(data.adjacency, (0, 1))
    larger[0, -1] = 1
    X = np.column_stack([data.X, copy])
    return replace(data, X=X, adjacency=larger, names=[*data.names, "copy"])


own_experiment(
    "robustness",
    "DAGPosterior with few and many rows, hidden common causes and a copied column",
    sources=(
        *(
            Source(f"{count} rows", partial(with_rows, count=count), first=FIRST)
            for count in (100, 300, 1000, 10_000)
        ),
        *(
            Source(f"{count} hidden causes", partial(with_hidden, count=count), first=FIRST)
            for count in (1, 2)
        ),
        Source("a column copied, 5 % noise", partial(with_copy, noise=0.05), first=FIRST),
    ),
    methods=(DEFAULT,),
    measures=MEASURES,
    views=all_in_one(
        DIRECTED,
        AUCS[0],
        SHD,
        Metric("expected SHD", better="lower"),
        Metric("Brier", digits=3, better="lower"),
        Metric("seconds", digits=0, better=""),
    ),
    sets=3,
)
