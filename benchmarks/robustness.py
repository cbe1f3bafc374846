"""What DAGPosterior does where its assumptions fail: few or many rows, hidden causes, near copies.

    OMP_NUM_THREADS=1 python benchmarks/robustness.py

ER graphs of 12 nodes and 20 edges with GP mechanisms; writes ``robustness.md`` beside this file.
"""

from __future__ import annotations

from pathlib import Path
from time import process_time

import numpy as np
import torch

from dpdag import DAGPosterior, datasets, metrics

SETS = 3
Case = tuple[np.ndarray, np.ndarray]  # (rows, n), (n, n)


def rows(count: int, index: int) -> Case:
    data = datasets.benchmark("ER-12-20", 200 + index, rows=count)
    return data.X, data.adjacency


def hidden(count: int, index: int) -> Case:
    """The ``count`` nodes with most children are not observed."""
    X, adjacency = rows(1000, index)
    kept = np.sort(np.argsort(-adjacency.sum(1), kind="stable")[count:])
    return X[:, kept], adjacency[np.ix_(kept, kept)]


def copies(noise: float, index: int) -> Case:
    """One more column: the first one with a little noise."""
    X, adjacency = rows(1000, index)
    rng = np.random.default_rng(index)
    copy = X[:, :1] + noise * X[:, :1].std() * rng.normal(size=(len(X), 1))
    larger = np.zeros((13, 13), dtype=int)
    larger[:12, :12] = adjacency
    larger[0, 12] = 1
    return np.hstack([X, copy]), larger


CASES = {
    **{f"{count} rows": lambda k, c=count: rows(c, k) for count in (100, 300, 1000, 10_000)},
    **{f"{count} hidden common causes": lambda k, c=count: hidden(c, k) for count in (1, 2)},
    "a column copied, 5 % noise": lambda k: copies(0.05, k),
}


def main() -> None:
    torch.set_num_threads(1)
    lines = [
        "| case | Dir-AUC-PR | Un-AUC-PR | SHD | expected SHD | Brier | CPU seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, make in CASES.items():
        cells = []
        for index in range(SETS):
            X, truth = make(index)
            start = process_time()
            model = DAGPosterior(random_state=0, verbose=False).fit(X)
            seconds = process_time() - start
            auc = metrics.edge_auc(model.edge_scores_, truth)
            samples = model.sample_dags(100, random_state=0)
            cells.append(
                [
                    100 * auc["Dir-AUC-PR"],
                    100 * auc["Un-AUC-PR"],
                    metrics.shd(truth, model.adjacency_),
                    metrics.expected_shd(samples, truth),
                    metrics.brier(model.edge_probabilities_, truth),
                    seconds,
                ]
            )
        mean, spread = np.mean(cells, axis=0), np.std(cells, axis=0, ddof=1) / SETS**0.5
        formats = ("{:.1f}", "{:.1f}", "{:.1f}", "{:.1f}", "{:.3f}", "{:.0f}")
        texts = [
            f"{form.format(m)} ± {form.format(e)}" for form, m, e in zip(formats, mean, spread)
        ]
        lines.append(f"| {name} | " + " | ".join(texts) + " |")
        print(lines[-1], flush=True)
    Path(__file__).with_suffix(".md").write_text(
        "# Off the assumptions\n\n"
        f"ER-12-20, GP mechanisms, mean ± standard error over {SETS} sets, `DAGPosterior()`, one "
        "CPU thread. Made by `python benchmarks/robustness.py`. Exact copies of a column are "
        "refused.\n\n" + "\n".join(lines) + "\n"
    )


if __name__ == "__main__":
    main()
