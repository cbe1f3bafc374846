"""Accuracy of VI-DP-DAG in the paper's configuration, beside the paper's own row.

    python benchmarks/vi_dp_dag.py [--device cuda] [--datasets ER-10-10 …] [--grid]

All sets of a data set train as one batch. Real sets where there are such (10 nodes, SynTReN,
Sachs), generated ones otherwise. Writes ``vi_dp_dag.md`` beside this file.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch

from dpdag import VIDPDAG, datasets, fit_many, metrics

HERE = Path(__file__).parent
REAL = ("ER-10-10", "ER-10-40", "SF-10-10", "SynTReN", "Sachs")
GENERATED = ("ER-50-50", "ER-50-200", "ER-100-100", "ER-100-400", "SF-50-50", "SF-50-200")
AUCS = ("Un-AUC-PR", "Un-AUC-ROC", "Dir-AUC-PR", "Dir-AUC-ROC")
# VI-DP-DAG in the paper's tables 1, 2 and 5: mean and standard error, AUCs in percent, test MSE.
PAPER: dict[str, tuple[tuple[float, float], ...]] = json.loads((HERE / "paper.json").read_text())


def load(name: str, index: int) -> datasets.Dataset:
    source = "original" if name in REAL and name != "Sachs" else "auto"
    return datasets.load(name, index, source=source)


def evaluate(name: str, count: int, *, grid: dict[str, Any], **overrides: Any) -> dict[str, Any]:
    """Scores (settings, sets, 5) of all fits of one data set and the seconds they took."""
    sets = [load(name, 0 if name == "Sachs" else k) for k in range(count)]
    splits = [data.split(seed=k) for k, data in enumerate(sets)]
    observed = [np.concatenate([s.train, s.validation]) for s in splits]
    start = perf_counter()
    template = VIDPDAG.paper(validation_fraction=1 / 9, **overrides)
    fits = fit_many(observed, grid=grid, estimator=template)
    seconds = perf_counter() - start
    scores: dict[str, list[list[float]]] = {}
    losses: dict[str, list[float]] = {}
    for fit in fits:
        truth, test = sets[fit.dataset].adjacency, splits[fit.dataset].test
        auc = metrics.edge_auc(fit.estimator.edge_scores_, truth)
        error = float(np.square(fit.estimator.predict(test) - test).mean())
        key = json.dumps(fit.settings)
        scores.setdefault(key, []).append([*(100 * auc[metric] for metric in AUCS), error])
        losses.setdefault(key, []).append(fit.estimator.validation_loss_)
    best = min(losses, key=lambda key: float(np.mean(losses[key])))
    return {"scores": scores, "losses": losses, "best": best, "seconds": seconds}


def row(label: str, values: list[list[float]]) -> str:
    table = np.array(values)
    mean, error = table.mean(0), table.std(0, ddof=1) / len(table) ** 0.5
    cells = [f"{m:.1f} ± {e:.1f}" for m, e in zip(mean[:4], error)]
    return f"| {label} | " + " | ".join(cells) + f" | {mean[4]:.2f} ± {error[4]:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", nargs="*", default=[*REAL, *GENERATED])
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--grid", type=json.loads, default={}, help="JSON lists by parameter")
    parser.add_argument("--set", type=json.loads, default={}, help="JSON of other parameters")
    parser.add_argument("--out", type=Path, default=HERE / "vi_dp_dag.md")
    args = parser.parse_args()
    lines = [
        "| | Un-AUC-PR | Un-AUC-ROC | Dir-AUC-PR | Dir-AUC-ROC | test MSE |",
        "|---|---|---|---|---|---|",
    ]
    for name in args.datasets:
        result = evaluate(
            name, args.sets, grid=args.grid, device=args.device, verbose=False, **args.set
        )
        paper = " | ".join(
            f"{m:.1f} ± {e:.1f}" if k < 4 else f"{m:.2f} ± {e:.2f}"
            for k, (m, e) in enumerate(PAPER[name])
        )
        lines.append(f"| {name}, paper | {paper} |")
        for key, values in result["scores"].items():
            chosen = " (chosen)" if args.grid and key == result["best"] else ""
            label = f"{name}, dpdag" + (f" {key}{chosen}" if args.grid else "")
            lines.append(row(label, values))
        print(
            *lines[-1 - len(result["scores"]) :], f"{result['seconds']:.1f} s", sep="\n", flush=True
        )
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "2-core CPU"
    args.out.write_text(
        "# VI-DP-DAG in the paper's configuration\n\n"
        f"Mean ± standard error over {args.sets} sets (Sachs: {args.sets} splits), AUCs in percent,"
        f" `VIDPDAG.paper()`, {device}. The paper's Sachs truth is another one.\n\n"
        + "\n".join(lines)
        + "\n\nMade by `python benchmarks/vi_dp_dag.py`.\n"
    )


if __name__ == "__main__":
    main()
