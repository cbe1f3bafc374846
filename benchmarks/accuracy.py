"""Accuracy of learners on the paper's data sets, as one table.

    OMP_NUM_THREADS=1 python benchmarks/accuracy.py                 # all that is missing
    python benchmarks/accuracy.py --learners CAM --datasets Sachs --again
    python benchmarks/accuracy.py --learners DAGPosterior --cores 2  # wall time on two cores

Every cell (learner, data set, index) is one line of ``accuracy.csv`` beside this file;
``accuracy.md`` is made from all lines. A new method is one line in ``LEARNERS``.

ER-10-10, ER-10-40, SF-10-10, SynTReN and Sachs are the benchmark's own files (read from
``DPDAG_DATA`` or downloaded); larger sets are generated, index 0 to 9.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
import torch

from dpdag import CAM, DAGPosterior, datasets, metrics

HERE = Path(__file__).parent
CELLS = HERE / "accuracy.csv"
TABLE = HERE / "accuracy.md"
KEY = ["learner", "dataset", "index"]
SCORES = ["Un-AUC-PR", "Un-AUC-ROC", "Dir-AUC-PR", "Dir-AUC-ROC"]

LEARNERS: dict[str, Callable[[], Any]] = {
    "CAM": lambda: CAM(random_state=0),
    "CAM, one search": lambda: CAM(n_bootstrap=0, random_state=0),
    "CAM, additions only": lambda: CAM(n_bootstrap=0, moves=("add",), random_state=0),
    "DAGPosterior": lambda: DAGPosterior(random_state=0, device="cpu", verbose=False),
    **{
        f"DAGPosterior, {mechanism}": partial(
            DAGPosterior, mechanism=mechanism, random_state=0, device="cpu", verbose=False
        )
        for mechanism in ("gp", "network", "additive", "linear")
    },
    "DAGPosterior, H200": lambda: DAGPosterior(random_state=0, device="cuda", verbose=False),
}
ORIGINAL = ["ER-10-10", "ER-10-40", "SF-10-10", "SynTReN", "Sachs"]
# Off the benchmark's model class: 20 nodes, 40 edges (dense: 80), 1000 rows.
OTHER: dict[str, tuple[str, str, str | None]] = {  # mechanism, noise, post-nonlinearity
    "additive GP": ("additive-gp", "gaussian", None),
    "MLP": ("mlp", "gaussian", None),
    "linear": ("linear", "gaussian", None),
    "linear, Laplace": ("linear", "laplace", None),
    "linear, Laplace, dense": ("linear", "laplace", None),
    "GP, Laplace": ("gp", "laplace", None),
    "linear, Gumbel": ("linear", "gumbel", None),
    "GP, exponential": ("gp", "gaussian", "exp"),
    "location-scale": ("location-scale", "gaussian", None),
    "products": ("products", "gaussian", None),
    "steps": ("steps", "gaussian", None),
}
GENERATED = ["ER-50-50", "ER-50-200", "SF-50-50", "SF-50-200", "ER-100-100", "ER-100-400"]
GENERATED += ["BA-50-50", "BA-50-200"]


class LocationScale:
    """Sums of sines, with noise of its own whose size follows the parents too."""

    def draw(self, parents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Values of a child: (rows, p) -> (rows,)."""
        x = (parents - parents.mean(0)) / parents.std(0)
        low, high = np.array([[0.5, 1.5], [0.0, 6.0], [-0.6, 0.6], [-0.5, 0.5]]).T[..., None]
        rate, phase, steep, lean = rng.uniform(low, high, (4, x.shape[1]))
        size = np.exp(np.clip((steep * x).sum(-1), -2, 2))
        return (np.sin(rate * x + phase) + lean * x).sum(-1) + 0.5 * size * rng.normal(size=len(x))


