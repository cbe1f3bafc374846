"""Rewrite the tables of ``accuracy.md`` and of the README from ``results/accuracy.csv``.

python docs/tabulate_accuracy.py
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from dpdag.reports.tables import paper_tables

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results"
README = HERE.parent / "README.md"
PAPER = ["ER-10-10", "ER-10-40", "SF-10-10", "ER-50-50", "ER-50-200", "SF-50-50", "SF-50-200"]
PAPER += ["ER-100-100", "ER-100-400", "SynTReN", "Sachs"]
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


def of_the_paper(name: str) -> tuple[tuple[float, float], float, str]:
    """Dir-AUC-PR of its VI-DP-DAG, and the highest of any of its models; a star: processed."""
    tables = paper_tables()
    models = {**tables["structure"][name], **tables["structure_processed"][name]}
    means = {model: values["Dir-AUC-PR"][0] for model, values in models.items()}
    best = max(means, key=means.__getitem__)
    return models["VI-DP-DAG"]["Dir-AUC-PR"], means[best], best


def beside_the_paper(cells: pd.DataFrame) -> str:
    lines = [
        "| data | sets | paper: VI-DP-DAG | paper: best of any | DAGPosterior | its SHD "
        "| seconds | CAM | seconds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in PAPER:
        (mean, error), best, who = of_the_paper(name)
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
    for name in [*PAPER, *OTHER]:
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
    lines = [
        "| | paper: VI-DP-DAG | paper: best of any model | DAGPosterior |",
        "|---|---|---|---|",
    ]
    for name in ("ER-10-40", "ER-50-200", "ER-100-400", "SF-50-200", "Sachs"):
        ours = cells[(cells["dataset"] == name) & (cells["learner"] == "DAGPosterior")]
        if ours.empty:
            continue
        (mean, _), best, _ = of_the_paper(name)
        values = [f"{mean:.1f}", f"{best:.1f}", spread(ours["Dir-AUC-PR"])]
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
    cells = pd.read_csv(RESULTS / "accuracy.csv")
    replace(HERE / "accuracy.md", "paper", beside_the_paper(cells))
    replace(HERE / "accuracy.md", "other", off_the_class(cells))
    replace(HERE / "accuracy.md", "mechanisms", one_mechanism(cells))
    replace(README, "accuracy", in_short(cells))


if __name__ == "__main__":
    main()
