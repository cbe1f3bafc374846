"""How true edge probabilities are: against the graphs, and against the exact posterior.

Few rows leave much open: 8 nodes, 8 or 16 expected edges, 100 rows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ... import datasets
from ...datasets import Dataset
from ...learners import DAGPosterior, ExactPosterior
from ..experiment import Method, Source
from ..measures import Fitted, Values, posterior, structure
from ..views import SHD, Figure, Metric, all_in_one
from .accuracy import own_experiment

EDGE_PRIOR = 0.1  # of the exact posterior and of what is compared with it
FUNCTIONS = ("gp", "network", "additive", "linear")
KINDS: dict[str, dict[str, Any]] = {
    "GP": {"mechanism": "gp"},
    "additive GP": {"mechanism": "additive-gp"},
    "linear": {"mechanism": "linear"},
    "MLP": {"mechanism": "mlp"},
    "GP, Laplace noise": {"mechanism": "gp", "noise": "laplace"},
    "linear, Laplace noise": {"mechanism": "linear", "noise": "laplace"},
}


def eight_nodes(name: str, index: int, *, mechanism: str, noise: str = "gaussian") -> Dataset:
    """8 nodes, 100 rows; sets of even number have 16 expected edges, the others 8."""
    return datasets.simulate(
        datasets.erdos_renyi(8, 8 if index % 2 else 16, random_state=index),
        100,
        mechanism=mechanism,
        noise=datasets.Noise(noise, variance=(0.1, 0.3)),
        random_state=index,
    )


def distance_to_exact(fitted: Fitted) -> Values:
    """How far the probabilities of DAGPosterior are from exact ones with the same functions."""
    learner = fitted.learner
    if not isinstance(learner, DAGPosterior) or learner.mechanism not in FUNCTIONS:
        return {}
    exact = ExactPosterior(mechanism=learner.mechanism, edge_prior=EDGE_PRIOR, device="cpu")
    exact.fit(fitted.data.X)
    off = ~np.eye(len(fitted.data.names), dtype=bool)
    distance = np.abs(learner.edge_probabilities_ - exact.edge_probabilities_)[off]
    return {"distance": float(distance.mean()), "its 95 %": float(np.quantile(distance, 0.95))}


own_experiment(
    "calibration",
    "Stated probabilities beside shares of true edges, and beside the exact posterior",
    sources=tuple(
        Source(name, partial(eight_nodes, **facts), first=1000) for name, facts in KINDS.items()
    ),
    methods=(
        Method("auto", DAGPosterior),
        *(
            Method(name, DAGPosterior, {"mechanism": name, "edge_prior": EDGE_PRIOR})
            for name in FUNCTIONS
        ),
        *(Method(f"exact, {name}", ExactPosterior, {"mechanism": name}) for name in FUNCTIONS),
    ),
    measures=(structure, posterior, distance_to_exact),
    views=(
        *all_in_one(
            Metric("Brier", digits=3, better="lower"),
            Metric("gap", digits=3, better="lower", gap=("stated", "share", "pairs")),
            Metric("distance", digits=3, better=""),
            Metric("its 95 %", digits=2, better=""),
            Metric("expected SHD", better="lower"),
            SHD,
        ),
        Figure(
            "stated",
            "share",
            "stated probability",
            "share that are edges",
            diagonal=True,
            pooled="pairs",
        ),
    ),
    sets=20,
)
