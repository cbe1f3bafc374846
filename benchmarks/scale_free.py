"""Which attachment rule made the paper's scale-free sets, and how much could be found in them.

    OMP_NUM_THREADS=1 python benchmarks/scale_free.py

Two generators, "SF" (attraction 1 + parents) and "BA" (1 + neighbours), against two records. The
original SF-10-10 graphs give degrees; the paper's table 5 gives the test error of networks that
know the true graph (GT-DAG), which falls with the number of parents. Last comes an oracle that is
told the causal order, the kernel that made the data and, for every edge it judges, the child's
other parents: no learner has as much.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from dpdag import datasets
from dpdag.learners.variational import Design, Hyper, refit_mechanism
from dpdag.metrics import edge_auc
from dpdag.ops import graphs

PAPER = {"50-50": 0.79, "50-200": 0.77}
NOISE = 0.06  # middle of the generator's range
CONTROLS = {
    "ER-10-10": 0.58,
    "ER-10-40": 0.30,
    "SF-10-10": 0.66,
    "ER-50-50": 0.57,
    "ER-50-200": 0.48,
}
HYPER = Hyper(3e-3, 0.0, 0.0, kl_weight=0.0, edge_prior=0.1)


def held_out_error(data: datasets.Dataset) -> float:
    """Mean squared error of networks trained on the true graph, on a tenth of the rows."""
    split = data.split(seed=0)
    observed = torch.tensor(np.concatenate([split.train, split.validation]))[None]
    graph = torch.tensor(data.adjacency)
    design = Design(hidden_units=16, max_epochs=200, validation_fraction=1 / 9)
    network = refit_mechanism(observed, graph, hyper=HYPER, design=design)
    test = torch.tensor(split.test)
    return float((network.freeze(graph != 0)(test) - test).square().mean())


def crowding(adjacency: np.ndarray) -> float:
    """Sum of squared numbers of parents: large where few hubs have them all."""
    return float(np.square(adjacency.sum(0)).sum())


def oracle_scores(data: datasets.Dataset) -> np.ndarray:
    """Evidence of each edge given the child's other parents, under the generating kernel.

    Only pairs that agree with the true order are scored; the others come last.
    """
    graph = data.adjacency != 0
    order = graphs.topological_order(torch.tensor(graph)).tolist()
    columns = torch.tensor(data.X - data.X.mean(0))
    scores = np.full(graph.shape, -1e9)
    for place, child in enumerate(order):
        parents = set(np.flatnonzero(graph[:, child]))
        given = log_evidence(columns, parents, child)
        for node in order[:place]:
            toggled = log_evidence(columns, parents ^ {node}, child)
            scores[node, child] = given - toggled if node in parents else toggled - given
    return scores


def log_evidence(columns: Tensor, parents: set[int], child: int) -> float:
    """Log density of `child` under a Gaussian process of bandwidth 1 and amplitude 1."""
    inputs = columns[:, sorted(parents)]
    kernel = torch.eye(len(inputs), dtype=inputs.dtype) * NOISE
    if parents:
        kernel += torch.exp(-torch.cdist(inputs, inputs).square() / 2)
    factor = torch.linalg.cholesky(kernel)
    white = torch.linalg.solve_triangular(factor, columns[:, child, None], upper=False)
    return float(-white.square().sum() / 2 - factor.diagonal().log().sum())


def spread(values: list[float]) -> str:
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
    print("Dir-AUC-PR of the oracle")
    for name in ("SF-50-50", "BA-50-50", "SF-50-200", "BA-50-200"):
        drawn = [datasets.load(name, k) for k in range(10)]
        found = [edge_auc(oracle_scores(data), data.adjacency)["Dir-AUC-PR"] for data in drawn]
        print(f"  {name}: {spread(found)}", flush=True)


if __name__ == "__main__":
    main()
