"""Directions that experiments settle: DAGPosterior beside GIES and UT-IGSP on the same draws.

Linear Gaussian tables with as many edges as columns, of which observation alone leaves many open:
ROWS observed rows, and EACH rows for every target, in which its column is drawn from N(0, 1)
whatever its causes. The peers need an environment of their own:

    python benchmarks/interventions.py draw FOLDER
    python benchmarks/interventions.py fit FOLDER --methods DAGPosterior "DAGPosterior, lines"
    python3 -m venv peers && peers/bin/pip install gies causaldag graphical_model_learning
    peers/bin/python benchmarks/interventions.py fit FOLDER --methods GIES UT-IGSP
    python benchmarks/interventions.py report FOLDER --table FILE.md --figure FILE.png

Every fit is one JSON line; fits that are in the file are skipped. UT-IGSP is told the targets and
run at three levels; the table has the one that is best over all draws. DAGs are judged by their
class, as the answers of GIES are: a direction that the experiments leave open is half right.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROWS, EACH = 500, 100
DRAWS = {10: 10, 20: 5}
TARGETS = {10: (0, 1, 2, 5, 10), 20: (0, 2, 5, 10, 20)}
LEVELS = (1e-2, 1e-3, 1e-5)
Graph = np.ndarray  # (n, n) 0/1, i -> j; both ways where a direction is open


def draw(folder: Path) -> None:
    """Write every table once, with the targets in the order in which they are added."""
    from dpdag import datasets

    for n in TARGETS:
        for index in range(DRAWS[n]):
            truth = datasets.erdos_renyi(n, n, random_state=index)
            order = np.random.default_rng(index).permutation(n)
            data = datasets.simulate(
                truth,
                ROWS,
                mechanism="linear",
                noise=datasets.Noise(variance=(0.5, 1.0)),
                root_noise=datasets.Noise(variance=(0.5, 1.0)),
                do=[{}, *({int(k): None} for k in order)],
                random_state=index,
            )
            X = data.X.reshape(n + 1, ROWS, n)
            np.savez(
                folder / f"{n}-{index}.npz",
                seen=X[0],
                done=X[1:, :EACH],
                truth=truth,
                order=order,
            )


def posterior(seen: Any, done: Any, targets: list[int], **settings: Any) -> Graph:
    """The graph of DAGPosterior."""
    from dpdag import DAGPosterior

    X = np.concatenate([seen, *done])
    names = [None] * len(seen) + [target for target, rows in zip(targets, done) for _ in rows]
    learner = DAGPosterior(random_state=0, verbose=False, device="cpu", **settings)
    return learner.fit(X, interventions=names).adjacency_


def gies(seen: Any, done: Any, targets: list[int]) -> Graph:
    """The interventional essential graph of GIES with its BIC score."""
    import gies as package

    graph, _ = package.fit_bic([seen, *done], [[], *([target] for target in targets)])
    return graph != 0


def ut_igsp(seen: Any, done: Any, targets: list[int], *, level: float) -> Graph:
    """The DAG of UT-IGSP with tests of partial correlation and of Gaussian invariance."""
    import conditional_independence as ci
    from graphical_model_learning import unknown_target_igsp

    np.random.seed(0)  # noqa: NPY002 (the package draws from it)
    independence = ci.MemoizedCI_Tester(
        ci.partial_correlation_test, ci.partial_correlation_suffstat(seen), alpha=level
    )
    invariance = ci.MemoizedInvarianceTester(
        ci.gauss_invariance_test, ci.gauss_invariance_suffstat(seen, list(done)), alpha=level
    )
    known = [{"known_interventions": [target]} for target in targets]
    nodes = set(range(seen.shape[1]))
    dag, _ = unknown_target_igsp(known, nodes, independence, invariance)
    return dag.to_amat()[0] != 0


METHODS: dict[str, dict[str, Callable[..., Graph]]] = {
    "DAGPosterior": {"DAGPosterior": posterior},
    "DAGPosterior, lines": {
        "DAGPosterior, lines": lambda *given: posterior(*given, mechanism="linear")
    },
    "GIES": {"GIES": gies},
    "UT-IGSP": {
        f"UT-IGSP, {level:g}": (lambda *given, level=level: ut_igsp(*given, level=level))
        for level in LEVELS
    },
}


def fit(folder: Path, methods: list[str], columns: list[int]) -> None:
    """Fit what is not in the file yet."""
    file = folder / "fits.jsonl"
    lines = file.read_text().splitlines() if file.is_file() else []
    there = {
        tuple(json.loads(line)[key] for key in ("method", "n", "index", "k")) for line in lines
    }
    every = {name: own for method in methods for name, own in METHODS[method].items()}
    for n in columns:
        for index, k in ((index, k) for index in range(DRAWS[n]) for k in TARGETS[n]):
            data = np.load(folder / f"{n}-{index}.npz")
            targets = data["order"][:k].tolist()
            for name, method in every.items():
                if (name, n, index, k) in there:
                    continue
                start = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    graph = method(data["seen"], list(data["done"][:k]), targets)
                found = {
                    "method": name,
                    "n": n,
                    "index": index,
                    "k": k,
                    "seconds": round(time.perf_counter() - start, 2),
                    "edges": np.argwhere(graph).tolist(),
                }
                with file.open("a") as stream:
                    stream.write(json.dumps(found) + "\n")


def judged(edges: list[list[int]], truth: Graph, targets: list[int]) -> dict[str, float]:
    """Measures of a graph; an edge whose direction its class leaves open is half right."""
    graph = np.zeros(truth.shape, dtype=bool)
    for i, j in edges:
        graph[i, j] = True
    graph = graph if (graph & graph.T).any() else essential(graph, targets)
    share = graph / np.maximum(graph * 1.0 + graph.T, 1)  # 1, or 1/2 where both ways
    linked = (graph | graph.T) & (truth == 1)
    right = (share * truth).sum()
    missed = np.abs(share - truth)
    return {
        "directed": right / max(linked.sum(), 1),
        "F1": 2 * right / (share.sum() + truth.sum()),
        "SHD": np.triu(np.maximum(missed, missed.T)).sum(),
    }


def essential(dag: Graph, targets: list[int]) -> Graph:
    """The graph of all DAGs that rows with single targets cannot tell apart: open edges both ways.

    Directed are colliders, edges with an end that was set, and what follows by Meek's rules.
    """
    nodes = range(len(dag))
    linked = dag | dag.T
    known = np.zeros_like(dag)
    known[targets] = dag[targets]
    known[:, targets] = dag[:, targets]
    for k in nodes:
        for i, j in ((i, j) for i in np.flatnonzero(dag[:, k]) for j in np.flatnonzero(dag[:, k])):
            if i != j and not linked[i, j]:
                known[i, k] = known[j, k] = True
    while True:
        before = known.sum()
        for a, b in np.argwhere(linked & ~known & ~known.T):
            away = any(known[c, a] and not linked[c, b] for c in nodes if c != b)
            around = any(known[a, c] and known[c, b] for c in nodes)
            free = [c for c in np.flatnonzero(known[:, b]) if linked[a, c]]
            kite = any(not linked[c, d] for c in free for d in free if c != d)
            known[a, b] |= away or around or kite
        if known.sum() == before:
            return known | (linked & ~known.T)


def report(folder: Path, table: Path, figure: Path) -> None:
    """Means over draws, as a table and a figure."""
    import pandas as pd

    rows = []
    for line in (folder / "fits.jsonl").read_text().splitlines():
        own = json.loads(line)
        data = np.load(folder / f"{own['n']}-{own['index']}.npz")
        targets = data["order"][: own["k"]].tolist()
        rows.append({**own, **judged(own["edges"], data["truth"], targets)})
    frame = pd.DataFrame(rows)
    tried = frame[frame["method"].str.startswith("UT-IGSP")]
    best = tried.groupby("method")["F1"].mean().idxmax()
    frame = frame[~frame["method"].isin(set(tried["method"]) - {best})]
    frame = frame.groupby(["n", "index", "k"]).filter(_by_all(frame))
    means = frame.groupby(["n", "k", "method"])[["directed", "F1", "SHD", "seconds"]]
    counts = means.size()
    mean, error = means.mean(), means.std().div(np.sqrt(counts), axis=0)
    table.write_text(_markdown(mean, counts))
    _draw(mean, error, figure)


def _by_all(frame: Any) -> Callable[[Any], bool]:
    """Whether a draw was fitted by all methods that were asked for its number of columns."""
    methods = frame.groupby("n")["method"].agg(set)
    return lambda own: set(own["method"]) == methods[own["n"].iloc[0]]


def _markdown(mean: Any, counts: Any) -> str:
    lines = [
        "| columns | targets | method | directed right (%) | F1 (%) | SHD | seconds | draws |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (n, k, method), own in mean.iterrows():
        lines.append(
            f"| {n} | {k} | {method} | {100 * own['directed']:.1f} | {100 * own['F1']:.1f} | "
            f"{own['SHD']:.1f} | {own['seconds']:.1f} | {counts[n, k, method]} |"
        )
    return "\n".join(lines) + "\n"


def _draw(mean: Any, error: Any, figure: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    sizes = mean.index.get_level_values("n").unique()
    methods = mean.index.get_level_values("method").unique()
    titles = {"directed": "true edges found that point right", "F1": "F1 of directed edges"}
    fig, axes = plt.subplots(
        len(titles), len(sizes), figsize=(4.6 * len(sizes), 6.4), sharey="row", squeeze=False
    )
    for column, n in enumerate(sizes):
        for row, (measure, title) in enumerate(titles.items()):
            ax = axes[row, column]
            for number, method in enumerate(methods):
                own = mean.xs((n, method), level=("n", "method"))[measure]
                bars = error.xs((n, method), level=("n", "method"))[measure]
                ax.errorbar(
                    own.index, own, bars, marker="osD^v"[number], capsize=2, label=method, lw=1.5
                )
            ax.set(xlabel="columns that were set" if row else "", ylabel="" if column else title)
            ax.set_title("" if row else f"{n} columns")
            ax.grid(alpha=0.3)
    axes[0, 0].legend(frameon=False, loc="lower right")
    fig.tight_layout()
    fig.savefig(figure, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("draw", "fit", "report"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--columns", nargs="+", type=int, default=list(TARGETS))
    parser.add_argument("--table", type=Path)
    parser.add_argument("--figure", type=Path)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    if asked.step == "draw":
        draw(asked.folder)
    elif asked.step == "fit":
        fit(asked.folder, asked.methods, asked.columns)
    else:
        report(asked.folder, asked.table, asked.figure)
