"""Other people's methods for mixed columns on the tables of ``dpdag reproduce mixed-columns``.

Runs in an environment of its own with pgmpy (1.1.2 was used) and causal-learn: hill climbing by the
BIC of conditional Gaussians, and PC with a kernel test by random features (RCIT).

    python benchmarks/mixed_peers.py write TABLES            # with dpdag
    python benchmarks/mixed_peers.py run TABLES [SECONDS]    # with pgmpy and causal-learn
"""

from __future__ import annotations

import json
import signal
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

ROWS, SETS = (300, 1000), range(100, 105)


def write(folder: Path) -> None:
    """One CSV with typed names per table, and its true graph."""
    from dpdag.experiments.own.mixed_columns import mixed_table

    folder.mkdir(parents=True, exist_ok=True)
    for rows in ROWS:
        for index in SETS:
            data = mixed_table("", index, rows=rows)
            data.frame.to_csv(folder / f"{rows}-{index}.csv", index=False)
            np.savetxt(folder / f"{rows}-{index}.graph", data.adjacency, fmt="%d")


def typed(table: pd.DataFrame) -> pd.DataFrame:
    """Discrete columns as categories, counts as numbers."""
    kinds = {
        name: "category" for name in table if not str(name).startswith(("continuous", "count"))
    }
    return table.astype(kinds)


def hill_climb(table: pd.DataFrame) -> Any:
    from pgmpy.estimators import HillClimbSearch

    return HillClimbSearch(table).estimate(scoring_method="bic-cg", show_progress=False)


def pc(table: pd.DataFrame) -> Any:
    """With a kernel test by random features, of codes; pgmpy's Pillai's trace fails here."""
    from causallearn.search.ConstraintBased.PC import pc as search

    codes = table.astype(float).to_numpy()
    ends = search((codes - codes.mean(0)) / codes.std(0), 0.01, "rcit", show_progress=False).G.graph
    names = list(table)
    pairs = [(names[i], names[j], ends[i, j], ends[j, i]) for i, j in np.argwhere(ends == -1)]
    directed = [(a, b) for a, b, _, there in pairs if there == 1]
    undirected = [(a, b) for a, b, _, there in pairs if there == -1 and a < b]
    return SimpleNamespace(edges=list, directed_edges=directed, undirected_edges=undirected)


METHODS = {"BIC of conditional Gaussians": hill_climb, "PC, random kernel features": pc}


def run(folder: Path, seconds: int) -> None:
    """Edges right and turned, of all that were found; an undirected one is half of each."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, _stop)
    for file in sorted(folder.glob("*.csv")):
        table, truth = pd.read_csv(file), np.loadtxt(file.with_suffix(".graph"))
        for name, method in METHODS.items():
            start = time.perf_counter()
            signal.alarm(seconds)
            try:
                found = method(typed(table))
                facts = _judged(found, list(table), truth)
            except Exception as error:
                facts = {"failed": f"{type(error).__name__}: {error}"[:200]}
            finally:
                signal.alarm(0)
            facts |= {"table": file.stem, "method": name, "s": time.perf_counter() - start}
            print(json.dumps(facts), flush=True)


def _judged(found: Any, names: list[str], truth: np.ndarray) -> dict[str, float]:
    place = {name: k for k, name in enumerate(names)}
    score = np.zeros_like(truth)
    for a, b in getattr(found, "directed_edges", found.edges()):
        score[place[a], place[b]] = 1.0
    for a, b in getattr(found, "undirected_edges", ()):
        score[place[a], place[b]] = score[place[b], place[a]] = 0.5
    return {
        "edges": float(truth.sum()),
        "found": float(score.sum()),
        "right": float((score * truth).sum()),
        "turned": float((score * truth.T).sum()),
        "Dir-AUC-PR": 100 * _area(score, truth),
    }


def _area(score: np.ndarray, truth: np.ndarray) -> float:
    from sklearn.metrics import auc, precision_recall_curve

    off = ~np.eye(len(truth), dtype=bool)
    precision, recall, _ = precision_recall_curve(truth[off], score[off])
    return float(auc(recall, precision))


def _stop(*_: Any) -> None:
    raise TimeoutError("out of time")


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]))
    else:
        run(Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 120)
