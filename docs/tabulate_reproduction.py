"""Rewrite the tables of ``reproduction.md`` from ``results``.

python docs/tabulate_reproduction.py
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np
from stored import HERE, Place, Results, level, replace, rows

from dpdag.experiments import Metric
from dpdag.reports.tables import paper_tables

PAGE = HERE / "reproduction.md"
MODELS = ("DAG-GNN", "DAG-NF", "GraN-DAG", "Masked-DAG", "VI-DP-DAG")
SMALL = ("ER-10-10", "ER-10-40", "SF-10-10")
LARGE = ("ER-50-50", "ER-50-200", "ER-100-100", "ER-100-400", "SF-50-50", "SF-50-200")
REAL = ("Sachs", "SynTReN")
EVERY = SMALL + LARGE + REAL
SIZES = {"10 nodes": SMALL, "50 and 100 nodes": LARGE, "Sachs, SynTReN": REAL}


def claims(results: Results) -> str:
    """What the paper states, in its numbers and in ours."""
    ours = partial(best, partial(results.places, shared=True))
    theirs = partial(best, of_the_paper)
    body = [
        (said, theirs(name, sets, method), ours(name, sets, method))
        for said, name, sets, method in (
            ("VI-DP-DAG has the best AUC", "structure", EVERY, "VI-DP-DAG"),
            ("… on 50 and 100 nodes", "structure", LARGE, "VI-DP-DAG"),
            ("… on Sachs and SynTReN", "structure", REAL, "VI-DP-DAG"),
            (r"CAM\* is best on generated data", "structure-processed", SMALL + LARGE, "CAM*"),
            (r"VI-DP-DAG\* is best on Sachs, SynTReN", "structure-processed", REAL, "VI-DP-DAG*"),
            ("VI-DP-DAG has the lowest test error", "mechanisms", EVERY, "VI-DP-DAG"),
            ("VI-DP-DAG has the lowest SHD", "shd-thresholds", EVERY, "VI-DP-DAG"),
            ("VI-DP-DAG trains fastest", "training-time", EVERY, "VI-DP-DAG"),
        )
    ]
    others = ("DAG-GNN", "DAG-NF", "Masked-DAG")
    body += [
        ("… times faster than GraN-DAG", *speeds(results, ("GraN-DAG",))),
        ("… times faster than the other three", *speeds(results, others)),
        ("milliseconds to draw a DAG of 200 nodes, Top-k; Sinkhorn", "< 1000", drawing(results)),
        ("a known DAG recovered: AUC-PR of the worst setting, Top-k; Sinkhorn", *worst(results)),
    ]
    return rows(("claim", "paper", "here"), body)


def of_the_paper(name: str) -> Iterator[Place]:
    """The same places as of ours, with the paper's means."""
    for data, models in paper_tables().get(name.replace("-", "_"), {}).items():
        for method, metrics in models.items():
            for metric, (mean, _) in metrics.items():
                yield Place(method, data, metric, mean)


def best(
    places: Callable[[str], Iterable[Place]], name: str, sets: Iterable[str], method: str
) -> str:
    """How often a method is best, ties shared, and who else is."""
    lower = name in ("mechanisms", "shd-thresholds", "training-time")
    groups = defaultdict(dict)
    for place in places(name):
        if place.data in sets and place.method != "GT-DAG*":
            groups[place.data, place.metric][place.method] = place.mean * (-1 if lower else 1)
    if not groups:
        return "in general"  # a figure of the paper, whose numbers are not printed
    winners = Counter(
        one for group in groups.values() for one in group if group[one] == max(group.values())
    )
    said = ", ".join(f"{one} {k}" for one, k in winners.most_common() if one != method)
    said = said.replace("*", r"\*")
    return f"**{winners[method]} of {len(groups)}**" + (f"; {said}" if said else "")


def speeds(results: Results, methods: Iterable[str]) -> tuple[str, str]:
    """Least and largest ratio of seconds to those of VI-DP-DAG, the paper's and ours."""
    spans = []
    for places in (of_the_paper, partial(results.places, shared=True)):
        seconds = {(one.method, one.data): one.mean for one in places("training-time")}
        ratios = [seconds[m, data] / seconds["VI-DP-DAG", data] for m in methods for data in EVERY]
        spans.append(f"{min(ratios):.1f} to {max(ratios):.0f}")
    return spans[0], spans[1]


def drawing(results: Results) -> str:
    spent = [
        results.mean("sampling-time", "milliseconds", f"Gumbel-{kind}", ("200 nodes",))
        for kind in ("Top-k", "Sinkhorn")
    ]
    return f"{spent[0]:.1f}; {spent[1]:.1f}"


