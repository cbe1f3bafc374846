"""Searches on many halves of the rows: as one batch against one after the other.

    OMP_NUM_THREADS=1 python benchmarks/replicas.py

Both in the same run, so that the ratio does not depend on how busy a machine is. Each search
starts from the true graph, as the check of a fit does. Prints a table.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor

from dpdag import Knowledge, datasets
from dpdag.evidence.transforms import standardise
from dpdag.learners.families import INTEGRATED, Resources
from dpdag.learners.integrated import Found, Task, find_again


def problem(nodes: int, rows: int, replicas: int) -> tuple[Tensor, Tensor, Tensor]:
    """Columns, the rows of every half, and the true graph."""
    truth = datasets.erdos_renyi(nodes, 2 * nodes, random_state=7)
    data = datasets.simulate(truth, rows, mechanism="gp", random_state=7)
    x, _ = standardise(torch.as_tensor(data.X, dtype=torch.float64))
    generator = torch.Generator().manual_seed(0)
    halves = [torch.randperm(rows, generator=generator)[: rows // 2] for _ in range(replicas)]
    return x, torch.stack(halves), torch.as_tensor(truth).bool()


def timed(call: Callable[[], list[Found]]) -> tuple[float, list[Found]]:
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[10, 20])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--replicas", type=int, nargs="+", default=[3, 10])
    parser.add_argument("--mechanisms", nargs="+", default=list(INTEGRATED))
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    print(f"{args.rows} rows, device {args.device}, {torch.get_num_threads()} threads\n")
    print("| mechanism | nodes | halves | one by one, s | one batch, s | ratio | same graphs |")
    print("|---|---|---|---|---|---|---|")
    for nodes in args.nodes:
        for replicas in args.replicas:
            x, halves, truth = problem(nodes, args.rows, replicas)
            for mechanism in args.mechanisms:
                resources = Resources(args.device).settled(nodes)
                task = Task(mechanism, Knowledge().resolve(nodes), 0.1, resources)
                find_again(x, halves[:1], task, start=truth)  # warm up
                loop, single = timed(
                    lambda: [
                        find_again(x, rows[None], task, start=truth)[0]  # noqa: B023
                        for rows in halves  # noqa: B023
                    ]
                )
                batch, together = timed(
                    lambda: find_again(x, halves, task, start=truth)  # noqa: B023
                )
                same = sum(
                    torch.equal(a.graph.adjacency, b.graph.adjacency)
                    for a, b in zip(single, together)
                )
                print(
                    f"| {mechanism} | {nodes} | {replicas} | {loop:.2f} | {batch:.2f} | "
                    f"{loop / batch:.2f} | {same} of {replicas} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
