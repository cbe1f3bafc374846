"""Draw observations from a graph, random mechanisms and noise, under interventions or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401 (its library is only limited once it is loaded)
import torch
from threadpoolctl import threadpool_limits

from ..ops.graphs import topological_order
from ..registry import Registry, suggest
from ..seeding import numpy_generator
from .mechanisms import MECHANISMS, Mechanism
from .noise import Noise
from .record import (
    BoolArray,
    Dataset,
    FloatArray,
    Provenance,
    checked_names,
    checked_truth,
    default_names,
)

Node = int | str
Environment = Mapping[Any, float | None]
Nonlinearity = Callable[[FloatArray], FloatArray]

NONLINEARITIES = Registry[Nonlinearity](
    "post-nonlinearity",
    {
        "cube": lambda values: values**3,
        "cube-root": np.cbrt,
        "sigmoid": lambda values: 0.5 * (1 + np.tanh(0.5 * values)),
        "exp": np.exp,
    },
)


def simulate(
    adjacency: Any,  # (n, n)
    rows: int = 1000,
    *,
    mechanism: str | Mechanism = "gp",
    noise: str | Noise = Noise(variance=(0.04, 0.08)),  # noqa: B008 (frozen)
    root_noise: str | Noise = Noise(variance=(1.0, 2.0)),  # noqa: B008 (frozen)
    post: str | Nonlinearity | None = None,
    do: Environment | Sequence[Environment] | None = None,
    names: Sequence[str] | None = None,
    name: str = "simulated",
    random_state: Any = None,
) -> Dataset:
    r"""Draw a data set from a structural causal model on a given graph.

    .. math:: x_i = g\bigl(f_i(x_{\text{pa}(i)}) + \epsilon_i\bigr), \quad f_i \sim
        \text{mechanism}, \; \epsilon_i \sim \text{noise}; \qquad x_i = \epsilon_i
        \text{ for a root}

    Arguments:
        adjacency: DAG; ``adjacency[i, j] = 1`` means i → j.
        rows: Number of rows, in each environment.
        mechanism: What the functions are drawn from: "gp", "additive-gp", "mlp", "linear",
            "polynomial", or an object such as ``GP(bandwidth=2.0)``.
        noise: Noise of nodes with parents; a family's name or a :class:`Noise`.
        root_noise: Distribution of nodes without parents.
        post: Invertible g applied to every node with parents: "cube", "cube-root", "sigmoid",
            "exp", any function of an array, or None for the identity.
        do: Interventions ``{node: value}``; the value None draws it from N(0, 1) instead. A list
            makes one environment of ``rows`` rows per entry, ``{}`` being an observational one.
            All share the same functions. The record's ``mask`` tells where a value was set.
        names: Names of the nodes; x0, x1, … when not given.
        name: Name of the data set.
        random_state: None, an integer, or a numpy generator.

    Example:
        >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
        >>> data = simulate(chain, 100, mechanism="linear", do=[{}, {"x1": 2.0}], random_state=0)
        >>> data.X.shape, data.mask.sum(0).tolist(), set(data.X[data.mask].tolist())
        ((200, 3), [0, 100, 0], {2.0})
    """
    if rows < 1:
        raise ValueError(f"'rows' must be at least 1; got {rows}.")
    n = len(adjacency)
    labels = checked_names(default_names(n) if names is None else names, n, name)
    graph = checked_truth(adjacency, labels, name)
    mask, target = _interventions(do, rows, labels, numpy_generator(random_state, "do"))
    roots = graph.sum(0) == 0
    X = np.where(
        roots,
        _noise(root_noise).draw(len(mask), n, numpy_generator(random_state, "roots")),
        _noise(noise).draw(len(mask), n, numpy_generator(random_state, "noise")),
    )
    functions = MECHANISMS[mechanism]() if isinstance(mechanism, str) else mechanism
    bend = NONLINEARITIES[post] if isinstance(post, str) else post
    # Every node has a generator of its own: what is done to one cannot change the others' draws.
    seeds = numpy_generator(random_state, "mechanisms").integers(2**63, size=n)
    # One thread: the number of threads would change the last digits.
    with threadpool_limits(1, user_api="blas"):
        for node in topological_order(torch.from_numpy(graph)).tolist():
            if not roots[node]:
                parents = X[:, graph[:, node] == 1]
                value = X[:, node] + functions.draw(parents, numpy_generator(int(seeds[node])))
                X[:, node] = value if bend is None else bend(value)
            X[:, node] = np.where(mask[:, node], target[:, node], X[:, node])
    details = f"{functions!r}, {_noise(noise)!r}, roots {_noise(root_noise)!r}, post={post!r}."
    return Dataset(
        X=X,
        adjacency=graph,
        names=labels,
        name=name,
        provenance=Provenance(source="simulated", details=details),
        mask=None if do is None else mask,
        conditions=None if do is None else np.arange(len(mask)) // rows,
    )


def _noise(noise: str | Noise) -> Noise:
    return Noise(noise) if isinstance(noise, str) else noise


def _interventions(
    do: Environment | Sequence[Environment] | None,
    rows: int,
    names: list[str],
    rng: np.random.Generator,
) -> tuple[BoolArray, FloatArray]:  # (environments * rows, nodes) each
    environments = [do or {}] if do is None or isinstance(do, Mapping) else list(do)
    mask = np.zeros((len(environments), rows, len(names)), dtype=bool)
    value = np.zeros(mask.shape)
    for k, environment in enumerate(environments):
        for node, setting in environment.items():
            column = _position(node, names)
            mask[k, :, column] = True
            if setting is not None and not np.isfinite(setting):
                raise ValueError(f"'do' must set finite values; got {setting} for {node!r}.")
            value[k, :, column] = rng.standard_normal(rows) if setting is None else setting
    return mask.reshape(-1, len(names)), value.reshape(-1, len(names))


def _position(node: Node, names: list[str]) -> int:
    if node in names:
        return names.index(str(node))
    if isinstance(node, (int, np.integer)) and 0 <= node < len(names):
        return int(node)
    hint = suggest(node, names)
    raise ValueError(f"Unknown node {node!r} in 'do'.{hint} Known: {', '.join(names[:20])}.")
