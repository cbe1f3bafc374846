"""Is a graph missed because the search fails or because the data prefer another?

    OMP_NUM_THREADS=1 python benchmarks/from_truth.py SF-50-200 BA-50-200 --evidence gp --sets 5

The same climb, with Gaussian processes as in ``VIDPDAG`` or with additive models as in ``CAM``,
once from nothing and once from the true graph. Where both end equally high, no better search would
help: what keeps the truth from being found is that the data prefer another graph.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
import torch
from torch import Tensor

from dpdag import Knowledge, datasets
from dpdag.evidence.additive import AdditiveEvidence
from dpdag.evidence.gp import GPEvidence
from dpdag.evidence.transforms import standardise
from dpdag.learners.families import graph_evidence
from dpdag.learners.integrated import ranking
from dpdag.metrics import edge_auc
from dpdag.search import greedy
from dpdag.search.lazy import lazy_search

EDGE = math.log(9)  # nats an edge costs, in the searches of VIDPDAG


def with_gp(x: Tensor, truth: Tensor, device: str) -> list[tuple[float, Tensor]]:  # (rows, n)
    """Worth of the truth, of the graph found and of that found from the truth, and scores."""
    evidence, free = GPEvidence(x, device=device), Knowledge().resolve(len(truth))

    def worth(graph: Tensor) -> float:
        return float(graph_evidence(evidence, graph).sum() - EDGE * graph.sum())

    found = [lazy_search(evidence, edge_penalty=EDGE, start=start) for start in (None, truth)]
    scored = [(worth(one.adjacency), ranking(one, free)) for one in found]
    return [(worth(truth), truth), *scored]


def with_additive(x: Tensor, truth: Tensor, device: str) -> list[tuple[float, Tensor]]:  # (rows, n)
    """The same with the evidence and the search of CAM."""
    evidence = AdditiveEvidence(x.to(device))

    def worth(graph: Tensor) -> float:
        return float(graph_evidence(evidence, graph).sum())

    moves = ("add", "delete", "reverse")
    found = [greedy(evidence, moves=moves, start=start) for start in (None, truth)]
    return [(worth(truth), truth), *((worth(one.adjacency), one.edge_scores) for one in found)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=["SF-50-50", "SF-50-200"])
    parser.add_argument("--evidence", choices=["gp", "additive"], default="additive")
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(1)
    climb = {"gp": with_gp, "additive": with_additive}[options.evidence]
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
