"""SDCD and NOTEARS with networks on a GPU, on the draws of ``benchmarks/gpu.md``.

In an environment with dpdag and ``pip install sdcd gcastle``:

    python studies/gpu_peers.py --columns 50 100 --first 5 --draws 3 --timeout 500

Random graphs with two edges per column, Gaussian process mechanisms, 1000 rows, standardised;
settings are the packages' own. One process and one line for each fit, of packages' output nothing.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import TimeoutError
from contextlib import redirect_stdout
from os import devnull
from typing import Any

from baseline_peers import Found, GCastle, Peer
from pebble import concurrent

from dpdag import datasets, metrics


class SDCD(Peer):
    """Stable Differentiable Causal Discovery (Nazaret et al., 2024), by its authors."""

    def __init__(self, device: str, random_state: int = 0) -> None:
        self.device, self.random_state = device, random_state

    def _found(self, X: Any) -> Found:
        import torch
        from sdcd import models

        x = torch.as_tensor(X, dtype=torch.float32)
        nothing_set = torch.zeros(len(x))
        rows = torch.utils.data.TensorDataset(x, torch.ones_like(x), nothing_set)
        model = models.SDCD()
        model.train(rows, device=torch.device(self.device))
        return Found(model.get_adjacency_matrix(threshold=False), model.get_adjacency_matrix())


class NotearsMLP(GCastle):
    """NOTEARS with networks, in gCastle."""

    def __init__(self, device: str, random_state: int = 0) -> None:
        self.device, self.random_state = device, random_state

    def _learner(self, n: int) -> Any:
        from castle import algorithms

        return algorithms.NotearsNonlinear(device_type="gpu" if self.device == "cuda" else "cpu")


PEERS: dict[str, type[Peer]] = {"SDCD": SDCD, "NOTEARS-MLP": NotearsMLP}


def fitted(peer: str, columns: int, draw: int, device: str) -> str:
    """Seconds, Dir-AUC-PR and SHD of one fit."""
    import torch

    data = datasets.benchmarks.benchmark(f"ER-{columns}-{2 * columns}", draw, rows=1000)
    torch.zeros(1, device=device)  # the device is up before the clock starts
    with open(devnull, "w") as nowhere, redirect_stdout(nowhere):
        start = time.perf_counter()
        learner = PEERS[peer](device=device).fit(data.X)
        seconds = time.perf_counter() - start
    auc = metrics.edge_auc(learner.edge_scores_, data.adjacency)["Dir-AUC-PR"]
    shd = metrics.shd(learner.adjacency_, data.adjacency)
    return f"{seconds:.0f} s, Dir-AUC-PR {100 * auc:.1f}, SHD {shd:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--columns", type=int, nargs="+", default=[50, 100])
    parser.add_argument("--first", type=int, default=5, help="number of the first draw")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=500.0, help="seconds for one fit")
    parser.add_argument("--device", default="cuda")
    asked = parser.parse_args()
    limited = concurrent.process(timeout=asked.timeout)(fitted)
    for columns in asked.columns:
        for peer in asked.peers:
            for draw in range(asked.first, asked.first + asked.draws):
                try:
                    found = limited(peer, columns, draw, asked.device).result()
                except TimeoutError:
                    found = f"no result in {asked.timeout:.0f} s"
                print(f"{peer}, {columns} columns, draw {draw}: {found}", flush=True)


if __name__ == "__main__":
    main()
