"""Records to report on, made without fitting anything."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpdag.records import Curve, RunRecord, diagnose

ODD = [
    "</script><script>document.title='gone'</script>",
    "x & <b>y</b> 'z' \"q\"",
    "Größe µ ≥ 日本語",
    "a name of sixty characters, which is what some tables do have",
    "$title ${x} $y^2$",
]


def make_record(n: int = 5, *, probable: bool = True, seed: int = 0) -> RunRecord:
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    forward = np.zeros((n, n), dtype=bool)
    forward[np.ix_(order, order)] = np.triu(np.ones((n, n), dtype=bool), k=1)
    strength = np.where(forward, rng.beta(0.1, 0.1 * n / 2, size=(n, n)), 0.0)
    strength += np.where(forward.T, 0.1 * (1 - strength.T), 0.0) * rng.random((n, n))
    strength[order[0], order[1]] = 0.9
    strength[order[1], order[0]] = 0.05
    learned = forward & (strength > 0.5)
    points = rng.normal(size=(60, n))
    curves = [
        Curve(int(i), int(j), np.linspace(-2, 2, 9).tolist(), np.linspace(-1, 1, 9).tolist())
        for i, j in np.argwhere(learned)
    ]
    names = (ODD + [f"gene{k:03d}" for k in range(n)])[:n]
    return RunRecord(
        learner="DAGPosterior" if probable else "CAM",
        names=names,
        edge_scores=100 * strength,
        adjacency=learned.astype(np.int64),
        causal_order=order.tolist(),
        diagnostics=diagnose(points, names, graph=learned),
        edge_probabilities=strength if probable else None,
        ancestor_probabilities=strength if probable else None,
        samples=np.stack([learned] * 2).astype(np.int64)
        if probable
        else np.zeros((0, n, n), dtype=np.int64),
        curves=curves,
        points=points,
        history={"epoch": [1, 2, 3], "total": [3.0, 2.0, 1.0], "validation": [2.5, None, 1.5]},
        settings={"max_epochs": 3, "init": "<search>", "patience": None, "prune": False},
        versions={"dpdag": "0"},
        seconds=75.2,
        created="2030-01-02T03:04:05+00:00",
        quality=made_quality(names) if probable else None,
        hidden_causes=[{"source": names[0], "target": names[-1], "nats": 12.0}] if probable else [],
    )


def made_quality(names: list[str]) -> dict[str, Any]:
    columns = [
        {"column": name, "explained": 0.5, "misfit": 30.0 * (k == 1)}
        for k, name in enumerate(names)
    ]
    return {
        "nats_per_row": 1.5,
        "by_curves": 1.25,
        "random_graphs": [0.1, 0.25, -0.05],
        "found_again": None,
        "columns": columns,
    }


@pytest.fixture(scope="session")
def make() -> Callable[..., RunRecord]:
    return make_record
