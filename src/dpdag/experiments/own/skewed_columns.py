"""What DAGPosterior makes of columns that are strongly skewed, by measurement or by nature."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ... import datasets
from ...datasets import Dataset, Provenance
from ...evidence.families import FUNCTIONS
from ...learners import DAGPosterior
from ..experiment import Method, Source
from ..views import DIRECTED, SECONDS, SHD, Metric, all_in_one
from .accuracy import MEASURES, own_experiment

ROWS = 500
BENT = (
    lambda u: np.exp(2 * u),
    lambda u: np.exp(3 * u),
    lambda u: -np.exp(-2 * u),
    lambda u: u**3 + 0.1 * u,
)
SMALL = (
    "measured as exp",
    "growth",
    "counts",
    "income",
    "log-normal cause",
    "log-normal noise",
    "exponential noise",
    "exponential effect",
    "square",
    "product",
)
ALONE = ("measured as exp", "log-normal cause", "log-normal noise", "exponential effect")


def graph(name: str, index: int, *, mechanism: str, skewed: bool) -> Dataset:
    """7 nodes and 9 edges; one to three columns exchanged for monotone functions of themselves."""
    data = datasets.simulate(
        datasets.erdos_renyi(7, 9, random_state=index),
        ROWS,
        mechanism=mechanism,
        noise=datasets.Noise(variance=(0.1, 0.3)),
        random_state=index,
    )
    rng = np.random.default_rng(index)
    X = data.X.copy()
    for column in np.sort(rng.choice(7, rng.integers(1, 4), replace=False)) if skewed else []:
        bend = BENT[rng.integers(len(BENT))]
        X[:, column] = bend((X[:, column] - X[:, column].mean()) / X[:, column].std())
    return _named(name, X, data.adjacency)


def small(kind: str, index: int) -> Dataset:
    """cause → effect → last, and for some effects a second cause."""
    rng = np.random.default_rng(index)
    a, b, *noise = rng.normal(size=(4, ROWS))
    cause = np.exp(a) if kind == "log-normal cause" else a
    effect = {
        "measured as exp": np.exp(3 * (np.sin(2 * a) + 0.3 * noise[0])),
        "growth": np.exp(a + b + 0.5 * noise[0]),
        "counts": rng.poisson(np.exp(1.2 * np.tanh(2 * a) + 0.8 * b + 1.5)).astype(float),
        "income": np.exp(0.6 * a + 0.5 * b + 0.6 * noise[0]),
        "log-normal cause": 2 * cause + 2 * noise[0],
        "log-normal noise": 2 * a + np.exp(1.2 * noise[0]),
        "exponential noise": a + b + rng.exponential(2.0, ROWS),
        "exponential effect": np.exp(1.5 * a) + 0.3 * noise[0],
        "square": a**2 + 0.5 * b + 0.3 * noise[0],
        "product": np.exp(a) * b + 0.3 * noise[0],
    }[kind]
    seen = np.log1p(effect) if kind in ("income", "counts") else np.tanh(effect / effect.std())
    truth = np.zeros((4, 4), dtype=int)
    truth[2, 1] = truth[1, 0] = 1
    truth[3, 1] = kind not in ALONE
    return _named(kind, np.stack([seen + 0.3 * noise[1], effect, cause, b], axis=1), truth)


def _named(name: str, X: Any, truth: Any) -> Dataset:
    provenance = Provenance("generated", f"{name}, {ROWS} rows.")
    return Dataset(X, truth, [f"x{k}" for k in range(len(truth))], name, provenance)


own_experiment(
    "skewed-columns",
    "Skewed columns left alone, and transformed where the evidence says so",
    sources=(
        *(
            Source(
                mechanism + (", skewed" if skewed else ""),
                partial(graph, mechanism=mechanism, skewed=skewed),
            )
            for mechanism in ("gp", "additive-gp", "mlp", "linear")
            for skewed in (False, True)
        ),
        *(Source(kind, small) for kind in SMALL),
    ),
    methods=(
        Method("left alone", DAGPosterior, {"mechanism": FUNCTIONS}),
        Method("transformed", DAGPosterior),
    ),
    measures=MEASURES,
    views=all_in_one(DIRECTED, SHD, Metric("turned, surely", better="lower"), SECONDS),
    sets=5,
)
