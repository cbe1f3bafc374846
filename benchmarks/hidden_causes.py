"""Which pairs are named as moving together, with hidden causes and without any.

OMP_NUM_THREADS=1 python benchmarks/hidden_causes.py --first 100 > benchmarks/hidden_causes.md
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from dpdag import DAGPosterior, datasets
from dpdag.experiments.own.violations import before_hiding, violation
from dpdag.experiments.quality import MISFIT

KINDS = {
    "ER-10-10": 10,
    "ER-10-40": 6,
    "additive": 10,
    "joint": 10,
    "lines": 10,
    "hidden causes": 20,
    "ER-10-20 less two roots": 10,
}
HEADS = (
    "kind", "tables", "that name a pair", "or a column", "pairs named", "confounded",
    "confounded pairs without edge", "linked by the graph", "of the others named",
)  # fmt: skip


def load(kind: str, index: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, the true graph among them, and which pairs have a common hidden cause."""
    if kind == "hidden causes":
        X, graph, kept = before_hiding(np.random.default_rng([index, *kind.encode()]))
    elif kind.endswith("roots"):
        data = datasets.load(kind.split()[0], index=index)
        X, graph = data.X, data.adjacency
        roots = np.flatnonzero(graph.sum(0) == 0)
        strongest = roots[np.argsort(-graph[roots].sum(1), kind="stable")][:2]
        kept = np.setdiff1d(np.arange(len(graph)), strongest)
    else:
        data = datasets.load(kind, index=index) if kind[:2] == "ER" else violation(kind, index)
        X, graph, kept = data.X, data.adjacency, np.arange(data.X.shape[1])
    hidden = np.setdiff1d(np.arange(len(graph)), kept)
    among = graph[np.ix_(hidden, hidden)]
    effects = graph[hidden] | (among @ graph[hidden] > 0)  # of hidden ones, through hidden ones
    confounded = effects.T @ effects > 0
    return X[:, kept], graph[np.ix_(kept, kept)], confounded[np.ix_(kept, kept)]


def measured(kind: str, index: int) -> np.ndarray:  # -> (8,)
    X, graph, confounded = load(kind, index)
    learner = DAGPosterior(random_state=0, verbose=False).fit(X)
    named = np.zeros(graph.shape, dtype=bool)
    for pair in learner.hidden_causes_:
        named[int(pair["source"]), int(pair["target"])] = True
    linked = (learner.adjacency_ + learner.adjacency_.T) > 0
    bare = np.triu(confounded & (graph + graph.T == 0), 1)
    column = max(one["misfit"] for one in learner.choice_) > MISFIT
    counts = (1, named.any(), named.any() or column, named.sum(), (named & confounded).sum())
    return np.array([*counts, bare.sum(), (bare & linked).sum(), (bare & named).sum()], dtype=int)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=100, help="number of the first table")
    first = parser.parse_args().first
    print("| " + " | ".join(HEADS) + " |\n" + "|---" * len(HEADS) + "|")
    for kind, count in KINDS.items():
        total = sum(measured(kind, first + k) for k in range(count))
        *numbers, bare, linked, found = total.tolist()
        cells = [kind, *numbers, bare, linked, f"{found} of {bare - linked}"]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
