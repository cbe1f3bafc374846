"""The baselines beside other implementations of the same methods, and beside the paper.

    OMP_NUM_THREADS=1 python benchmarks/baselines.py run --jobs 2 --out runs.jsonl
    python benchmarks/baselines.py table --ours runs.jsonl --peers baseline_peers.jsonl

``run`` fits every method on the files of the benchmark (folder DPDAG_DATA), a process per fit and
a thread per process, and appends a line per fit; what is there already is skipped. The peers'
file is made by ``baseline_peers.py`` in an environment of its own. ``table`` writes baselines.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from dpdag import (
    DAGGNN,
    DAGNF,
    NOTEARS,
    Correlation,
    GraNDAG,
    GroundTruthDAG,
    MaskedDAG,
    NotConvergedWarning,
    SortRegress,
    datasets,
    metrics,
)

LEARNERS: dict[str, Callable[[], Any]] = {
    "GraN-DAG": lambda: GraNDAG(random_state=0),
    "Masked-DAG": lambda: MaskedDAG(random_state=0),
    "DAG-GNN": lambda: DAGGNN(random_state=0),
    "DAG-NF": lambda: DAGNF(random_state=0),
    "NOTEARS-MLP": lambda: NOTEARS(mechanism="mlp", random_state=0),
    "NOTEARS": lambda: NOTEARS(random_state=0),
    "GraN-DAG*": lambda: GraNDAG(random_state=0, pns="trees", prune=True),
    "Masked-DAG*": lambda: MaskedDAG(random_state=0, pns="trees", prune=True),
    "sort by R²": lambda: SortRegress(by="r2"),
    "sort by variance": lambda: SortRegress(by="variance"),
    "random order": lambda: SortRegress(by="random", random_state=0),
    "correlation": lambda: Correlation(random_state=0),
}
SETS = {"ER-10-10": 10, "ER-10-40": 10, "SF-10-10": 10, "SynTReN": 10, "Sachs": 1}
# What a peer is compared with.
PEERS = {
    "gCastle GraNDAG": "GraN-DAG",
    "gCastle MCSL": "Masked-DAG",
    "gCastle DAG_GNN": "DAG-GNN",
    "gCastle NotearsNonlinear": "NOTEARS-MLP",
    "gCastle Notears": "NOTEARS",
    "dagma DagmaNonlinear": "NOTEARS-MLP",
    "dagma DagmaLinear": "NOTEARS",
}
AUCS = ("Un-AUC-PR", "Un-AUC-ROC", "Dir-AUC-PR", "Dir-AUC-ROC")
TABLES = Path(__file__).parents[1].parent / "shared" / "paper" / "tables.json"


def fit(job: tuple[str, str, int]) -> dict[str, Any]:
    """One learner on one data set: ranking, graph, error on held-out rows, seconds and steps."""
    name, kind, index = job
    torch.set_num_threads(1)
    data = datasets.load(kind, index, source="original")
    train, validation, test = data.split(seed=0)
    learner = LEARNERS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        start = time.perf_counter()
        learner.fit(data.X)
        seconds = time.perf_counter() - start
        found: dict[str, Any] = {
            "method": name,
            "dataset": kind,
            "index": index,
            "seconds": seconds,
            "epochs": len(learner.history_),
            "steps": len(learner.history_) * -(-round(0.9 * len(data.X)) // 64),
            "converged": bool(getattr(learner, "converged_", True)),
            "edges": int(learner.adjacency_.sum()),
            "shd": int(metrics.shd(data.adjacency, learner.adjacency_)),
            **metrics.edge_auc(learner.edge_scores_, data.adjacency),
        }
        if name in ("GraN-DAG", "Masked-DAG"):
            known = np.concatenate([train, validation])
            fitted = LEARNERS[name]().fit(known)
            found["mse"] = float(np.square(fitted.predict(test) - test).mean())
    return found


def ground_truth(kind: str) -> list[float]:
    """Held-out error of networks on the true graph, for every data set of a kind."""
    errors = []
    for index in range(SETS[kind]):
        data = datasets.load(kind, index, source="original")
        train, validation, test = data.split(seed=0)
        model = GroundTruthDAG(data.adjacency, random_state=0)
        model.fit(np.concatenate([train, validation]))
        errors.append(float(np.square(model.predict(test) - test).mean()))
    return errors


def run(out: Path, jobs: int, kinds: list[str], names: list[str]) -> None:
    """Fit what is not in ``out`` yet."""
    done = {(row["method"], row["dataset"], row["index"]) for row in rows(out)}
    wanted = [(n, k, i) for k in kinds for i in range(SETS[k]) for n in names]
    left = [job for job in wanted if job not in done]
    with ProcessPoolExecutor(jobs) as pool, out.open("a") as file:
        for found in pool.map(fit, left):
            file.write(json.dumps(found) + "\n")
            file.flush()
            print(found["method"], found["dataset"], found["index"], f"{found['seconds']:.1f} s")


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file of results; none where there is no file."""
    if path.is_file():
        yield from map(json.loads, path.read_text().splitlines())


