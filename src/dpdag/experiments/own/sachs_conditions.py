"""The protein data under nine conditions: what targets bring, and what pooling does.

DAGPosterior reads equally many rows of every experiment where it is told of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ... import datasets, metrics
from ...datasets import Dataset
from ...learners import CAM
from ...records import compare
from ..experiment import Method, Source
from ..measures import Fitted, Values, structure
from ..views import DIRECTED, Metric, all_in_one
from .accuracy import DEFAULT, own_experiment

NINE = tuple(range(1, 10))


def conditions(name: str, index: int, *, numbers: Sequence[int], told: bool) -> Dataset:
    """The rows of some conditions, with the targets or as if nothing had been set."""
    data = datasets.load("Sachs-interventional")
    rows = np.isin(np.asarray(data.conditions), numbers)
    mask = data.mask[rows] if told and data.mask is not None else None
    return replace(data, X=data.X[rows], mask=mask, conditions=None)


def against_consensus(fitted: Fitted) -> Values:
    """Edges right and reversed, and the SID."""
    truth, graph = fitted.data.adjacency, fitted.learner.adjacency_
    found = compare(graph, truth)
    return {"right": found.found, "reversed": found.reversed, "SID": metrics.sid(truth, graph)}


own_experiment(
    "sachs-conditions",
    "Protein data under nine conditions, targets given or rows pooled",
    sources=tuple(
        Source(name, partial(conditions, numbers=numbers, told=told), count=1)
        for name, numbers, told in (
            ("anti-CD3/CD28 alone", (1,), False),
            ("nine conditions, targets given", NINE, True),
            ("nine conditions, as if observed", NINE, False),
            ("conditions 1 to 7, targets given", NINE[:7], True),
        )
    ),
    methods=(DEFAULT, Method("CAM", CAM)),
    measures=(structure, against_consensus),
    views=all_in_one(
        Metric("edges", digits=0, better=""),
        Metric("right", digits=0),
        *(Metric(name, digits=0, better="lower") for name in ("reversed", "SHD", "SID")),
        DIRECTED,
        Metric("seconds", digits=0, better=""),
    ),
)
