"""Recover a known DAG by the gradient of the squared error of samples (the paper's appendix F.1).

All graphs and learning rates of a setting train as one batch. Run

    OMP_NUM_THREADS=1 python examples/recover_known_dag.py [--permutation sinkhorn]
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np
import torch
from torch import Tensor

from dpdag import DPDAG, datasets, metrics
from dpdag.seeding import torch_generator
from dpdag.training import ReplicaAdam

# Means over graphs and learning rates in the paper: Gumbel-Top-k, Gumbel-Sinkhorn.
PAPER = {
    "ER-10-10": (1.0, 1.0),
    "ER-10-40": (0.98, 0.97),
    "ER-20-80": (0.98, 0.95),
    "ER-50-50": (0.95, 0.94),
    "ER-100-100": (0.96, 0.90),
    "ER-100-200": (0.97, 0.92),
    "ER-100-400": (0.95, 0.91),
    "SF-10-10": (0.92, 0.87),
    "SF-10-40": (0.99, 0.95),
    "SF-20-20": (0.94, 0.89),
    "SF-20-80": (1.0, 0.98),
    "SF-50-50": (0.95, 0.92),
    "SF-50-200": (0.98, 0.97),
    "SF-100-100": (0.94, 0.89),
    "SF-100-400": (0.99, 0.96),
}
RATES = (1.0, 1e-1, 1e-2, 1e-3)


def recover(
    truth: Tensor,  # (graphs, n, n)
    *,
    permutation: str = "topk",
    rates: tuple[float, ...] = RATES,
    steps: int = 6000,
    seed: int = 0,
) -> DPDAG:
    """Fit a batch (rates, graphs) of distributions to known graphs."""
    dags = DPDAG(truth.shape[-1], permutation, batch_shape=(len(rates), len(truth)))
    rate = torch.tensor(rates).unsqueeze(-1).expand(-1, len(truth))
    names = {name: rate for name, _ in dags.named_parameters()}
    adam = ReplicaAdam(dict(dags.named_parameters()), names)
    generator = torch_generator(seed)
    for step in range(steps):
        adam.zero_grad()
        (dags().rsample(generator=generator) - truth).square().sum().backward()
        adam.step(scale=1 - step / steps)  # the noise of single samples averages out at the end
    return dags


def random_graphs(name: str, count: int) -> Tensor:  # (count, n, n)
    """Graphs of one setting of the paper, such as ``ER-10-40``."""
    kind, n_nodes, n_edges = name.split("-")
    draw = datasets.GRAPHS[kind]
    graphs = [draw(int(n_nodes), int(n_edges), random_state=k) for k in range(count)]
    return torch.tensor(np.stack(graphs), dtype=torch.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--permutation", choices=["topk", "sinkhorn"], default="topk")
    parser.add_argument("--settings", nargs="*", default=list(PAPER))
    parser.add_argument("--graphs", type=int, default=10)
    parser.add_argument("--steps", type=int, default=6000)
    args = parser.parse_args()
    column = ["topk", "sinkhorn"].index(args.permutation)
    print("setting      paper   AUC-PR (mean ± sd over graphs and rates)   seconds")
    for name in args.settings:
        truth = random_graphs(name, args.graphs)
        start = perf_counter()
        dags = recover(truth, permutation=args.permutation, steps=args.steps)
        elapsed = perf_counter() - start
        scores = dags().modal_edge_probabilities.detach()
        values = np.array(
            [
                [metrics.edge_auc(s.numpy(), t.numpy().astype(int))["Dir-AUC-PR"] for s, t in pairs]
                for pairs in (zip(row, truth) for row in scores)
            ]
        )
        by_rate = "  ".join(f"{rate:g}: {v:.3f}" for rate, v in zip(RATES, values.mean(1)))
        print(
            f"{name:11s}  {PAPER[name][column]:.2f}    {values.mean():.3f} ± {values.std():.3f}"
            f"   [{by_rate}]   {elapsed:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
