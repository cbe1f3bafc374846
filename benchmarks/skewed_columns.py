"""What DAGPosterior makes of single columns that are strongly skewed, by measurement or by nature.

    OMP_NUM_THREADS=1 python benchmarks/skewed_columns.py
    python benchmarks/skewed_columns.py --only linear counts --verbose

Graphs of 7 nodes and 9 edges, 500 rows, as simulated and with one to three columns exchanged for
monotone functions of themselves; then small cases where skewness comes from a cause, a mechanism,
noise or the way an effect is measured. Each with columns left alone and transformed where the
evidence says so; writes ``skewed_columns.md`` beside this file.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
import torch

from dpdag import DAGPosterior, datasets, metrics
from dpdag.evidence.mixture import FUNCTIONS

ROWS = 500
MECHANISMS = ("gp", "additive-gp", "mlp", "linear")
BENT = (
    lambda u: np.exp(2 * u),
    lambda u: np.exp(3 * u),
    lambda u: -np.exp(-2 * u),
    lambda u: u**3 + 0.1 * u,
)
SMALL = (
    "measured as exp",
    "growth",
    "counts",
    "income",
    "log-normal cause",
    "log-normal noise",
    "exponential noise",
    "exponential effect",
    "square",
    "product",
)


class Case(NamedTuple):
    """A table and its graph."""

    X: np.ndarray  # (rows, n)
    truth: np.ndarray  # (n, n)


def graph(mechanism: str, index: int, *, skewed: bool) -> Case:
    data = datasets.simulate(
        datasets.erdos_renyi(7, 9, random_state=index),
        ROWS,
        mechanism=mechanism,
        noise=datasets.Noise(variance=(0.1, 0.3)),
        random_state=index,
    )
    rng = np.random.default_rng(index)
    X = data.X.copy()
    for column in np.sort(rng.choice(7, rng.integers(1, 4), replace=False)) if skewed else []:
        bend = BENT[rng.integers(len(BENT))]
        X[:, column] = bend((X[:, column] - X[:, column].mean()) / X[:, column].std())
    return Case(X, data.adjacency)


def small(kind: str, index: int) -> Case:
    """cause → effect → last, and for some effects a second cause."""
    rng = np.random.default_rng(index)
    a, b, *noise = rng.normal(size=(4, ROWS))
    cause = np.exp(a) if kind == "log-normal cause" else a
    effect = {
        "measured as exp": np.exp(3 * (np.sin(2 * a) + 0.3 * noise[0])),
        "growth": np.exp(a + b + 0.5 * noise[0]),
        "counts": rng.poisson(np.exp(1.2 * np.tanh(2 * a) + 0.8 * b + 1.5)).astype(float),
        "income": np.exp(0.6 * a + 0.5 * b + 0.6 * noise[0]),
        "log-normal cause": 2 * cause + 2 * noise[0],
        "log-normal noise": 2 * a + np.exp(1.2 * noise[0]),
        "exponential noise": a + b + rng.exponential(2.0, ROWS),
        "exponential effect": np.exp(1.5 * a) + 0.3 * noise[0],
        "square": a**2 + 0.5 * b + 0.3 * noise[0],
        "product": np.exp(a) * b + 0.3 * noise[0],
    }[kind]
    seen = np.log1p(effect) if kind in ("income", "counts") else np.tanh(effect / effect.std())
    alone = ("measured as exp", "log-normal cause", "log-normal noise", "exponential effect")
    truth = np.zeros((4, 4), dtype=int)
    truth[2, 1] = truth[1, 0] = 1
    truth[3, 1] = kind not in alone
    return Case(np.stack([seen + 0.3 * noise[1], effect, cause, b], axis=1), truth)


def cases(sets: int) -> Iterator[tuple[str, int, Case]]:
    for mechanism in MECHANISMS:
        for skewed in (False, True):
            for index in range(sets):
                name = mechanism + (", skewed" if skewed else "")
                yield name, index, graph(mechanism, index, skewed=skewed)
    for kind in SMALL:
        for index in range(sets):
            yield kind, index, small(kind, index)


def measure(case: Case, *, transformed: bool) -> tuple[list[float], str]:
    """Scores of one fit, and the transformations of its columns."""
    mechanism = "auto" if transformed else FUNCTIONS  # the same functions on columns as they are
    start = process_time()
    model = DAGPosterior(mechanism=mechanism, random_state=0, device="cpu", verbose=False)
    model.fit(case.X)
    seconds = process_time() - start
    score = 100 * metrics.edge_auc(model.edge_scores_, case.truth)["Dir-AUC-PR"]
    turned = (case.truth.T == 1) & (model.edge_probabilities_ > 0.95)
    distance = metrics.shd(model.adjacency_, case.truth)
    kinds = ", ".join(own["transformation"] for own in model.choice_)
    return [score, distance, turned.sum(), seconds], kinds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=5)
    parser.add_argument("--only", nargs="*", help="what names of data begin with")
    parser.add_argument("--verbose", action="store_true", help="print every fit")
    options = parser.parse_args()
    torch.set_num_threads(1)
    cells: dict[str, list[list[list[float]]]] = {}
    for name, index, case in cases(options.sets):
        if options.only and not name.startswith(tuple(options.only)):
            continue
        before, after = (measure(case, transformed=one) for one in (False, True))
        cells.setdefault(name, []).append([before[0], after[0]])
        if options.verbose:
            print(name, index, *before, *after, sep=" | ", flush=True)
    lines = [
        "| data | Dir-AUC-PR | SHD | turned, surely | CPU seconds |",
        "|---|---|---|---|---|",
    ]
    for name, values in cells.items():
        pairs = np.mean(values, axis=0).T  # (scores, before and after)
        texts = [f"{before:.1f} → {after:.1f}" for before, after in pairs]
        lines.append(f"| {name} | " + " | ".join(texts) + " |")
    print("\n".join(lines))
    if not options.only:
        Path(__file__).with_suffix(".md").write_text(
            "# Skewed columns\n\n"
            f"Means over {options.sets} sets, `DAGPosterior()`, one CPU thread: columns left alone "
            "→ transformed where the evidence says so. Turned, surely: edges found in the wrong "
            "direction with a probability above 0.95. Made by "
            "`python benchmarks/skewed_columns.py`.\n\n" + "\n".join(lines) + "\n"
        )


if __name__ == "__main__":
    main()
