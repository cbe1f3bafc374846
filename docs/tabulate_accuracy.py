"""Rewrite the tables of ``accuracy.md`` and of the README from ``results/own``.

python docs/tabulate_accuracy.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from stored import HERE, Results, replace, rows

from dpdag.experiments import Outcome
from dpdag.reports.tables import paper_tables

PAGE, README = HERE / "accuracy.md", HERE.parent / "README.md"
IN_SHORT = ("ER-10-40", "ER-50-200", "ER-100-400", "SF-50-200", "Sachs")
FUNCTIONS = ("gp", "network", "additive", "linear")


def main() -> None:
    results = Results("own")
    benchmark, others, given = (
        results.layouts[name].datasets for name in ("accuracy", "off-class", "given-functions")
    )
    replace(PAGE, "paper", beside_the_paper(results, benchmark))
    replace(PAGE, "other", off_the_class(results, others))
    replace(PAGE, "mechanisms", given_functions(results, given))
    replace(README, "accuracy", in_short(results))


def beside_the_paper(results: Results, names: Iterable[str]) -> str:
    """The default learner and CAM on the data sets of the paper."""
    body = []
    for name in names:
        ours, cam = (results.of("accuracy", method, name) for method in ("DAGPosterior", "CAM"))
        theirs, best = of_the_paper(name)
        body.append(
            [
                name,
                str(len(ours)),
                theirs,
                best,
                spread(ours, "Dir-AUC-PR", 100),
                spread(ours, "SHD"),
                median(ours, 0),
                spread(cam, "Dir-AUC-PR", 100),
                median(cam, 1),
            ]
        )
    heads = "data", "sets", "paper: VI-DP-DAG", "paper: best of any", "DAGPosterior", "its SHD"
    return rows((*heads, "seconds", "CAM", "seconds"), body)


def off_the_class(results: Results, names: Iterable[str]) -> str:
    """The default learner on other data."""
    body = []
    for name in names:
        ours = results.of("off-class", "DAGPosterior", name)
        areas = [spread(ours, f"{kind}-AUC-PR", 100) for kind in ("Un", "Dir")]
        body.append([name, str(len(ours)), *areas, spread(ours, "SHD"), median(ours, 0)])
    return rows(("data", "sets", "Un-AUC-PR", "Dir-AUC-PR", "SHD", "seconds"), body)


def given_functions(results: Results, names: Iterable[str]) -> str:
    """What functions that are given find, beside the default on the same sets."""
    methods = "DAGPosterior", *(f"DAGPosterior, {name}" for name in FUNCTIONS)
    body = []
    for name in names:
        found = [results.of("given-functions", method, name) for method in methods]
        shared = set.intersection(*({one.index for one in own} for own in found))
        if not shared:
            continue
        means = [
            100 * np.mean([one.values["Dir-AUC-PR"] for one in own if one.index in shared])
            for own in found
        ]
        shown = [f"**{mean:.1f}**" if mean > max(means) - 0.05 else f"{mean:.1f}" for mean in means]
        body.append([name, str(len(shared)), *shown])
    return rows(("data", "sets", "all", *FUNCTIONS), body)


def in_short(results: Results) -> str:
    """The first table of the README."""
    body = []
    for name in IN_SHORT:
        theirs, best = (said.split()[0] for said in of_the_paper(name))
        ours = results.of("accuracy", "DAGPosterior", name)
        body.append([name, theirs, best, spread(ours, "Dir-AUC-PR", 100)])
    return rows(("", "paper: VI-DP-DAG", "paper: best of any model", "DAGPosterior"), body)


def of_the_paper(name: str) -> tuple[str, str]:
    """Dir-AUC-PR of its VI-DP-DAG, and the highest of any of its models; a star: processed."""
    tables = paper_tables()
    models = {**tables["structure"][name], **tables["structure_processed"][name]}
    areas = {model: values["Dir-AUC-PR"] for model, values in models.items()}
    best = max(areas, key=lambda model: areas[model][0])
    mean, error = areas["VI-DP-DAG"]
    return f"{mean:.1f} ± {error:.1f}", rf"{areas[best][0]:.1f} ({best})".replace("*", r"\*")


def spread(found: Sequence[Outcome], metric: str, scale: float = 1) -> str:
    """Mean ± standard error."""
    values = scale * np.array([one.values[metric] for one in found], dtype=float)
    if len(values) < 2:
        return f"{values.mean():.1f}"
    return f"{values.mean():.1f} ± {values.std(ddof=1) / len(values) ** 0.5:.1f}"


def median(found: Sequence[Outcome], digits: int) -> str:
    """Seconds of the middle fit, of the processor where that did all of it."""
    on_gpu = "H200" in found[0].machine
    spent = np.median([one.seconds if on_gpu else one.cpu_seconds for one in found])
    return f"{spent:.{digits}f}" + (" (H200)" if on_gpu else "")


if __name__ == "__main__":
    main()
