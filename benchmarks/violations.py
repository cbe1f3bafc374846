"""Tables that no model of the evidence made: noise in other places, hidden causes, odd rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dpdag import datasets
from dpdag.datasets import Dataset, Provenance
from dpdag.datasets.mechanisms import standardised as standard
from dpdag.experiments.measures import Array
from dpdag.experiments.own.drawn import (
    EDGES,
    EFFECTS,
    NODES,
    ROWS,
    Effect,
    Graph,
    additive,
    any_root,
    before_hiding,
    drawn_graph,
    drawn_rows,
    effects_of,
    lines,
)

Drawn = tuple[Array, Graph]  # (rows, n), (n, n)
Seen = Callable[[Array, np.random.Generator], Array]  # (rows, n) -> (rows, n)


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


# What a column makes of its causes and of noise -----------------------------------------------


def noise_inside(parents: Array, rng: np.random.Generator) -> Array:
    """A smooth function of the causes and of noise together."""
    noise = 0.5 * rng.normal(size=(len(parents), 1))
    return datasets.GP(bandwidth=1.5).draw(np.column_stack([standard(parents), noise]), rng)


def network_noise(parents: Array, rng: np.random.Generator) -> Array:
    """A network that has noise as an input."""
    noise = rng.normal(size=(len(parents), 1))
    return datasets.MLP(20).draw(np.column_stack([standard(parents), noise]), rng)


def sigmoid_of_sum(parents: Array, rng: np.random.Generator) -> Array:
    """A sigmoid of a weighted sum of the causes and of noise."""
    total = datasets.Linear().draw(standard(parents), rng) + rng.normal(size=len(parents))
    return 0.5 * (1 + np.tanh(0.5 * (total + rng.normal())))


def multiplicative(parents: Array, rng: np.random.Generator) -> Array:
    """A function of the causes times noise."""
    value = datasets.AdditiveGP().draw(standard(parents), rng)
    return value * np.exp(0.5 * rng.normal(size=len(parents)))


def post_nonlinear(parents: Array, rng: np.random.Generator) -> Array:
    """An odd power of a sum of curves and noise."""
    total = datasets.AdditiveGP().draw(standard(parents), rng) + 0.4 * rng.normal(size=len(parents))
    return np.sign(total) * np.abs(total) ** rng.choice([0.4, 2.0])


def regulated(parents: Array, rng: np.random.Generator) -> Array:
    """Genes switched on or off by others, with little noise of their own."""
    level = parents / parents.max(0)
    half, steep = rng.uniform(0.2, 0.8, parents.shape[1]), rng.uniform(1, 4, parents.shape[1])
    active = level**steep / (half**steep + level**steep)
    active = np.where(rng.random(parents.shape[1]) < 0.7, active, 1 - active)
    value = active.prod(1) if rng.random() < 0.5 else active.mean(1)
    return value * np.exp(0.1 * rng.normal(size=len(parents)))


def latest(parents: Array, rng: np.random.Generator) -> Array:
    """What waits for the last of its causes, and then takes a time of its own."""
    late = (standard(parents) + rng.normal(size=parents.shape[1])).max(1)
    return late + 0.4 * rng.exponential(size=len(parents))


def regimes(parents: Array, rng: np.random.Generator) -> Array:
    """One cause switches between two functions of all, noise entering before the switch."""
    x = standard(parents)
    switch = x[:, rng.integers(x.shape[1])] + 0.3 * rng.normal(size=len(x)) > 0
    one, other = (datasets.AdditiveGP().draw(x, rng) for _ in range(2))
    return np.where(switch, one, other) + 0.3 * rng.normal(size=len(x))


def triggered(parents: Array, rng: np.random.Generator) -> Array:
    """On or off by a weighted sum of the causes, and noise."""
    total = standard(parents) @ rng.choice([-1.0, 1.0], parents.shape[1])
    return rng.uniform(1, 2) * (total > 0.5 * rng.normal()) + 0.3 * rng.normal(size=len(parents))


def plain_lines(parents: Array, rng: np.random.Generator) -> Array:
    """What the evidence expects: lines and Gaussian noise, which leave directions open."""
    return datasets.Linear().draw(standard(parents), rng) + rng.normal(size=len(parents))


# What is seen of a table, where measurement or arithmetic stand in between -----------------------


def measured(X: Array, rng: np.random.Generator) -> Array:
    """Every column is measured with an error."""
    return X + 0.4 * X.std(0) * rng.normal(size=X.shape)


def stained(X: Array, rng: np.random.Generator) -> Array:
    """Every column is measured with an error that grows with it."""
    return X * np.exp(0.1 * rng.normal(size=X.shape))


def composed(X: Array, rng: np.random.Generator) -> Array:
    """Shares of a whole: every row sums to one."""
    parts = np.exp(0.5 * standard(X))
    return np.asarray(parts / parts.sum(1, keepdims=True))


def batched(X: Array, rng: np.random.Generator) -> Array:
    """Rows of five laboratories, each with a scale and a zero of its own."""
    laboratory = rng.integers(5, size=len(X))
    scale, zero = 1 + 0.3 * rng.normal(size=(5, X.shape[1])), rng.normal(size=(5, X.shape[1]))
    return np.asarray(X * scale[laboratory] + 0.5 * X.std(0) * zero[laboratory])


def drifted(X: Array, rng: np.random.Generator) -> Array:
    """Half of the instruments drift slowly, all together, while the table is being filled."""
    drift = np.sin(np.linspace(0, rng.uniform(2, 12), len(X)) + rng.uniform(0, 6))
    return X + 0.7 * X.std(0) * drift[:, None] * (rng.random(X.shape[1]) < 0.5)


def heaped(X: Array, rng: np.random.Generator) -> Array:
    """Half of the columns are read off to the nearest mark of a coarse scale, most of the time."""
    step = X.std(0) * rng.uniform(0.3, 0.8, X.shape[1])
    careless = rng.random(X.shape) < 0.8 * (rng.random(X.shape[1]) < 0.5)
    return np.where(careless, np.round(X / step) * step, X)


def saturated(X: Array, rng: np.random.Generator) -> Array:
    """Every sensor ends at a lowest and a highest value."""
    return np.clip(X, *np.quantile(X, [0.1, 0.85], axis=0))


def rounded(X: Array, rng: np.random.Generator) -> Array:
    """Every column is rounded to five levels."""
    low, high = np.quantile(X, [0.02, 0.98], axis=0)
    return np.clip(np.round(4 * (X - low) / (high - low)), 0, 4)


# Tables ------------------------------------------------------------------------------------------


def _table(
    effect: Effect,
    rng: np.random.Generator,
    *,
    seen: Seen = lambda X, rng: X,
    nodes: int = NODES,
    rows: int = ROWS,
    edges: int = EDGES,
    root: Callable[[int, np.random.Generator], Array] = any_root,
    family: Callable[..., Graph] = datasets.erdos_renyi,
) -> Drawn:
    graph = family(nodes, edges, random_state=int(rng.integers(2**31)))
    if nodes == 2:  # always linked, either way
        graph = np.array([[0, 1], [0, 0]]) if rng.random() < 0.5 else np.array([[0, 0], [1, 0]])
    return seen(drawn_rows(graph, effect, rng, rows=rows, root=root), rng), graph


def _either(rng: np.random.Generator) -> Effect:
    """Curves or lines."""
    return [additive, lines][rng.integers(2)]


def _distorted(seen: Seen, rng: np.random.Generator, **size: Any) -> Drawn:
    """Curves or lines, of which something else is seen."""
    return _table(_either(rng), rng, seen=seen, **size)


def _expression(rows: int, rng: np.random.Generator) -> Array:
    """What a gene that no other regulates is at, between 0 and 1."""
    a, b = rng.uniform(0.8, 3, 2).tolist()
    return rng.beta(a, b, size=rows)


def _hubs(nodes: int, edges: int, *, random_state: int) -> Graph:
    """A scale-free DAG whose hubs have many effects."""
    return datasets.scale_free(nodes, edges, random_state=random_state).T.copy()


def _hidden(rng: np.random.Generator) -> Drawn:
    """The two columns with most effects are not seen."""
    X, graph, kept = before_hiding(rng)
    return X[:, kept], graph[np.ix_(kept, kept)]


def _confounded(rng: np.random.Generator) -> Drawn:
    """A cause and its effect, and a cause of both that is not seen."""
    effect = _either(rng)
    hidden, own = (standard(any_root(ROWS, rng)) for _ in range(2))
    cause = own + 0.7 * standard(effect(hidden[:, None], rng))
    X = np.stack([cause, effect(np.stack([cause, hidden], 1), rng)], 1)
    return X, np.array([[0, 1], [0, 0]])


def _walks(rng: np.random.Generator) -> Drawn:
    """Columns that have nothing to do with each other, every row near the one before."""
    return rng.normal(size=(ROWS, NODES)).cumsum(0), np.zeros((NODES, NODES), dtype=int)


def _populations(rng: np.random.Generator, **size: Any) -> Drawn:
    """Two populations whose means differ in some columns, rows of both mixed."""
    X, graph = _table(additive, rng, **size)
    second = rng.random(len(X)) < 0.5
    shifted = rng.random(X.shape[1]) < 0.4
    return X + 1.5 * X.std(0) * second[:, None] * shifted, graph


def _groups(rng: np.random.Generator) -> Drawn:
    """The last column is a group; means, sizes and shapes of some others differ between groups."""
    effect, levels = _either(rng), int(rng.integers(2, 4))
    own = drawn_graph(rng, NODES - 1, EDGES - 3)
    graph = np.pad(own, (0, 1))
    differs = rng.permutation(NODES - 1)[: rng.integers(2, 6)]
    graph[-1, differs] = 1
    group = rng.choice(levels, ROWS, p=rng.dirichlet([5.0] * levels))
    others = [standard(any_root(ROWS, rng)) for _ in range(NODES - 1)]
    X = np.stack([*others, group], 1)
    for node, causes in effects_of(graph):
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
    graph, size = drawn_graph(rng), np.exp(0.7 * rng.normal(size=ROWS))
    return _driven(rng.normal(size=(ROWS, NODES)) * size[:, None], graph, rng), graph


def _dependent(rng: np.random.Generator) -> Drawn:
    """Every row resembles the one before, in all that enters from outside."""
    graph, noise = drawn_graph(rng), rng.normal(size=(ROWS, NODES))
    for t in range(1, ROWS):
        noise[t] += 0.9 * noise[t - 1]
    return _driven(standard(noise), graph, rng), graph


def _driven(X: Array, graph: Graph, rng: np.random.Generator) -> Array:
    """Sums of curves with given noise (rows, n), which is what roots are."""
    for node, causes in effects_of(graph):
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
    X, graph = _table(additive, rng, rows=3 * ROWS)
    a, b = rng.choice(X.shape[1], 2, replace=False)
    total = standard(X)[:, [a, b]].sum(-1)
    return X[np.sort(np.argsort(-total)[:ROWS])], graph


def _feedback(rng: np.random.Generator) -> Drawn:
    """Effects act back weakly on their causes, sampled at rest; the strong way counts as true."""
    graph = drawn_graph(rng)
    weight = graph * rng.choice([-1, 1], graph.shape) * rng.uniform(0.6, 1.2, graph.shape)
    weight = weight + 0.25 * graph.T * rng.choice([-1, 1], graph.shape)
    outside = np.stack([standard(any_root(ROWS, rng)) for _ in range(NODES)], 1)
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
_regulation = partial(_table, regulated, seen=stained, root=_expression)

VIOLATIONS: dict[str, Callable[..., Drawn]] = {
    **{name: partial(_table, effect) for name, effect in EFFECTS.items()},
    "plain lines": partial(_table, plain_lines, root=lambda rows, rng: rng.normal(size=rows)),
    "sigmoid of sum and noise": partial(_table, sigmoid_of_sum),
    "network with noise": partial(_table, network_noise),
    "process with noise": partial(_table, noise_inside),
    "multiplicative noise": partial(_table, multiplicative),
    "post-nonlinear": partial(_table, post_nonlinear),
    "measurement error": partial(_distorted, measured),
    "last of the causes": partial(_table, latest),
    "regimes": partial(_table, regimes),
    "regulation": _regulation,
    "hubs of regulation": partial(_regulation, family=_hubs, nodes=2 * NODES, edges=24),
    "saturated sensors": partial(_distorted, saturated),
    "five levels": partial(_distorted, rounded),
    "shares of a whole": partial(_distorted, composed),
    "laboratories": partial(_distorted, batched),
    "triggers": partial(_table, triggered),
    "drifting instruments": partial(_distorted, drifted),
    "relative to a column": _relative,
    "averages": _averages,
    "heaped values": partial(_distorted, heaped),
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