class Products:
    """Products of two parents each, in turn; a sine of what is left over."""

    def draw(self, parents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Values of a child: (rows, p) -> (rows,)."""
        x = (parents - parents.mean(0)) / parents.std(0)
        pairs = x.shape[1] // 2
        together = x[:, :pairs] * x[:, pairs : 2 * pairs]
        alone = np.sin(2 * x[:, 2 * pairs :])
        weight = rng.uniform(0.5, 1.5, pairs + alone.shape[1])
        return np.concatenate([together, alone], axis=1) @ weight


class Steps:
    """Sums of jumps, two for each parent."""

    def draw(self, parents: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Values of a child: (rows, p) -> (rows,)."""
        x = (parents - parents.mean(0)) / parents.std(0)
        place = rng.uniform(-1, 1, (2, x.shape[1]))
        height = rng.uniform(0.5, 1.5, place.shape) * rng.choice([-1, 1], place.shape)
        return (height * (x[:, None] > place)).sum((1, 2))


OWN = {"location-scale": LocationScale(), "products": Products(), "steps": Steps()}


def load(dataset: str, index: int) -> datasets.Dataset:
    if dataset in OTHER:
        mechanism, family, post = OTHER[dataset]
        return datasets.simulate(
            datasets.erdos_renyi(20, 80 if "dense" in dataset else 40, random_state=index),
            1000,
            mechanism=OWN.get(mechanism, mechanism),
            noise=datasets.Noise(family, variance=(0.1, 0.3)),
            post=post,
            random_state=index,
        )
    source = "original" if dataset in ORIGINAL else "generated"
    return datasets.load(dataset, index=index, source=source)


def measure(learner: str, dataset: str, index: int, cores: int = 1) -> dict[str, Any]:
    """Fit one learner on one data set; only the fit is timed.

    On one core in CPU seconds, on several and on a GPU in wall seconds.
    """
    data = load(dataset, index)
    on_gpu = learner.endswith("H200")
    clock = perf_counter if on_gpu or cores > 1 else process_time
    torch.set_num_threads(cores)
    start = clock()
    model = LEARNERS[learner]().fit(data.X)
    seconds = clock() - start
    scores = metrics.edge_auc(model.edge_scores_, data.adjacency)
    return {
        "learner": learner,
        "dataset": dataset,
        "index": index,
        **{name: round(float(scores[name]), 5) for name in SCORES},
        "SHD": int(metrics.shd(model.adjacency_, data.adjacency)),
        "edges": int(model.adjacency_.sum()),
        "true edges": int(np.sum(data.adjacency)),
        "seconds": round(seconds, 3),
        "cores": cores,
        **calibration(model, data.adjacency),
    }


def calibration(model: Any, truth: Any) -> dict[str, float]:
    """How well the edge probabilities, where there are such, fit the truth."""
    probabilities = getattr(model, "edge_probabilities_", None)
    if probabilities is None:
        return {}
    return {
        "Brier": round(metrics.brier(probabilities, truth), 5),
        "ECE": round(metrics.expected_calibration_error(probabilities, truth), 5),
        "expected SHD": round(metrics.expected_shd(model.sample_dags(100, 0), truth), 2),
    }


def known() -> pd.DataFrame:
    return pd.read_csv(CELLS) if CELLS.exists() else pd.DataFrame(columns=KEY)


def add(row: dict[str, Any]) -> None:
    """Put one cell in its place; other methods' cells are kept."""
    cells = pd.concat([known(), pd.DataFrame([row])]) if CELLS.exists() else pd.DataFrame([row])
    cells = cells.drop_duplicates(KEY, keep="last").sort_values(KEY)
    cells.to_csv(CELLS, index=False)


def table(cells: pd.DataFrame) -> str:
    """Markdown: mean ± standard error over data sets, in percent, beside the paper's CAM."""
    lines = [
        "# Accuracy",
        "",
        "AUCs in percent over all n² entries, mean ± standard error over the data sets; SHD of",
        "`adjacency_`; median (largest) seconds of one `fit`: CAM in CPU seconds on one thread of",
        "a shared 2-core machine; DAGPosterior in wall seconds on two cores of a 16-core machine,",
        "eight fits side by side; with functions that are given, in CPU seconds on one core of it,",
        "15 side by side; H200 in wall seconds, beside seven other fits on other cores.",
        "Made by `python benchmarks/accuracy.py`.",
        "10-node sets, SynTReN and Sachs (17 edges) are the benchmark's own; the others generated.",
        "",
        "| data | learner | sets | " + " | ".join(SCORES) + " | SHD | seconds |",
        "|" + "---|" * (len(SCORES) + 5),
    ]
    for dataset in [*ORIGINAL, *GENERATED, *OTHER]:
        for learner, group in cells[cells.dataset == dataset].groupby("learner", sort=True):
            values = [_spread(100 * group[name]) for name in SCORES]
            seconds = f"{group['seconds'].median():.2f} ({group['seconds'].max():.2f})"
            values += [_spread(group["SHD"]), seconds]
            lines.append(f"| {dataset} | {learner} | {len(group)} | " + " | ".join(values) + " |")
    return "\n".join(lines) + "\n"


def _spread(values: pd.Series) -> str:
    if len(values) == 1:
        return f"{values.iloc[0]:.1f}"
    return f"{values.mean():.1f} ± {values.std() / len(values) ** 0.5:.1f}"


def _settle(settled: Any, cores: int) -> None:
    """Keep a process to cores of its own, the next that no other has taken."""
    with settled.get_lock():
        first, settled.value = settled.value, settled.value + cores
    own = sorted(os.sched_getaffinity(0))[first : first + cores]
    os.sched_setaffinity(0, own or os.sched_getaffinity(0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cpu_learners = [name for name in LEARNERS if not name.endswith("H200")]
    parser.add_argument("--learners", nargs="*", default=cpu_learners)
    parser.add_argument("--datasets", nargs="*", default=[*ORIGINAL, *GENERATED, *OTHER])
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--cores", type=int, default=1, help="that each process has for itself")
    parser.add_argument("--again", action="store_true", help="measure known cells anew")
    options = parser.parse_args()
    cells = known()
    wanted = [
        (learner, dataset, index)
        for dataset in options.datasets
        for learner in options.learners
        for index in range(1 if dataset == "Sachs" else options.sets)
    ]
    done = set() if options.again else set(cells[KEY].itertuples(index=False, name=None))
    missing = [cell for cell in wanted if cell not in done]
    context = get_context("spawn")
    place = (context.Value("i", 0), options.cores)
    with ProcessPoolExecutor(options.jobs, context, initializer=_settle, initargs=place) as pool:
        waiting = [pool.submit(measure, *cell, cores=options.cores) for cell in missing]
        for future in as_completed(waiting):
            add(future.result())
            print(json.dumps(future.result()), flush=True)
    TABLE.write_text(table(known()))


if __name__ == "__main__":
    main()
