"""From a fitted learner to a record of what it found."""

from __future__ import annotations

import platform
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from ..learners.base import DAGLearner
from ..learners.model_learner import ModelLearner
from ..learners.validation import fitted_columns
from ..ops.graphs import reachability
from ..ops.labels import label_texts
from .diagnostics import column_names, diagnose
from .notes import fit_notes
from .quality import compare, graph_was_given, quality_facts
from .record import Curve, Origin, RunRecord

Array = NDArray[np.float64]

PACKAGES = ("torch", "numpy", "scikit-learn", "scipy", "pandas", "networkx")
OMITTED = ("callbacks", "checkpoint", "checkpoint_every", "verbose")
N_POINTS, N_SAMPLES, N_GRID = 200, 6, 31
SAMPLED = 20_000_000  # entries of graphs drawn to count paths in
PREDICTED = 200_000  # values predicted for the curves of one group of sources


def describe(
    learner: DAGLearner,
    X: Any,
    *,
    seconds: float | None = None,
    truth: Any = None,
    origin: Origin | None = None,
) -> RunRecord:
    r"""Everything a report needs of a fitted learner and of the data it was fitted to.

    The curve of an edge i → j is the partial dependence

    .. math:: v \mapsto \tfrac1m \sum_r f_j(x_r \text{ with } x_{ri} = v).

    Arguments:
        learner: Fitted.
        X: (rows, n) the data it was fitted to, columns in any order if they have names.
        seconds: What fitting took.
        truth: The known graph to compare with, as a matrix, a DataFrame or a networkx graph.
        origin: Where ``X`` came from.

    Example:
        >>> from dpdag import CAM
        >>> a = np.random.default_rng(0).normal(size=300)
        >>> X = pd.DataFrame({"cause": a, "effect": np.tanh(2 * a) + 0.1 * np.cos(40 * a)})
        >>> describe(CAM().fit(X), X).adjacency.tolist()
        [[0, 1], [0, 0]]
    """
    own, n = fitted_columns(learner, X), learner.n_features_in_
    values = np.asarray(own, dtype=np.float64)
    if values.shape[1:] != (n,):
        raise ValueError(f"X must be (rows, {n}) as fitted; got shape {values.shape}.")
    labels = getattr(learner, "feature_names_in_", None)
    names = column_names(own) if labels is None else label_texts(labels)
    parameters = learner.get_params(deep=False).items()
    settings = {name: _setting(value) for name, value in parameters if name not in OMITTED}
    learned = None if graph_was_given(settings) else learner.adjacency_
    complete = values[~np.isnan(values).any(1)]
    return RunRecord(
        learner=type(learner).__name__,
        names=names,
        edge_scores=np.asarray(learner.edge_scores_, dtype=np.float64),
        adjacency=np.asarray(learner.adjacency_, dtype=np.int64),
        causal_order=[int(node) for node in learner.causal_order_],
        diagnostics=diagnose(values, names, graph=learned, types=learner.types_ or ()),
        **_posterior(learner),
        curves=_curves(learner, complete),
        points=_thinned(complete, N_POINTS),
        history={
            str(name): [None if pd.isna(value) else value for value in column.tolist()]
            for name, column in learner.history_.items()
        },
        settings=settings,
        versions=versions(),
        seconds=seconds,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        choice=_choice(getattr(learner, "choice_", None)),
        origin=_origin(learner, origin, names, len(values), truth),
        quality=quality_facts(learner),
        hidden_causes=getattr(learner, "hidden_causes_", []),
    )


def _choice(records: list[dict[str, Any]] | None) -> str | None:
    """Which families hold the columns' evidence, in words."""
    if not records:
        return None
    children = [record for record in records if record["parents"]]
    noisy = [record for record in records if record["noise"]]  # discrete columns have none
    parts = [
        f"{what} {_counted([max(r[what], key=r[what].__getitem__) for r in those])}"
        for what, those in (("functions", children), ("noise", noisy))
        if those
    ]
    for kind in dict.fromkeys(record["transformation"] for record in records):
        which = [record["column"] for record in records if record["transformation"] == kind]
        if kind != "identity":
            every = len(which) == len(records)
            parts.append(f"{kind} of {'all columns' if every else ', '.join(which)}")
    few, many = (extreme(record["rows"] for record in records) for extreme in (min, max))
    return f"{'; '.join(parts)}; on {many if few == many else f'{few} to {many}'} rows"


