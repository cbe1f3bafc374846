"""Is a graph missed because the search fails or because the data prefer another?

    OMP_NUM_THREADS=1 python benchmarks/from_truth.py SF-50-200 BA-50-200 --sets 5

The same climb with the evidence of Gaussian processes, once from nothing and once from the true
graph. Where the second ends lower, or higher without being truer, no better search would help.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
import torch

from dpdag import Knowledge, datasets
from dpdag.evidence.gp import GPEvidence
from dpdag.learners.families import graph_evidence
from dpdag.learners.integrated import ranking
from dpdag.metrics import edge_auc
from dpdag.search.lazy import LazyResult, lazy_search

PENALTY = math.log(9)  # of an edge of prior probability 0.1


def worth(evidence: GPEvidence, graph: torch.Tensor) -> float:
    """Log evidence of a graph with its edges paid for."""
    return float(graph_evidence(evidence, graph).sum() - PENALTY * graph.sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=["SF-50-50", "SF-50-200", "BA-50-200"])
    parser.add_argument("--sets", type=int, default=5)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in options.names:
        rows = []
        for k in range(options.sets):
            data = datasets.load(name, k)
            x = torch.tensor(data.X)
            evidence = GPEvidence((x - x.mean(0)) / x.std(0), device=options.device)
            truth = torch.tensor(data.adjacency != 0)
            free = Knowledge().resolve(len(truth))
            row = [worth(evidence, truth)]
            for start in (None, truth):
                found: LazyResult = lazy_search(
                    evidence, edge_penalty=PENALTY, constraints=free, start=start
                )
                auc = edge_auc(ranking(found, free).numpy(), data.adjacency)["Dir-AUC-PR"]
                row += [worth(evidence, found.adjacency), auc]
            rows.append(row)
            print(name, k, " ".join(f"{value:.2f}" for value in row), flush=True)
        mean, error = np.mean(rows, 0), np.std(rows, 0, ddof=1) / len(rows) ** 0.5
        told = (mean[1] - mean[0], mean[2], mean[3] - mean[0], mean[4])
        print(f"{name}: found {told[0]:+.0f} nats, {told[1]:.3f} ± {error[2]:.3f};", end=" ")
        print(f"from the truth {told[2]:+.0f} nats, {told[3]:.3f} ± {error[4]:.3f}", flush=True)


if __name__ == "__main__":
    main()
