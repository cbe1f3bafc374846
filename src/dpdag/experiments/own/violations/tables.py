"""Tables by the name of what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .... import datasets
from ....datasets import Dataset, Provenance
from ....ops.graphs import topological_order
from . import distortions, effects
from .distortions import standard
from .effects import Array, Effect

Graph = NDArray[np.int64]
Drawn = tuple[Array, Graph]  # (rows, n), (n, n)

NODES, EDGES, ROWS = 10, 13, 500


def violation(kind: str, index: int) -> Dataset:
    """Table number ``index`` of a kind of ``VIOLATIONS``, 500 rows of ten columns or more.

    A size of ``SIZES`` may stand behind the kind.

    Example:
        >>> violation("measurement error, two columns", 0).X.shape
        (500, 2)
    """
    name, _, size = kind.partition(", ")
    rng = np.random.default_rng([index, *kind.encode()])
    X, graph = VIOLATIONS[name](rng, **SIZES[size])
    names = [f"x{k}" for k in range(len(graph))]
    provenance = Provenance("simulated", kind)
    return Dataset(X, graph, names, kind, provenance, types=_types(X, names))


def _types(X: Array, names: list[str]) -> dict[str, str] | None:
    """Columns of two or three values are no numbers."""
    count = [len(np.unique(column)) for column in X.T]
    if min(count) > 3:
        return None
    kinds = {2: "binary", 3: "category"}
    return {name: kinds.get(k, "continuous") for name, k in zip(names, count)}


def _table(
    effect: Effect,
    rng: np.random.Generator,
    *,
    seen: Callable[[Array, np.random.Generator], Array] | None = None,
    nodes: int = NODES,
    rows: int = ROWS,
    edges: int = EDGES,
    root: Callable[[int, np.random.Generator], Array] | None = None,
    drawn: Callable[..., Graph] = datasets.erdos_renyi,
) -> Drawn:
    graph = _graph(rng, nodes, edges, drawn)
    if nodes == 2:  # always linked, either way
        graph = np.array([[0, 1], [0, 0]]) if rng.random() < 0.5 else np.array([[0, 0], [1, 0]])
    X = np.stack([(root or _root)(rows, rng) for _ in range(nodes)], 1)
    for node, causes in _effects_of(graph):
        X[:, node] = effect(X[:, causes], rng)
    return (X if seen is None else seen(X, rng)), graph


def _graph(
    rng: np.random.Generator,
    nodes: int = NODES,
    edges: int = EDGES,
    drawn: Callable[..., Graph] = datasets.erdos_renyi,
) -> Graph:
    return drawn(nodes, edges, random_state=int(rng.integers(2**31)))


def _effects_of(graph: Graph) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Columns that have causes, and which these are, causes first."""
    for node in topological_order(torch.from_numpy(graph)).tolist():
        if graph[:, node].any():
            yield node, graph[:, node] == 1


def _either(rng: np.random.Generator) -> Effect:
    """Curves or lines."""
    return [effects.additive, effects.lines][rng.integers(2)]


def _distorted(
    seen: Callable[[Array, np.random.Generator], Array], rng: np.random.Generator, **size: Any
) -> Drawn:
    """Curves or lines, of which something else is seen."""
    return _table(_either(rng), rng, seen=seen, **size)


def _root(rows: int, rng: np.random.Generator) -> Array:
    """Gaussian, uniform, skewed, or a mixture of two."""
    z = rng.normal(size=rows)
    uniform = torch.special.ndtr(torch.from_numpy(z)).numpy()
    kinds = z, uniform, np.exp(0.6 * z), z + 2.5 * (rng.random(rows) < 0.4)
    return kinds[rng.integers(len(kinds))]


def _expression(rows: int, rng: np.random.Generator) -> Array:
    """What a gene that no other regulates is at, between 0 and 1."""
    a, b = rng.uniform(0.8, 3, 2).tolist()
    return rng.beta(a, b, size=rows)


def _hubs(nodes: int, edges: int, *, random_state: int) -> Graph:
    """A scale-free DAG whose hubs have many effects."""
    return datasets.scale_free(nodes, edges, random_state=random_state).T.copy()


