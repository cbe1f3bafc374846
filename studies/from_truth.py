"""Is a graph missed because the search fails or because the data prefer another?

    OMP_NUM_THREADS=1 python studies/from_truth.py SF-50-200 BA-50-200 --evidence gp --sets 5

The same climb, with the evidence of ``DAGPosterior`` ("all" functions or "gp" alone) or with that
of ``CAM`` ("additive"), once from nothing and once from the true graph. Where both end equally
high, no better search would help: what keeps the truth from being found is that the data prefer
another graph.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
import torch
from torch import Tensor

from dpdag import Knowledge, datasets
from dpdag.columns import standardise, table_of
from dpdag.evidence.additive import AdditiveEvidence
from dpdag.evidence.base import Evidence
from dpdag.evidence.families import FUNCTIONS
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.metrics import edge_auc
from dpdag.search import EdgePrior, change_edge, hill_climb

Scored = tuple[float, Tensor]  # worth of a graph, scores of all edges


def of_graph(evidence: Evidence, graph: Tensor) -> float:  # (n, n) bool
    """Evidence of a whole graph."""
    return float(evidence.log_evidence(torch.arange(len(graph)), graph.T.contiguous()).sum())


def averaged(x: Tensor, truth: Tensor, device: str, *, functions: tuple[str, ...]) -> list[Scored]:
    """The truth, the graph found and that found from the truth, with the search of DAGPosterior."""
    evidence = MixtureEvidence(table_of(x), functions=functions, device=device)
    free = Knowledge().resolve(len(truth))
    prior = EdgePrior.of(free)
    found = [hill_climb(evidence, prior=prior, start=start) for start in (None, truth)]
    worth = of_graph(evidence, truth) + prior.log(int(truth.sum()))
    return [(worth, truth), *((one.total, one.edge_scores(free)) for one in found)]


def additive(x: Tensor, truth: Tensor, device: str) -> list[Scored]:
    """The same with the evidence and the search of CAM."""
    evidence = AdditiveEvidence(x.to(device))
    free, prior = Knowledge().resolve(len(truth)), EdgePrior.priced(0.0)
    found = [
        hill_climb(evidence, prior=prior, start=start, moves=(change_edge,))
        for start in (None, truth)
    ]
    scored = [(one.total, one.edge_scores(free)) for one in found]
    return [(of_graph(evidence, truth), truth), *scored]


CLIMBS = {
    "all": partial(averaged, functions=FUNCTIONS),
    "gp": partial(averaged, functions=("gp",)),
    "additive": additive,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["SF-50-50", "SF-50-200"])
    parser.add_argument("--evidence", choices=list(CLIMBS), default="additive")
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(1)
    climb = CLIMBS[options.evidence]
    for name in options.names:
        rows = []
        for k in range(options.sets):
            data = datasets.load(name, k)
            x = standardise(torch.tensor(data.X))[0]
            (truth, _), *found = climb(x, torch.tensor(data.adjacency != 0), options.device)
            scores = [edge_auc(one.numpy(), data.adjacency)["Dir-AUC-PR"] for _, one in found]
            rows.append([*(value - truth for value, _ in found), *(100 * s for s in scores)])
        mean, error = np.mean(rows, 0), np.std(rows, 0, ddof=1) / len(rows) ** 0.5
        told = [f"{m:.1f} ± {e:.1f}" for m, e in zip(mean, error, strict=True)]
        print(
            f"{name}, {options.evidence}, {len(rows)} sets: nats above the truth {told[0]}, "
            f"from the truth {told[1]}; Dir-AUC-PR {told[2]}, from the truth {told[3]}",
            flush=True,
        )


if __name__ == "__main__":
    main()