def spread(values: Any, digits: int = 1) -> str:
    """Mean ± standard error."""
    values = np.asarray(values, dtype=float)
    if not len(values):
        return "–"
    error = f" ± {values.std(ddof=1) / len(values) ** 0.5:.{digits}f}" if len(values) > 1 else ""
    return f"{values.mean():.{digits}f}{error}"


def peer_table(ours: pd.DataFrame, peers: list[dict[str, Any]]) -> Iterator[str]:
    """Both implementations of each method on the same sets."""
    yield "| | data | Un-AUC-PR | Un-AUC-ROC | Dir-AUC-PR | Dir-AUC-ROC | seconds | ms a step |"
    yield "|---|---|---|---|---|---|---|---|"
    table = pd.DataFrame([_scored(row) for row in peers])
    for kind, count in (("ER-10-10", 5), ("Sachs", 1)):
        mine = ours[(ours.dataset == kind) & (ours["index"] < count)]
        theirs = table[table.dataset == kind]
        for method in dict.fromkeys(PEERS.values()):
            own = mine[mine.method == method]
            yield _peer_row(f"**{method}, dpdag**", kind, own)
            for peer in (peer for peer, of in PEERS.items() if of == method):
                yield _peer_row(peer, kind, theirs[theirs.method == peer])


def _scored(row: dict[str, Any]) -> dict[str, Any]:
    data = datasets.load(row["dataset"], row["index"], source="original")
    weights = np.abs(np.asarray(row["weights"], dtype=float))
    return {**row, **metrics.edge_auc(weights, data.adjacency)}


def _peer_row(name: str, kind: str, found: pd.DataFrame) -> str:
    cells = [spread(100 * found[auc]) for auc in AUCS]
    pace = spread(1000 * found.seconds / found.steps, 2)
    return f"| {name} | {kind} | {' | '.join(cells)} | {spread(found.seconds)} | {pace} |"


def paper_table(ours: pd.DataFrame, paper: dict[str, Any]) -> Iterator[str]:
    """Ours beside the paper's rows."""
    yield "| data | method | Un-AUC-PR | Dir-AUC-PR | paper: Un-AUC-PR | paper: Dir-AUC-PR | SHD |"
    yield "|---|---|---|---|---|---|---|"
    for kind in SETS:
        for method in LEARNERS:
            own = ours[(ours.dataset == kind) & (ours.method == method)]
            known = paper["structure_processed" if "*" in method else "structure"]
            cells = known.get(kind, {}).get(method)
            theirs = [
                "–" if cells is None else f"{cells[auc]['mean']:.1f} ± {cells[auc]['sem']:.1f}"
                for auc in ("Un-AUC-PR", "Dir-AUC-PR")
            ]
            mine = [spread(100 * own[auc]) for auc in ("Un-AUC-PR", "Dir-AUC-PR")]
            shd = spread(own.shd)
            yield f"| {kind} | {method} | {' | '.join(mine)} | {' | '.join(theirs)} | {shd} |"


def error_table(ours: pd.DataFrame, paper: dict[str, Any]) -> Iterator[str]:
    """Held-out squared error of the functions."""
    yield "| data | method | test error | paper |"
    yield "|---|---|---|---|"
    for kind in SETS:
        own = {
            method: ours[(ours.dataset == kind) & (ours.method == method)].mse
            for method in ("GraN-DAG", "Masked-DAG")
        }
        for method, errors in {**own, "GT-DAG*": ground_truth(kind)}.items():
            cell = paper["mechanism_mse"][kind][method]
            yield f"| {kind} | {method} | {spread(errors, 2)} | {cell['mean']} ± {cell['sem']} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("--out", type=Path, default=Path("runs.jsonl"))
    parser.add_argument("--ours", type=Path, default=Path("runs.jsonl"))
    parser.add_argument("--peers", type=Path, default=Path("baseline_peers.jsonl"))
    parser.add_argument("--paper", type=Path, default=TABLES)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--datasets", nargs="+", default=list(SETS))
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS))
    asked = parser.parse_args()
    if asked.what == "run":
        run(asked.out, asked.jobs, asked.datasets, asked.learners)
        return
    ours, paper = pd.DataFrame(rows(asked.ours)), json.loads(asked.paper.read_text())
    machine = f"{platform.machine()}, {os.cpu_count()} cores, torch {torch.__version__}"
    print(f"<!-- tables: {machine} -->\n")
    for title, lines in (
        ("Beside other implementations", peer_table(ours, list(rows(asked.peers)))),
        ("Beside the paper", paper_table(ours, paper)),
        ("Functions", error_table(ours, paper)),
    ):
        print(f"## {title}\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