def worst(results: Results) -> tuple[str, str]:
    said = []
    for places in (of_the_paper, results.places):
        lowest = [
            min(
                one.mean
                for one in places("direct-learning")
                if (one.method, one.metric) == (f"Gumbel-{kind}", "Dir-AUC-PR")
            )
            for kind in ("Top-k", "Sinkhorn")
        ]
        said.append("; ".join(f"{one:.2f}" for one in lowest))
    return said[0], said[1]


def beside(results: Results, metric: str) -> str:
    """Mean of a metric over groups of data sets, the paper's and ours, for each model."""
    tables = paper_tables()["structure"]
    body = []
    for method in MODELS:
        row = [method]
        for sets in SIZES.values():
            theirs = np.mean([tables[data][method][metric][0] for data in sets])
            ours = 100 * results.mean("structure", metric, method, sets)
            row.append(f"{theirs:.1f} → {ours:.1f}")
        body.append(row)
    return rows(("model", *SIZES), body)


def processing(results: Results) -> str:
    """Dir-AUC-PR without and with selection and pruning, on the sets that have both."""
    paper = paper_tables()
    body = []
    for method in ("GraN-DAG", "VI-DP-DAG"):
        row = [method]
        for sets in SIZES.values():
            plain, starred = (
                results.values("with-without-processing", "Dir-AUC-PR", name, sets)
                for name in (method, f"{method}*")
            )
            both = plain.keys() & starred.keys()
            ours = [100 * level({key: part[key] for key in both}) for part in (plain, starred)]
            theirs = [
                np.mean([paper[table][data][name]["Dir-AUC-PR"][0] for data in sets])
                for table, name in (("structure", method), ("structure_processed", f"{method}*"))
            ]
            row.append(f"{ours[0]:.1f} → {ours[1]:.1f} ({theirs[0]:.1f} → {theirs[1]:.1f})")
        body.append(row)
    return rows(("model", *SIZES), body)


def devices(results: Results) -> str:
    """Dir-AUC-PR of the same fits on both devices."""
    body = []
    for method in MODELS:
        gpu, cpu = (
            results.values(name, "Dir-AUC-PR", method, LARGE)
            for name in ("structure", "training-time")
        )
        apart = 100 * np.array([cpu[key] - gpu[key] for key in sorted(cpu.keys() & gpu.keys())])
        apart = apart[apart != 0]  # the same fit where no other was made
        error = apart.std(ddof=1) / len(apart) ** 0.5
        body.append((method, str(len(apart)), f"{apart.mean():+.1f} ± {error:.1f}"))
    return rows(("model", "fits", "CPU − GPU"), body)


def thresholds(results: Results) -> str:
    """How far the test error of VI-DP-DAG moves with the threshold."""
    body = []
    for data in EVERY:
        own = [
            one.values
            for one in results.outcomes["mse-thresholds"]
            if one.method == "VI-DP-DAG" and one.dataset == data
        ]
        at = np.array(own[0]["threshold"])
        error = np.mean([one["MSE over thresholds"] for one in own], axis=0)
        lower, upper = error[at <= 0.8], error[at > 0.8]
        body.append(
            [
                data,
                f"{lower.min():.2f} to {lower.max():.2f}",
                f"{100 * (lower.max() / lower.min() - 1):.0f} %",
                f"{upper.max():.2f}",
            ]
        )
    return rows(("data", "thresholds up to 0.8", "largest over least", "highest above 0.8"), body)


def main() -> None:
    results = Results("paper")
    auc = (Metric("Dir-AUC-PR", scale=100),)
    tables = {
        "claims": claims(results),
        "beside": beside(results, "Dir-AUC-PR"),
        "processing": processing(results),
        "thresholds": thresholds(results),
        "devices": devices(results),
        "direct-learning": results.table("direct-learning", (Metric("Dir-AUC-PR", digits=2),)),
        **{name: results.table(name, auc) for name in ("structure", "structure-processed")},
        "training-time": results.table("training-time", shared=True),
        **{name: results.table(name) for name in ("mechanisms", "processing-time")},
        "perturbations": results.table("perturbations"),
        "grid": Results("own").table("grid-search", auc),
        "grid-error": Results("own").table(
            "grid-search", (Metric("MSE", digits=2, better="lower"),)
        ),
    }
    for name, table in tables.items():
        replace(PAGE, name, table)


if __name__ == "__main__":
    main()
