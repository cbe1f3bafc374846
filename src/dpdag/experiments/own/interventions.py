"""Directions that experiments settle: the more columns were set, the more arrows are right.

Linear Gaussian tables with as many edges as columns, of which observation alone leaves many open:
500 observed rows, and 100 for every column that was set, in which it is drawn from N(0, 1)
whatever its causes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ... import datasets
from ...datasets import Dataset
from ...learners import DAGPosterior
from ..experiment import Method, Source
from ..measures import Fitted, Values
from ..views import SECONDS, SHD, Figure, Metric, all_in_one
from .accuracy import DEFAULT, own_experiment

OBSERVED, EACH = 500, 100  # rows
TARGETS = {10: (0, 1, 2, 5, 10), 20: (0, 2, 5, 10, 20)}  # how many columns are set, by columns

Graph = NDArray[np.bool_]  # (n, n), i -> j; both ways where a direction is open


def set_columns(name: str, index: int, *, columns: int, targets: int) -> Dataset:
    """A table of which the first columns of a random order were set, one after the other."""
    order = np.random.default_rng(index).permutation(columns)
    data = datasets.simulate(
        datasets.erdos_renyi(columns, columns, random_state=index),
        OBSERVED,
        mechanism="linear",
        noise=datasets.Noise(variance=(0.5, 1.0)),
        root_noise=datasets.Noise(variance=(0.5, 1.0)),
        do=[{}, *({int(k): None} for k in order)],  # all, so that more targets add rows to these
        name=name,
        random_state=index,
    )
    experiment, row = np.divmod(np.arange(len(data.X)), OBSERVED)
    kept = (experiment == 0) | ((experiment <= targets) & (row < EACH))
    mask = None if data.mask is None else data.mask[kept]
    return replace(data, X=data.X[kept], mask=mask, conditions=experiment[kept])


def directions(fitted: Fitted) -> Values:
    """Measures of a graph by its class: a direction that the experiments leave open is half right.

    Graphs with edges both ways are taken for classes already.
    """
    mask, truth = fitted.data.mask, fitted.data.adjacency
    targets = np.flatnonzero([] if mask is None else mask.any(0))
    graph = np.asarray(fitted.learner.adjacency_) != 0
    graph = graph if (graph & graph.T).any() else essential(graph, targets)
    share = graph / np.maximum(graph + graph.T.astype(int), 1)  # 1, or 1/2 where both ways
    found = (graph | graph.T) & (truth == 1)
    right = float((share * truth).sum())
    missed = np.abs(share - truth)
    f1 = 2 * right / (share.sum() + truth.sum())
    return {
        "columns set": len(targets),
        "directed right": right / max(int(found.sum()), 1),
        "F1": f1,
        f"F1, {len(truth)} columns": f1,
        "SHD": float(np.triu(np.maximum(missed, missed.T)).sum()),
    }


def essential(dag: Graph, targets: NDArray[np.int64]) -> Graph:
    """The graph of all DAGs that rows with single targets cannot tell apart: open edges both ways.

    Directed are colliders, edges with an end that was set, and what follows by Meek's rules.

    Example:
        >>> chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
        >>> essential(chain, np.array([], dtype=int)).sum(), essential(chain, np.array([0])).sum()
        (np.int64(4), np.int64(2))
    """
    nodes = range(len(dag))
    linked = dag | dag.T
    known = np.zeros_like(dag)
    known[targets] = dag[targets]
    known[:, targets] = dag[:, targets]
    for k in nodes:
        causes = np.flatnonzero(dag[:, k])
        for i, j in ((i, j) for i in causes for j in causes if i != j and not linked[i, j]):
            known[i, k] = known[j, k] = True
    while True:
        before = known.sum()
        for a, b in np.argwhere(linked & ~known & ~known.T):
            away = any(known[c, a] and not linked[c, b] for c in nodes if c != b)
            around = any(known[a, c] and known[c, b] for c in nodes)
            free = [c for c in np.flatnonzero(known[:, b]) if linked[a, c]]
            kite = any(not linked[c, d] for c in free for d in free if c != d)
            known[a, b] |= away or around or kite
        if known.sum() == before:
            return np.asarray(known | (linked & ~known.T))


own_experiment(
    "interventions",
    "Directions of lines by the number of columns that were set; open ones count half",
    sources=tuple(
        Source(
            f"{columns} columns, {targets} set",
            partial(set_columns, columns=columns, targets=targets),
        )
        for columns, numbers in TARGETS.items()
        for targets in numbers
    ),
    methods=(DEFAULT, Method("DAGPosterior, linear", DAGPosterior, {"mechanism": "linear"})),
    measures=(directions,),
    views=(
        *all_in_one(Metric("directed right", 100), Metric("F1", 100), SHD, SECONDS),
        *(
            Figure(
                "columns set",
                f"F1, {columns} columns",
                "columns set",
                f"F1 of directed edges, {columns} columns",
                panels=False,
            )
            for columns in TARGETS
        ),
    ),
)
