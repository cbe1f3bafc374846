"""Which pairs are named as moving together, with hidden causes and without any."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ... import datasets
from ...datasets import Dataset, Provenance
from ...records import MISFIT
from ..experiment import Source
from ..measures import Fitted, Values
from ..views import Metric, all_in_one
from .accuracy import DEFAULT, own_experiment
from .drawn import EFFECTS, Graph, before_hiding, drawn_graph, drawn_rows

FIRST = 100  # the test and its level were chosen on tables below 30
COMPLETE = ("ER-10-10", "ER-10-40", *EFFECTS)
HIDING = ("hidden causes", "ER-10-20 less two roots")


def table(kind: str, index: int) -> Dataset:
    """Table number ``index`` of a kind, less the columns that hide."""
    X, graph, kept = _whole(kind, index)
    return Dataset(
        X[:, kept],
        graph[np.ix_(kept, kept)],
        [f"x{k}" for k in kept],
        f"{kind}[{index}]",
        Provenance("generated", kind),
    )


def confounded(kind: str, index: int) -> NDArray[np.bool_]:
    """Which pairs have a common hidden cause, directly or through another hidden one."""
    _, graph, kept = _whole(kind, index)
    hidden = np.setdiff1d(np.arange(len(graph)), kept)
    effects = graph[hidden] | (graph[np.ix_(hidden, hidden)] @ graph[hidden] > 0)
    return np.asarray((effects.T @ effects > 0)[np.ix_(kept, kept)])


def pairs(fitted: Fitted) -> Values:
    """What is named, and what of the pairs with a common hidden cause and no edge is found."""
    data, learner = fitted.data, fitted.learner
    if not hasattr(learner, "hidden_causes_"):
        return {}
    kind, _, index = data.name.removesuffix("]").rpartition("[")
    common = np.triu(confounded(kind, int(index)), 1)
    named = np.zeros(common.shape, dtype=bool)
    for pair in learner.hidden_causes_:
        named[int(pair["source"]), int(pair["target"])] = True
    named = np.triu(named | named.T)
    linked = (learner.adjacency_ + learner.adjacency_.T) > 0
    bare = common & (data.adjacency + data.adjacency.T == 0)
    column = max(one["misfit"] for one in learner.choice_) > MISFIT
    return {
        "names a pair": float(named.any()),
        "or a column": float(named.any() or column),
        "pairs named": int(named.sum()),
        "of these confounded": int((named & common).sum()),
        "confounded, no edge": int(bare.sum()),
        "of these linked": int((bare & linked).sum()),
        "of these named": int((bare & named).sum()),
    }


def _whole(kind: str, index: int) -> tuple[NDArray[np.float64], Graph, Graph]:
    """Values and graph before anything was hidden, and the columns that stay."""
    rng = np.random.default_rng([index, *kind.encode()])
    if kind == "hidden causes":
        return before_hiding(rng)
    if kind in EFFECTS:
        graph = drawn_graph(rng)
        return drawn_rows(graph, EFFECTS[kind], rng), graph, np.arange(len(graph))
    name, _, hiding = kind.partition(" less ")
    data = datasets.load(name, index)
    roots = np.flatnonzero(data.adjacency.sum(0) == 0)
    strongest = roots[np.argsort(-data.adjacency[roots].sum(1), kind="stable")]
    hidden = strongest[: 2 if hiding else 0]
    return data.X, data.adjacency, np.setdiff1d(np.arange(len(data.names)), hidden)


own_experiment(
    "hidden-causes",
    "Pairs named as moving together, on tables with hidden causes and without any",
    sources=tuple(Source(kind, table, first=FIRST) for kind in (*COMPLETE, *HIDING)),
    methods=(DEFAULT,),
    measures=(pairs,),
    views=all_in_one(
        *(Metric(name, digits=2, better="") for name in ("names a pair", "or a column")),
        *(
            Metric(name, better="")
            for name in (
                "pairs named",
                "of these confounded",
                "confounded, no edge",
                "of these linked",
                "of these named",
            )
        ),
    ),
)
