"""How true edge probabilities are: against the graphs, and against the exact posterior.

    OMP_NUM_THREADS=1 python benchmarks/calibration.py
    python benchmarks/calibration.py --jobs 16 --write answers.jsonl  # where nothing can be drawn
    python benchmarks/calibration.py --read answers.jsonl

Few rows leave much open: 8 nodes, 8 or 16 expected edges, 100 rows, mechanisms from the learner's
own class and others. Writes ``calibration.md`` and ``calibration.png`` beside this file.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from dpdag import DAGPosterior, ExactPosterior, datasets, metrics

HERE = Path(__file__).parent
DATA = {  # mechanism that makes the data, noise
    "GP": ("gp", "gaussian"),
    "additive GP": ("additive-gp", "gaussian"),
    "linear": ("linear", "gaussian"),
    "MLP": ("mlp", "gaussian"),
    "GP, Laplace noise": ("gp", "laplace"),
    "linear, Laplace noise": ("linear", "laplace"),
}
LEARNERS = ("auto", "gp", "network", "additive", "linear")
EDGE_PRIOR = 0.1  # of the exact posterior and of what is compared with it
BINS = 10
FEWEST = 5  # pairs of a bin that is drawn


class Answers(NamedTuple):
    """Probabilities of all pairs of all sets, and what is true."""

    edges: np.ndarray  # (pairs,) bool
    probabilities: np.ndarray  # (pairs,)
    exact: np.ndarray | None  # (pairs,)
    expected_shd: list[float]
    shd: list[float]


def answer(cell: tuple[str, str, int]) -> dict[str, Any]:
    """What one learner says of one set."""
    torch.set_num_threads(1)
    data, learner, index = cell
    mechanism, noise = DATA[data]
    off = ~np.eye(8, dtype=bool)
    truth = datasets.erdos_renyi(8, 8 if index % 2 else 16, random_state=1000 + index)
    X = datasets.simulate(
        truth,
        100,
        mechanism=mechanism,
        noise=datasets.Noise(noise, variance=(0.1, 0.3)),
        random_state=1000 + index,
    ).X
    model = DAGPosterior(
        mechanism=learner,
        edge_prior=None if learner == "auto" else EDGE_PRIOR,
        random_state=0,
        device="cpu",
        verbose=False,
    ).fit(X)
    exact = None
    if learner != "auto":
        known = ExactPosterior(mechanism=learner, edge_prior=EDGE_PRIOR, device="cpu").fit(X)
        exact = known.edge_probabilities_[off]
    return {
        "data": data,
        "learner": learner,
        "edges": (truth[off] != 0).tolist(),
        "probabilities": model.edge_probabilities_[off].tolist(),
        "exact": None if exact is None else exact.tolist(),
        "expected_shd": float(metrics.expected_shd(model.sample_dags(100, 0), truth)),
        "shd": float(metrics.shd(model.adjacency_, truth)),
    }


def joined(lines: list[dict[str, Any]], data: str, learner: str) -> Answers:
    """The answers of one learner on all sets of one kind."""
    own = [line for line in lines if (line["data"], line["learner"]) == (data, learner)]
    parts = {key: [line[key] for line in own] for key in Answers._fields}
    known = None if learner == "auto" else np.concatenate(parts["exact"])
    edges, probabilities = (np.concatenate(parts[key]) for key in ("edges", "probabilities"))
    return Answers(edges, probabilities, known, parts["expected_shd"], parts["shd"])


def curve(p: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean probability, frequency and number of pairs, bin by bin."""
    bin_of = np.minimum((p * BINS).astype(int), BINS - 1)
    number = np.bincount(bin_of, minlength=BINS)
    used = number > 0
    mean = np.bincount(bin_of, weights=p, minlength=BINS)[used] / number[used]
    frequency = np.bincount(bin_of, weights=edges, minlength=BINS)[used] / number[used]
    return mean, frequency, number[used]


def _enough(mean: np.ndarray, frequency: np.ndarray, number: np.ndarray) -> list[np.ndarray]:
    """Bins that hold enough pairs for a share."""
    return [part[number >= FEWEST] for part in (mean, frequency, number)]


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


def draw(found_by: dict[tuple[str, str], Answers]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.1 * len(DATA), 3.4), layout="constrained")
    for axes, data in zip(figure.subplots(1, len(DATA), sharey=True), DATA):
        axes.plot([0, 1], [0, 1], color="0.8", zorder=0)
        auto, exact = found_by[data, "auto"], found_by[data, "gp"]
        mean, frequency, number = _enough(*curve(auto.probabilities, auto.edges))
        error = np.sqrt(frequency * (1 - frequency) / number)
        axes.errorbar(mean, frequency, error, fmt="o-", ms=4, lw=1, label="DAGPosterior()")
        if exact.exact is not None:
            mean, frequency, _ = _enough(*curve(exact.exact, exact.edges))
            axes.plot(mean, frequency, "s--", ms=4, lw=1, label="exact, GP")
        axes.set(title=data, xlabel="stated probability", xlim=(0, 1), ylim=(0, 1))
    figure.axes[0].set_ylabel("share that are edges")
    figure.axes[0].legend(frameon=False)
    figure.savefig(HERE / "calibration.png", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1, help="processes of one thread each")
    parser.add_argument("--write", type=Path, help="only measure, into this file")
    parser.add_argument("--read", type=Path, help="only make table and picture of this file")
    args = parser.parse_args()
    if args.read:
        answers = [json.loads(line) for line in args.read.read_text().splitlines()]
    else:
        cells = list(product(DATA, LEARNERS, range(args.sets)))
        with ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn")) as pool:
            answers = list(pool.map(answer, cells))
    if args.write:
        args.write.write_text("".join(json.dumps(line) + "\n" for line in answers))
        return
    sets = len(answers) // (len(DATA) * len(LEARNERS))
    found_by = {(d, m): joined(answers, d, m) for d in DATA for m in LEARNERS}
    lines = [row(d, m, found) for (d, m), found in found_by.items()]
    print("\n".join(lines))
    draw(found_by)
    head = [
        "# Calibration",
        "",
        f"{sets} sets each of 8 nodes, 100 rows, 8 or 16 expected edges. Brier score / mean",
        "gap between stated probability and frequency (ten bins), of `DAGPosterior(mechanism=…)`",
        "and of `ExactPosterior` with the same functions; their distance, mean / 95 % quantile",
        "over pairs; expected SHD of sampled DAGs / SHD of the graph. Functions that are given go",
        f"with `edge_prior={EDGE_PRIOR}`. For Gaussian processes and networks the exact posterior",
        "averages kernels over a grid and takes noise for Gaussian; DAGPosterior optimises kernels",
        "and averages noise.",
        "Made by `python benchmarks/calibration.py`.",
        "",
        "| data | mechanism | DAGPosterior | exact | distance | expected SHD / SHD |",
        "|---|---|---|---|---|---|",
    ]
    (HERE / "calibration.md").write_text("\n".join([*head, *lines]) + "\n")


if __name__ == "__main__":
    main()
