"""The baselines beside other implementations of the same methods, and beside the paper.

    OMP_NUM_THREADS=1 python benchmarks/baselines.py single --out single.jsonl
    OMP_NUM_THREADS=1 python benchmarks/baselines.py batch --out batch.jsonl
    python benchmarks/baselines.py table --single single.jsonl --batch batch.jsonl \\
        --peers baseline_peers.jsonl

Data are the files of the benchmark (folder DPDAG_DATA). ``single`` fits one set at a time, one
thread, for times beside those of ``baseline_peers.py``, which runs in an environment of its own;
``batch`` fits all sets of one shape together, with a second fit on nine tenths of the rows for the
error on the rest. What is in the files already is skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
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
    Knowledge,
    MaskedDAG,
    NotConvergedWarning,
    SortRegress,
    datasets,
    fit_many,
    metrics,
)

LEARNERS: dict[str, Callable[[], Any]] = {
    "GraN-DAG": lambda: GraNDAG(random_state=0),
    "Masked-DAG": lambda: MaskedDAG(random_state=0),
    "DAG-GNN": lambda: DAGGNN(random_state=0),
    "DAG-NF": lambda: DAGNF(random_state=0),
    "NOTEARS-MLP": lambda: NOTEARS(mechanism="mlp", random_state=0),
    "NOTEARS": lambda: NOTEARS(random_state=0),
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
    "DAGMA MLP": "NOTEARS-MLP",
    "DAGMA linear": "NOTEARS",
}
# Networks and rows per step as gCastle has them, so that a step is the same work.
PEER_SHAPES: dict[str, dict[str, Any]] = {
    "GraN-DAG": {"hidden_units": 10},
    "Masked-DAG": {"n_layers": 5, "batch_size": None},
    "DAG-GNN": {"hidden_units": 64, "n_layers": 2, "batch_size": 100},
    "NOTEARS-MLP": {"batch_size": None},
    "NOTEARS": {"batch_size": None},
}
PEER_SETS = {"ER-10-10": 5, "Sachs": 1}
PREDICTING = ("GraN-DAG", "Masked-DAG")
AUCS = ("Un-AUC-PR", "Un-AUC-ROC", "Dir-AUC-PR", "Dir-AUC-ROC")
TABLES = Path(__file__).parents[1].parent / "shared" / "paper" / "tables.json"


def single(out: Path, names: list[str]) -> None:
    """The peers' sets, one fit after the other."""
    done = {(row["method"], row["dataset"], row["index"]) for row in rows(out)}
    for kind, count in PEER_SETS.items():
        for index, name in product(range(count), names):
            if (name, kind, index) in done:
                continue
            data = datasets.load(kind, index, source="original")
            learner = LEARNERS[name]()
            start = time.perf_counter()
            learner.fit(data.X)
            seconds = time.perf_counter() - start
            append(out, _judged(name, data, index, learner, seconds=seconds))


