"""Which attachment rule made the paper's scale-free sets, and how much could be found in them.

    OMP_NUM_THREADS=1 python studies/scale_free.py

Two generators, "SF" (attraction 1 + parents) and "BA" (1 + neighbours), against two records. The
original SF-10-10 graphs give degrees; the paper's table 5 gives the test error of networks that
know the true graph (GT-DAG), which falls with the number of parents. Last comes what any learner
could find: a child with many parents is so close to noise that no test could tell it from a node
that has none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from dpdag import CAM, Knowledge, datasets
from dpdag.learners.networks import Networks
from dpdag.metrics import edge_auc
from dpdag.ops import graphs

PAPER = {"50-50": 0.79, "50-200": 0.77}
NOISE = 0.04  # least of the generator's range
CONTROLS = {
    "ER-10-10": 0.58,
    "ER-10-40": 0.30,
    "SF-10-10": 0.66,
    "ER-50-50": 0.57,
    "ER-50-200": 0.48,
}
NETWORKS = Networks(validation_fraction=1 / 9)


def held_out_error(data: datasets.Dataset) -> float:
    """Mean squared error of networks trained on the true graph, on a tenth of the rows."""
    split = data.split(seed=0)
    observed = torch.tensor(np.concatenate([split.train, split.validation]))
    graph = torch.tensor(data.adjacency)
    network = NETWORKS.train(observed, graph)
    test = torch.tensor(split.test)
    return float((network.freeze(graph != 0)(test) - test).square().mean())


def crowding(adjacency: np.ndarray) -> float:
    """Sum of squared numbers of parents: large where few hubs have them all."""
    return float(np.square(adjacency.sum(0)).sum())


def information(data: datasets.Dataset, child: int) -> float:
    """Most nats that a child's values can tell about its parents, whoever looks at them.

    The divergence of their distribution, kernel and parents known, from that of mere noise of the
    same size: what all rows together hold against "no parents". The smallest noise is taken.
    """
    inputs = torch.tensor(data.X[:, data.adjacency[:, child] != 0])
    if not inputs.numel():
        return 0.0
    kernel = torch.exp(-torch.cdist(inputs, inputs).square() / 2)
    kernel.diagonal().add_(NOISE)
    return float((len(kernel) * math.log1p(NOISE) - kernel.logdet()) / 2)


def ceiling(data: datasets.Dataset, draws: int = 50) -> tuple[float, float]:
    """Share of the edges that the data can tell, and the Dir-AUC-PR of a learner that finds them.

    To know an edge of prior probability p takes log 1/p nats. A child has as many visible edges as
    its information pays for. The others can only be guessed, among all that point into such
    children or into nodes that look the same, those without parents.
    """
    graph = data.adjacency != 0
    price = -math.log(graph.sum() / (graph.size - len(graph)))
    seen, guesses = np.zeros_like(graph), np.zeros_like(graph)
    for child in range(len(graph)):
        parents = np.flatnonzero(graph[:, child])
        known = parents[: math.ceil(information(data, child) / price)]
        seen[known, child] = True
        guesses[:, child] = len(known) == 0 or len(known) < len(parents)
    rng = np.random.default_rng(0)
    scores = [np.where(seen, 2.0, guesses * rng.random(graph.shape)) for _ in range(draws)]
    best = [edge_auc(score, data.adjacency)["Dir-AUC-PR"] for score in scores]
    return seen.sum() / graph.sum(), float(np.mean(best))


def told_the_order(data: datasets.Dataset) -> float:
    """Dir-AUC-PR of CAM that knows the causal order."""
    order = graphs.topological_order(torch.tensor(data.adjacency != 0))
    cam = CAM(knowledge=Knowledge(tiers=[[data.names[v]] for v in order])).fit(data.frame)
    return edge_auc(cam.edge_scores_, data.adjacency)["Dir-AUC-PR"]


def spread(values: Sequence[float]) -> str:
    return f"{np.mean(values):.2f} ± {np.std(values, ddof=1) / len(values) ** 0.5:.2f}"


def main() -> None:
    torch.set_num_threads(1)
    real = [crowding(datasets.load("SF-10-10", k, source="original").adjacency) for k in range(10)]
    print(f"Σ parents², original SF-10-10: {spread(real)}")
    for family in ("SF", "BA"):
        drawn = [crowding(datasets.GRAPHS[family](10, 10, random_state=k)) for k in range(2000)]
        print(f"  {family}: {np.mean(drawn):.2f}, ± {np.std(drawn) / 10**0.5:.2f} for ten graphs")
    print("Controls: the same networks where there is nothing to choose")
    for name, paper in CONTROLS.items():
        source = "original" if "-10-" in name else "generated"
        errors = [held_out_error(datasets.load(name, k, source=source)) for k in range(5)]
        print(f"  {name}, {source}: {spread(errors)}, paper: {paper}", flush=True)
    for size, paper in PAPER.items():
        print(f"GT-DAG test error on SF-{size}, paper: {paper}")
        for family in ("SF", "BA"):
            errors = [held_out_error(datasets.load(f"{family}-{size}", k)) for k in range(5)]
            print(f"  {family}: {spread(errors)}", flush=True)
    print("Edges that leave a trace; Dir-AUC-PR of finding them all; of CAM told the order")
    for name in ("SF-50-50", "BA-50-50", "SF-50-200", "BA-50-200", "ER-50-200"):
        drawn = [datasets.load(name, k) for k in range(10)]
        seen, best = zip(*map(ceiling, drawn), strict=True)
        cam = map(told_the_order, drawn)
        print(f"  {name}: {spread(seen)}; {spread(best)}; {spread([*cam])}", flush=True)


if __name__ == "__main__":
    main()