def before_hiding(rng: np.random.Generator) -> tuple[Array, Graph, Graph]:
    """A table, its graph, and the columns that stay: all but the two with most effects."""
    effect = [effects.additive, effects.joint][rng.integers(2)]
    X, graph = _table(effect, rng, nodes=NODES + 2, edges=EDGES + 7)
    return X, graph, np.sort(np.argsort(-graph.sum(1), kind="stable")[2:])


def _hidden(rng: np.random.Generator) -> Drawn:
    """The two columns with most effects are not seen."""
    X, graph, kept = before_hiding(rng)
    return X[:, kept], graph[np.ix_(kept, kept)]


def _confounded(rng: np.random.Generator) -> Drawn:
    """A cause and its effect, and a cause of both that is not seen."""
    effect = _either(rng)
    hidden, own = (standard(_root(ROWS, rng)) for _ in range(2))
    cause = own + 0.7 * standard(effect(hidden[:, None], rng))
    X = np.stack([cause, effect(np.stack([cause, hidden], 1), rng)], 1)
    return X, np.array([[0, 1], [0, 0]])


def _walks(rng: np.random.Generator) -> Drawn:
    """Columns that have nothing to do with each other, every row near the one before."""
    return rng.normal(size=(ROWS, NODES)).cumsum(0), np.zeros((NODES, NODES), dtype=int)


def _populations(rng: np.random.Generator, **size: Any) -> Drawn:
    """Two populations whose means differ in some columns, rows of both mixed."""
    X, graph = _table(effects.additive, rng, **size)
    second = rng.random(len(X)) < 0.5
    shifted = rng.random(X.shape[1]) < 0.4
    return X + 1.5 * X.std(0) * second[:, None] * shifted, graph


def _groups(rng: np.random.Generator) -> Drawn:
    """The last column is a group; means, sizes and shapes of some others differ between groups."""
    effect, levels = _either(rng), int(rng.integers(2, 4))
    own = _graph(rng, NODES - 1, EDGES - 3)
    graph = np.pad(own, (0, 1))
    differs = rng.permutation(NODES - 1)[: rng.integers(2, 6)]
    graph[-1, differs] = 1
    group = rng.choice(levels, ROWS, p=rng.dirichlet([5.0] * levels))
    X = np.stack([*(standard(_root(ROWS, rng)) for _ in range(NODES - 1)), group], 1).astype(float)
    for node, causes in _effects_of(graph):
        if causes[:-1].any():
            X[:, node] = standard(effect(X[:, :-1][:, causes[:-1]], rng))
        if causes[-1]:
            shift, size = rng.normal(size=levels), np.exp(0.3 * rng.normal(size=levels))
            shape = rng.uniform(0.7, 1.5, levels)[group]
            X[:, node] = np.sign(X[:, node]) * np.abs(X[:, node]) ** shape
            X[:, node] = X[:, node] * size[group] + shift[group]
    return X, graph


def _cut(rng: np.random.Generator) -> Drawn:
    """Some columns are only known to be above or below a value."""
    X, graph = _table(_either(rng), rng)
    for column in rng.permutation(NODES)[: rng.integers(2, 6)]:
        X[:, column] = X[:, column] > np.quantile(X[:, column], rng.uniform(0.2, 0.8))
    return X, graph


def _restless(rng: np.random.Generator) -> Drawn:
    """Noise of all columns is large and small together, row by row."""
    graph, size = _graph(rng), np.exp(0.7 * rng.normal(size=ROWS))
    return _driven(rng.normal(size=(ROWS, NODES)) * size[:, None], graph, rng), graph


def _dependent(rng: np.random.Generator) -> Drawn:
    """Every row resembles the one before, in all that enters from outside."""
    graph, noise = _graph(rng), rng.normal(size=(ROWS, NODES))
    for t in range(1, ROWS):
        noise[t] += 0.9 * noise[t - 1]
    return _driven(standard(noise), graph, rng), graph


