"""Which attachment rule made the paper's scale-free sets: two generators against two records.

    OMP_NUM_THREADS=1 python benchmarks/scale_free.py

The original SF-10-10 graphs give degrees; the paper's table 5 gives the test error of networks
that know the true graph (GT-DAG) on SF-50-50 and SF-50-200, which falls with the number of
parents. Both are compared for "SF" (attraction 1 + parents) and "BA" (1 + neighbours).
"""

from __future__ import annotations

import numpy as np
import torch

from dpdag import datasets
from dpdag.learners.variational import Design, Hyper, refit_mechanism

PAPER = {"50-50": 0.79, "50-200": 0.77}
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


def spread(values: list[float]) -> str:
    return f"{np.mean(values):.2f} ± {np.std(values, ddof=1) / len(values) ** 0.5:.2f}"


def main() -> None:
    torch.set_num_threads(1)
    real = [crowding(datasets.load("SF-10-10", k, source="original").adjacency) for k in range(10)]
    print(f"Σ parents², original SF-10-10: {spread(real)}")
    for family in ("SF", "BA"):
        drawn = [crowding(datasets.GRAPHS[family](10, 10, random_state=k)) for k in range(2000)]
        print(f"  {family}: {np.mean(drawn):.2f}, ± {np.std(drawn) / 10**0.5:.2f} for ten graphs")
    for size, paper in PAPER.items():
        print(f"GT-DAG test error on SF-{size}, paper: {paper}")
        for family in ("SF", "BA"):
            errors = [held_out_error(datasets.load(f"{family}-{size}", k)) for k in range(5)]
            print(f"  {family}: {spread(errors)}", flush=True)


if __name__ == "__main__":
    main()