def _counted(kinds: list[str]) -> str:
    """How often each occurs, the most frequent first.

    Example:
        >>> _counted(["gp", "linear", "gp"])
        'gp (2 columns), linear (1 column)'
    """
    ordered = Counter(kinds).most_common()
    return ", ".join(f"{kind} ({k} column{'s' if k > 1 else ''})" for kind, k in ordered)


def _origin(
    learner: DAGLearner, origin: Origin | None, names: list[str], rows: int, truth: Any
) -> Origin | None:
    """Where the data came from, with what is to be said of the fit; None where nothing is."""
    notes = fit_notes(learner, rows)
    known = "" if truth is None else compare(learner.adjacency_, truth, names).sentence
    if origin is None and not notes and not known:
        return None
    origin = origin or Origin("", rows, len(names))
    return replace(origin, notes=[*origin.notes, *notes], known=known)


def _posterior(learner: Any) -> dict[str, Any]:
    """What learners with a posterior over graphs add."""
    found: dict[str, Any] = {}
    if hasattr(learner, "edge_probabilities_"):
        found["edge_probabilities"] = np.asarray(learner.edge_probabilities_, dtype=np.float64)
    if hasattr(learner, "sample_dags"):
        k = int(np.clip(SAMPLED // learner.n_features_in_**2, N_SAMPLES, 1000))
        graphs = np.asarray(learner.sample_dags(k, 0), dtype=np.int64)
        found["samples"] = graphs[:N_SAMPLES]
        paths = reachability(torch.from_numpy(graphs))
        # Shares of samples may fall short of the exact probability of the edge alone.
        ancestors = paths.double().mean(0).numpy()
        found["ancestor_probabilities"] = np.maximum(ancestors, found["edge_probabilities"])
    return found


def _curves(learner: DAGLearner, values: Array) -> list[Curve]:  # (rows, n) without NaN
    """Partial dependence along every learned edge."""
    graph = learner.adjacency_ != 0
    if not len(values) or not graph.any() or not isinstance(learner, ModelLearner):
        return []
    n = values.shape[1]
    background = _thinned(values, int(np.clip(PREDICTED // (N_GRID * n), 16, 64)))
    low, high = np.quantile(values, [0.005, 0.995], axis=0)
    grid = np.linspace(low, high, N_GRID)  # (grid, n)
    for k, own in enumerate(learner.types_ or ()):
        grid[:, k] = own.settle(grid[:, k])
    curves = []
    for group in _separable(graph):
        rows = np.repeat(background[None], N_GRID, axis=0)  # (grid, rows, n)
        rows[:, :, group] = grid[:, None, group]
        mean = learner._means(rows.reshape(-1, n)).reshape(rows.shape).mean(1)
        curves += [
            Curve(i, j, grid[:, i].tolist(), mean[:, j].tolist())
            for i in group
            for j in np.flatnonzero(graph[i]).tolist()
        ]
    return curves


def _separable(graph: NDArray[np.bool_]) -> list[list[int]]:  # (n, n)
    """Sources in groups without common children: those of a group can be changed together.

    Example:
        >>> _separable(np.array([[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]) == 1)
        [[0, 2], [1]]
    """
    groups: list[tuple[list[int], NDArray[np.bool_]]] = []
    for source in np.flatnonzero(graph.any(1)).tolist():
        for members, children in groups:
            if not (children & graph[source]).any():
                members.append(source)
                children |= graph[source]
                break
        else:
            groups.append(([source], graph[source].copy()))
    return [members for members, _ in groups]


def _thinned(values: Array, limit: int) -> Array:
    """At most ``limit`` rows, spread evenly over the table."""
    if len(values) <= limit:
        return values
    return values[np.linspace(0, len(values) - 1, limit).round().astype(int)]


def _setting(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    return repr(value)


def versions() -> dict[str, str]:
    """Of this package and of those it relies on."""
    from .. import __version__

    own = {"dpdag": __version__, "python": platform.python_version()}
    return own | {package: version(package) for package in PACKAGES}
