"""Rewrite the tables of ``accuracy.md`` and of the README from ``benchmarks/accuracy.csv``.

python docs/tabulate_accuracy.py
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

HERE = Path(__file__).parent
BENCHMARKS = HERE.parent / "benchmarks"
README = HERE.parent / "README.md"
# Highest mean Dir-AUC-PR of any model in the paper's tables; a star marks its post-processing.
BEST = {
    "ER-10-10": (100.0, "CAM*"),
    "ER-10-40": (93.5, "GraN-DAG"),
    "SF-10-10": (100.0, "CAM*"),
    "ER-50-50": (92.6, "CAM*"),
    "ER-50-200": (44.8, "GraN-DAG*"),
    "SF-50-50": (52.9, "CAM*"),
    "SF-50-200": (28.4, "CAM*"),
    "ER-100-100": (76.6, "GraN-DAG*"),
    "ER-100-400": (50.0, "CAM*"),
    "SynTReN": (17.8, "VI-DP-DAG*"),
    "Sachs": (23.8, "DAG-GNN"),
}
OTHER = ["additive GP", "GP, Laplace", "GP, exponential", "MLP", "linear", "linear, Laplace"]
OTHER += ["linear, Laplace, dense", "linear, Gumbel", "location-scale", "products", "steps"]
OTHER += ["BA-50-50", "BA-50-200"]
MECHANISMS = ["gp", "network", "additive", "linear"]


def spread(values: pd.Series, *, percent: bool = True) -> str:
    """Mean ± standard error."""
    scaled = values * 100 if percent else values
    mean = f"{scaled.mean():.1f}"
    return (
        f"{mean}\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{scaled.sem():.1f}"
        if len(values) > 1
        else mean
    )


def beside_the_paper(cells: pd.DataFrame) -> str:
    paper = json.loads((BENCHMARKS / "paper.json").read_text())
    lines = [
        "| data | sets | paper: VI-DP-DAG | paper: best of any | DAGPosterior | its SHD "
        "| seconds | CAM | seconds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, (best, who) in BEST.items():
        mean, error = paper[name][2]
        ours, cam = (
            cells[(cells["dataset"] == name) & (cells["learner"] == learner)]
            for learner in ("DAGPosterior", "CAM")
        )
        if ours.empty or cam.empty:
            continue
        parts = [
            name,
            str(len(ours)),
            f"{mean:.1f} ± {error:.1f}",
            f"{best:.1f} ({who})".replace("*", r"\*"),
            spread(ours["Dir-AUC-PR"]),
            spread(ours["SHD"], percent=False),
            f"{ours['seconds'].median():.0f}",
            spread(cam["Dir-AUC-PR"]),
            f"{cam['seconds'].median():.1f}",
        ]
        lines.append(f"| {' | '.join(parts)} |")
    return "\n".join(lines)


def off_the_class(cells: pd.DataFrame) -> str:
    lines = [
        "| data | sets | Un-AUC-PR | Dir-AUC-PR | SHD | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for name in OTHER:
        ours = cells[(cells["dataset"] == name) & (cells["learner"] == "DAGPosterior")]
        if ours.empty:
            continue
        parts = [
            name,
            str(len(ours)),
            spread(ours["Un-AUC-PR"]),
            spread(ours["Dir-AUC-PR"]),
            spread(ours["SHD"], percent=False),
            f"{ours['seconds'].median():.0f}",
        ]
        lines.append(f"| {' | '.join(parts)} |")
    return "\n".join(lines)


def one_mechanism(cells: pd.DataFrame) -> str:
    """What functions that are given find, beside the default on the same sets."""
    lines = [
        f"| data | sets | auto | {' | '.join(MECHANISMS)} |",
        "|---|---|---|" + "---|" * len(MECHANISMS),
    ]
    for name in [*BEST, *OTHER]:
        own = cells[cells["dataset"] == name]
        every = {m: own[own["learner"] == f"DAGPosterior, {m}"] for m in MECHANISMS}
        indices = set(every["gp"]["index"])
        auto = own[(own["learner"] == "DAGPosterior") & own["index"].isin(indices)]
        if any(part.empty for part in (auto, *every.values())):
            continue
        values = [100 * part["Dir-AUC-PR"].mean() for part in (auto, *every.values())]
        best = max(values)
        shown = [f"**{v:.1f}**" if v > best - 0.05 else f"{v:.1f}" for v in values]
        lines.append(f"| {name} | {len(indices)} | {' | '.join(shown)} |")
    return "\n".join(lines)


def in_short(cells: pd.DataFrame) -> str:
    paper = json.loads((BENCHMARKS / "paper.json").read_text())
    lines = [
        "| | paper: VI-DP-DAG | paper: best of any model | DAGPosterior |",
        "|---|---|---|---|",
    ]
    for name in ("ER-10-40", "ER-50-200", "ER-100-400", "SF-50-200", "Sachs"):
        ours = cells[(cells["dataset"] == name) & (cells["learner"] == "DAGPosterior")]
        if ours.empty:
            continue
        values = [f"{paper[name][2][0]:.1f}", f"{BEST[name][0]:.1f}", spread(ours["Dir-AUC-PR"])]
        lines.append(f"| {name} | {' | '.join(values)} |")
    return "\n".join(lines)


def replace(page: Path, name: str, table: str) -> None:
    """Put a table between the comments that name it; one without rows changes nothing."""
    if table.count("\n") < 2:
        return
    text = page.read_text(encoding="utf-8")
    head, rest = text.split(f"<!-- {name} -->\n")
    _, tail = rest.split("<!-- end -->", maxsplit=1)
    page.write_text(f"{head}<!-- {name} -->\n{table}\n<!-- end -->{tail}", encoding="utf-8")


def main() -> None:
    cells = pd.read_csv(BENCHMARKS / "accuracy.csv")
    replace(HERE / "accuracy.md", "paper", beside_the_paper(cells))
    replace(HERE / "accuracy.md", "other", off_the_class(cells))
    replace(HERE / "accuracy.md", "mechanisms", one_mechanism(cells))
    replace(README, "accuracy", in_short(cells))


if __name__ == "__main__":
    main()
