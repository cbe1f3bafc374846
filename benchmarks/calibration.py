"""How true edge probabilities are: against the graphs, and against the exact posterior.

    OMP_NUM_THREADS=1 python benchmarks/calibration.py

Few rows leave much open: 8 nodes, 8 or 16 expected edges, 100 rows, mechanisms from the learner's
own class and others. Writes ``calibration.md`` and ``calibration.png`` beside this file.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from matplotlib.figure import Figure

from dpdag import VIDPDAG, ExactPosterior, datasets, metrics

HERE = Path(__file__).parent
DATA = {  # mechanism that makes the data, noise
    "GP": ("gp", "gaussian"),
    "additive GP": ("additive-gp", "gaussian"),
    "linear": ("linear", "gaussian"),
    "MLP": ("mlp", "gaussian"),
    "GP, Laplace noise": ("gp", "laplace"),
    "linear, Laplace noise": ("linear", "laplace"),
}
LEARNERS = ("auto", "gp", "additive", "linear")
BINS = 10


class Answers(NamedTuple):
    """Probabilities of all pairs of all sets, and what is true."""

    edges: np.ndarray  # (pairs,) bool
    probabilities: np.ndarray  # (pairs,)
    exact: np.ndarray | None  # (pairs,)
    expected_shd: list[float]
    shd: list[float]


def answers(data: str, learner: str, count: int) -> Answers:
    torch.set_num_threads(1)
    mechanism, noise = DATA[data]
    off = ~np.eye(8, dtype=bool)
    edges, stated, exact, expected, shd = [], [], [], [], []
    for index in range(count):
        truth = datasets.erdos_renyi(8, 8 if index % 2 else 16, random_state=1000 + index)
        X = datasets.simulate(
            truth,
            100,
            mechanism=mechanism,
            noise=datasets.Noise(noise, variance=(0.1, 0.3)),
            random_state=1000 + index,
        ).X
        model = VIDPDAG(mechanism=learner, random_state=0, device="cpu", verbose=False).fit(X)
        edges.append(truth[off] != 0)
        stated.append(model.edge_probabilities_[off])
        if learner != "auto":
            posterior = ExactPosterior(mechanism=learner, device="cpu").fit(X)
            exact.append(posterior.edge_probabilities_[off])
        expected.append(metrics.expected_shd(model.sample_dags(100, 0), truth))
        shd.append(metrics.shd(model.adjacency_, truth))
    return Answers(
        np.concatenate(edges),
        np.concatenate(stated),
        np.concatenate(exact) if exact else None,
        expected,
        shd,
    )


def curve(p: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean probability, frequency and number of pairs, bin by bin."""
    bin_of = np.minimum((p * BINS).astype(int), BINS - 1)
    number = np.bincount(bin_of, minlength=BINS)
    used = number > 0
    mean = np.bincount(bin_of, weights=p, minlength=BINS)[used] / number[used]
    frequency = np.bincount(bin_of, weights=edges, minlength=BINS)[used] / number[used]
    return mean, frequency, number[used]


def row(data: str, learner: str, found: Answers) -> str:
    def fit(p: np.ndarray) -> str:
        mean, frequency, number = curve(p, found.edges)
        gap = np.sum(number * np.abs(mean - frequency)) / number.sum()
        return f"{np.mean((p - found.edges) ** 2):.3f} / {gap:.3f}"

    exact, distance = "–", "–"
    if found.exact is not None:
        exact = fit(found.exact)
        difference = np.abs(found.probabilities - found.exact)
        distance = f"{difference.mean():.3f} / {np.quantile(difference, 0.95):.2f}"
    return (
        f"| {data} | {learner} | {fit(found.probabilities)} | {exact} | {distance} | "
        f"{np.mean(found.expected_shd):.1f} / {np.mean(found.shd):.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1, help="processes of one thread each")
    args = parser.parse_args()
    cells = [(data, learner) for data in DATA for learner in LEARNERS]
    with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
        results = pool.map(answers, *zip(*cells, strict=True), [args.sets] * len(cells))
        found_by = dict(zip(cells, results, strict=True))
    lines = []
    figure = Figure(figsize=(3.1 * len(DATA), 3.4), layout="constrained")
    for axes, data in zip(figure.subplots(1, len(DATA), sharey=True), DATA):
        axes.plot([0, 1], [0, 1], color="0.8", zorder=0)
        for learner in LEARNERS:
            found = found_by[data, learner]
            lines.append(row(data, learner, found))
            print(lines[-1], flush=True)
            if learner == "auto":
                mean, frequency, number = curve(found.probabilities, found.edges)
                error = np.sqrt(frequency * (1 - frequency) / number)
                axes.errorbar(mean, frequency, error, fmt="o-", ms=4, lw=1, label="VIDPDAG()")
            if learner == "gp" and found.exact is not None:
                mean, frequency, _ = curve(found.exact, found.edges)
                axes.plot(mean, frequency, "s--", ms=4, lw=1, label="exact, GP")
        axes.set(title=data, xlabel="stated probability", xlim=(0, 1), ylim=(0, 1))
    figure.axes[0].set_ylabel("share that are edges")
    figure.axes[0].legend(frameon=False)
    figure.savefig(HERE / "calibration.png", dpi=150)
    head = [
        "# Calibration",
        "",
        f"{args.sets} sets each of 8 nodes, 100 rows, 8 or 16 expected edges. Brier score / mean",
        "gap between stated probability and frequency (ten bins), of `VIDPDAG(mechanism=…)` and of",
        "`ExactPosterior` with the same evidence; their distance, mean / 95 % quantile over pairs;",
        "expected SHD of sampled DAGs / SHD of the graph. For Gaussian processes the exact",
        "posterior takes kernel parameters from a grid, VIDPDAG optimises them.",
        "Made by `python benchmarks/calibration.py`.",
        "",
        "| data | mechanism | VIDPDAG | exact | distance | expected SHD / SHD |",
        "|---|---|---|---|---|---|",
    ]
    (HERE / "calibration.md").write_text("\n".join([*head, *lines]) + "\n")


if __name__ == "__main__":
    main()