def _driven(X: Array, graph: Graph, rng: np.random.Generator) -> Array:
    """Sums of curves with given noise (rows, n), which is what roots are."""
    for node, causes in _effects_of(graph):
        X[:, node] = datasets.AdditiveGP().draw(standard(X[:, causes]), rng) + 0.4 * X[:, node]
    return X


def _relative(rng: np.random.Generator) -> Drawn:
    """All columns are divided by one without causes, as counts by what was counted at all.

    Dividing makes that column a cause of all others.
    """
    X, graph = _table(_either(rng), rng)
    reference = int(rng.choice(np.flatnonzero(~graph.any(0))))
    others = np.arange(NODES) != reference
    parts = np.exp(0.5 * standard(X))
    graph[reference, others] = 1
    return np.where(others, parts / parts[:, [reference]], parts), graph


def _averages(rng: np.random.Generator) -> Drawn:
    """Every row is the average of three units, each of which obeys the model."""
    X, graph = _table(_either(rng), rng, rows=3 * ROWS)
    return X.reshape(ROWS, 3, -1).mean(1), graph


def _selected(rng: np.random.Generator) -> Drawn:
    """Only rows with a high sum of two columns are in the table."""
    X, graph = _table(effects.additive, rng, rows=3 * ROWS)
    a, b = rng.choice(X.shape[1], 2, replace=False)
    total = standard(X)[:, [a, b]].sum(-1)
    return X[np.sort(np.argsort(-total)[:ROWS])], graph


def _feedback(rng: np.random.Generator) -> Drawn:
    """Effects act back weakly on their causes, sampled at rest; the strong way counts as true."""
    graph = _graph(rng)
    weight = graph * rng.choice([-1, 1], graph.shape) * rng.uniform(0.6, 1.2, graph.shape)
    weight = weight + 0.25 * graph.T * rng.choice([-1, 1], graph.shape)
    outside = np.stack([standard(_root(ROWS, rng)) for _ in range(NODES)], 1)
    X = outside.copy()
    for _ in range(200):
        X = 0.5 * X + 0.5 * (np.tanh(X) @ weight + outside)
    return X, graph


SIZES: dict[str, dict[str, int]] = {
    "": {},
    "dense": {"edges": 36},
    "few rows": {"rows": 100},
    "two columns": {"nodes": 2, "edges": 1},
}
_regulation = partial(_table, effects.regulated, seen=distortions.stained, root=_expression)

VIOLATIONS: dict[str, Callable[..., Drawn]] = {
    "additive": partial(_table, effects.additive),
    "joint": partial(_table, effects.joint),
    "lines": partial(_table, effects.lines),
    "plain lines": partial(
        _table, effects.plain_lines, root=lambda rows, rng: rng.normal(size=rows)
    ),
    "sigmoid of sum and noise": partial(_table, effects.sigmoid_of_sum),
    "network with noise": partial(_table, effects.network_noise),
    "process with noise": partial(_table, effects.noise_inside),
    "multiplicative noise": partial(_table, effects.multiplicative),
    "post-nonlinear": partial(_table, effects.post_nonlinear),
    "measurement error": partial(_distorted, distortions.measured),
    "last of the causes": partial(_table, effects.latest),
    "regimes": partial(_table, effects.regimes),
    "regulation": _regulation,
    "hubs of regulation": partial(_regulation, drawn=_hubs, nodes=2 * NODES, edges=24),
    "saturated sensors": partial(_distorted, distortions.saturated),
    "five levels": partial(_distorted, distortions.rounded),
    "shares of a whole": partial(_distorted, distortions.composed),
    "laboratories": partial(_distorted, distortions.batched),
    "triggers": partial(_table, effects.triggered),
    "drifting instruments": partial(_distorted, distortions.drifted),
    "relative to a column": _relative,
    "averages": _averages,
    "heaped values": partial(_distorted, distortions.heaped),
    "restless rows": _restless,
    "hidden causes": _hidden,
    "confounded pair": _confounded,
    "two populations": _populations,
    "groups": _groups,
    "cut columns": _cut,
    "selection": _selected,
    "dependent rows": _dependent,
    "random walks": _walks,
    "feedback": _feedback,
}