def pace(out: Path, names: list[str]) -> None:
    """CPU milliseconds of one training step of one fit: alone, and of ten fits as a batch."""
    tables = [datasets.load("ER-10-10", k, source="original").X for k in range(10)]
    x = torch.stack([torch.from_numpy((X - X.mean(0)) / X.std(0)) for X in tables])
    nothing_known = Knowledge().resolve(x.shape[-1])
    for name, count in product(names, (1, 10)):
        learner = LEARNERS[name]().set_params(**PEER_SHAPES[name], verbose=False, device="cpu")
        in_epoch = 1 if learner.batch_size is None else -(-900 // learner.batch_size)
        learner.set_params(max_epochs=300 // in_epoch)
        seconds = []
        for _ in range(3):
            start = time.process_time()
            learner._minimise(x[:count], list(range(count)), nothing_known)
            seconds.append(time.process_time() - start)
        taken = 1000 * float(np.median(seconds)) / (learner.max_epochs * in_epoch) / count
        append(out, {"method": name, "dataset": "ER-10-10", "index": -count, "pace": taken})


def batch(out: Path, names: list[str], kinds: list[str]) -> None:
    """All sets of all kinds; those of one shape train as one batch."""
    done = {(row["method"], row["dataset"]) for row in rows(out)}
    for name in names:
        left = [kind for kind in kinds if (name, kind) not in done]
        sets = [
            (datasets.load(kind, k, source="original"), k)
            for kind in left
            for k in range(SETS[kind])
        ]
        fits = fit_many([data.X for data, _ in sets], estimator=LEARNERS[name]())
        found = [_judged(name, data, k, fit.estimator) for (data, k), fit in zip(sets, fits)]
        if name in PREDICTING:
            parts = [data.split(seed=0) for data, _ in sets]
            tables = [np.concatenate([part.train, part.validation]) for part in parts]
            again = fit_many(tables, estimator=LEARNERS[name]())
            for row, fit, part in zip(found, again, parts):
                row["mse"] = float(np.square(fit.estimator.predict(part.test) - part.test).mean())
        for row in found:
            append(out, row)


def _judged(name: str, data: Any, index: int, learner: Any, **more: float) -> dict[str, Any]:
    return {
        "method": name,
        "dataset": data.name.split("[")[0],
        "index": index,
        "epochs": len(learner.history_),
        "converged": bool(getattr(learner, "converged_", True)),
        "edges": int(learner.adjacency_.sum()),
        "shd": int(metrics.shd(data.adjacency, learner.adjacency_)),
        **metrics.edge_auc(learner.edge_scores_, data.adjacency),
        **more,
    }


def append(path: Path, row: dict[str, Any]) -> None:
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")
    print(row["method"], row["dataset"], row["index"], row.get("seconds", ""), flush=True)


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
    for kind in PEER_SETS:
        mine = ours[ours.dataset == kind]
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
    fits, paces = found[found["index"] >= 0], found[found["index"] < 0]
    cells = [spread(100 * fits[auc]) for auc in AUCS]
    pace = "–"
    if len(paces):
        alone, batch = (paces[paces["index"] == -count].pace for count in (1, 10))
        pace = f"{spread(alone, 2)}, of ten as a batch {spread(batch, 2)}"
    elif name in PEERS:
        pace = spread(1000 * fits.seconds / fits.steps, 2)
    return f"| {name} | {kind} | {' | '.join(cells)} | {spread(fits.seconds)} | {pace} |"


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
    parser.add_argument("what", choices=["single", "batch", "table"])
    parser.add_argument("--out", type=Path, default=Path("runs.jsonl"))
    parser.add_argument("--single", type=Path, default=Path("single.jsonl"))
    parser.add_argument("--batch", type=Path, default=Path("batch.jsonl"))
    parser.add_argument("--peers", type=Path, default=Path("baseline_peers.jsonl"))
    parser.add_argument("--paper", type=Path, default=TABLES)
    parser.add_argument("--datasets", nargs="+", default=list(SETS))
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS))
    asked = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore", NotConvergedWarning)
    if asked.what == "single":
        names = [name for name in asked.learners if name in PEERS.values()]
        single(asked.out, names)
        pace(asked.out, names)
        return
    if asked.what == "batch":
        batch(asked.out, asked.learners, asked.datasets)
        return
    ours, paper = pd.DataFrame(rows(asked.batch)), json.loads(asked.paper.read_text())
    alone = pd.DataFrame(rows(asked.single))
    machine = f"{platform.machine()}, {os.cpu_count()} cores, torch {torch.__version__}"
    print(f"<!-- tables: {machine} -->\n")
    for title, lines in (
        ("Beside other implementations", peer_table(alone, list(rows(asked.peers)))),
        ("Beside the paper", paper_table(ours, paper)),
        ("Functions", error_table(ours, paper)),
    ):
        print(f"## {title}\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
