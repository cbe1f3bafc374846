"""Seconds of CAM, pruning and neighbour selection as the number of nodes grows.

    OMP_NUM_THREADS=1 python benchmarks/selection.py            # n = 10 … 500
    OMP_NUM_THREADS=1 python benchmarks/selection.py --nodes 10 50

Writes ``selection.md`` and ``selection.svg`` beside this file.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import matplotlib.pyplot as plt
import torch

from dpdag import CAM, datasets, selection

HERE = Path(__file__).parent


def timed(work: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """Best wall-clock and CPU seconds of some repetitions."""
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = perf_counter(), process_time()
        work()
        walls.append(perf_counter() - wall)
        cpus.append(process_time() - cpu)
    return min(walls), min(cpus)


def measure(n: int) -> dict[str, tuple[float, float]]:
    data = datasets.load(f"ER-{n}-{4 * n}")
    repeats = 3 if n <= 50 else 1
    steps = {
        "CAM, one search": lambda: CAM(n_bootstrap=0).fit(data.X),
        "pruning the true graph": lambda: selection.prune(data.X, data.adjacency),
        "PNS, additive": lambda: selection.neighbours(data.X, "additive"),
    }
    if n <= 100:
        steps["CAM"] = lambda: CAM(random_state=0).fit(data.X)
    CAM(n_bootstrap=0).fit(data.X[:50, :10])  # load every library before the clock starts
    return {name: timed(work, repeats) for name, work in steps.items()}


def write(results: dict[int, dict[str, tuple[float, float]]]) -> None:
    names = list(dict.fromkeys(name for row in results.values() for name in row))
    lines = [
        "# CAM, pruning and neighbour selection",
        "",
        "Seconds, wall clock (CPU time), on ER-n-4n with 1000 rows; best of three up to n = 50,",
        f"one run beyond. One thread of a shared 2-core machine ({platform.machine()}, torch",
        f"{torch.__version__.split('+')[0]}). The paper reports 14 s, 6 hours and more than 2 days",
        "for CAM at n = 10, 50 and 100. Made by `python benchmarks/selection.py`.",
        "",
        "| n | " + " | ".join(names) + " |",
        "|" + "---|" * (len(names) + 1),
    ]
    for n, row in results.items():
        cells = [f"{row[k][0]:.2f} ({row[k][1]:.2f})" if k in row else "" for k in names]
        lines.append(f"| {n} | " + " | ".join(cells) + " |")
    (HERE / "selection.md").write_text("\n".join(lines) + "\n\n![growth](selection.svg)\n")

    figure, axes = plt.subplots(figsize=(5, 3.5))
    for name in names:
        points = [(n, row[name][0]) for n, row in results.items() if name in row]
        axes.loglog(*zip(*points), marker="o", label=name)
    axes.set(xlabel="nodes", ylabel="seconds, one thread", title="ER-n-4n, 1000 rows")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(HERE / "selection.svg", metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="*", default=[10, 20, 50, 100, 200, 500])
    options = parser.parse_args()
    torch.set_num_threads(1)
    results = {}
    for n in options.nodes:
        results[n] = measure(n)
        print(n, {name: round(wall, 3) for name, (wall, _) in results[n].items()}, flush=True)
        write(results)


if __name__ == "__main__":
    main()
