"""A fit with the functions integrated out, step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..distributions import Constraints, DAGMixture
from ..evidence.transforms import transform
from ..ops.graphs import topological_order
from ..ops.rows import spaced, varied_rows
from ..scm import Mechanisms, MonotoneColumns
from ..seeding import base_seed, torch_generator
from ..training import Spinner
from .base import DAGLearner, Solution
from .choice import choose
from .comparison import worth
from .families import INTEGRATED, LAZY_NODES, Family, Resources
from .functions import compare_with_networks, train_networks
from .integrated import Found, Task, find_again, find_graph, forecast, misfit, mixture, ranking

__all__ = ["Integrated", "Plan", "integrate"]

_RESAMPLED_NODES = 30  # beyond, searching again takes too long to be a default
_MISFIT = 2.5  # nats by which a typical column's residuals may prefer another shape
_RESAMPLES = 3


class Plan(NamedTuple):
    """What is asked of a fit.

    Attributes:
        mechanism: A family or "auto".
        any_noise: Whether "auto" may choose noise of another shape than the Gaussian one.
        n_restarts: Searches, on all rows and on halves of them; None for as many as called for.
        names: Of the columns, to speak of them.
    """

    mechanism: str
    any_noise: bool
    n_restarts: int | None
    edge_prior: float
    resources: Resources
    random_state: Any
    names: Sequence[Any] | None = None


class Integrated(NamedTuple):
    """What came of it.

    Attributes:
        mechanism: The kind of functions on the graph.
        choice: Why, and how the graph was found; None where there is nothing to say.
        columns: The transformation of the columns; None for none.
    """

    solution: Solution
    posterior: DAGMixture
    mechanism: str
    choice: str | None
    columns: MonotoneColumns | None


def integrate(
    x: Tensor,  # (rows, n) standardised
    constraints: Constraints,
    plan: Plan,
    spinner: Spinner,
) -> Integrated:
    """Choose a family, search with its evidence, then fit the posterior around what was found."""
    mechanism, columns, remarks = plan.mechanism, None, list[str]()
    resources = plan.resources.settled(x.shape[1])
    if mechanism == "auto":
        spinner.show("comparing mechanisms")
        choice = choose(
            x, constraints, any_noise=plan.any_noise, resources=resources, names=plan.names
        )
        mechanism = choice.mechanism
        remarks.append(choice.why)
        spinner.say(choice.why)
        if choice.changes:
            columns = MonotoneColumns.through(x, choice.columns(x))
            x = columns(x)
    if expected := forecast(x, mechanism, resources):
        spinner.say(expected)
    task = Task(mechanism, constraints, plan.edge_prior, resources)
    spinner.show("searching a graph")
    first = find_graph(x, task)
    if plan.mechanism == "auto" and plan.any_noise:
        spinner.show("looking at what is left unexplained")
        if other := _with_any_noise(x, first, task):
            gain, task, first = other
            remarks.append(
                f"{task.mechanism} instead, {gain:.0f} nats better once residuals were seen"
            )
            spinner.say(remarks[-1])
    graph = first.graph.adjacency
    read = int(min(len(x), task.family.most_rows(x.shape[1], resources)))
    if read < len(x):
        remarks.append(f"the graph is sought on {read} of {len(x)} rows")
    fitted = _Fit(task.mechanism, first.evidence)
    count = (plan.n_restarts or 1) - 1
    if plan.n_restarts is None and x.shape[1] <= _RESAMPLED_NODES:
        doubt = _doubt(task.family, spaced(x, read), partial(fitted, x, graph))
        if doubt:
            count = _RESAMPLES
            remarks.append(
                f"{doubt}: probabilities are averaged over all rows and {count} random halves"
            )
    found = [first]
    if count:
        spinner.show(f"checking it on {count} random halves of the rows")
        found += find_again(x, _halves(x, count, plan.random_state), task, start=graph)
    mechanism = task.mechanism
    functions: Callable[[Tensor, Tensor], Mechanisms] = fitted
    many = task.family.kernel is not None and read < len(x) and bool(graph.any())
    if plan.mechanism == "auto" and many:
        spinner.show("comparing with trained networks")
        seed, device = base_seed(plan.random_state), resources.device
        rivals = compare_with_networks(x, graph, mechanism, seed=seed, device=device)
        remarks.append(rivals.verdict)
        spinner.say(rivals.verdict)
        if rivals.won:
            mechanism, functions = "mlp", partial(train_networks, seed=seed, device=device)
    order = topological_order(graph | constraints.before)
    scores = ranking(first.graph, constraints)
    solution = Solution(scores, graph, functions, order, _history(found))
    why = "; ".join(remarks) or None
    return Integrated(solution, mixture(found, constraints), mechanism, why, columns)


def _history(found: Sequence[Found]) -> list[dict[str, Any]]:
    """The evidence after every move of every search."""
    return [
        {"restart": k, "step": step, "log_evidence": value}
        for k, one in enumerate(found)
        for step, value in enumerate(one.graph.history)
    ]


def _with_any_noise(x: Tensor, first: Found, task: Task) -> tuple[float, Task, Found] | None:
    """What noise of any shape explains more, if it does, once a graph has shown the residuals.

    Families are compared on a rough graph, where noise of any shape may look Gaussian.
    """
    plain = task.mechanism in ("linear", "additive") and x.shape[1] <= LAZY_NODES
    graph = first.graph.adjacency
    if not plain or misfit(x, task.family.fit(x, graph, None)) < _MISFIT:
        return None
    other = task._replace(mechanism="free-noise")
    found = find_graph(x, other, near=graph)
    rows = transform(spaced(x, other.family.most_rows(x.shape[1], task.resources)), "identity")
    after, before = (
        worth(one.mechanism, rows, known.graph.adjacency)
        for one, known in ((other, found), (task, first))
    )
    return (after - before, other, found) if after > before else None


def _doubt(family: Family, x: Tensor, fit: Callable[[], Mechanisms]) -> str | None:
    """Why one posterior would be too sure of itself on (rows, n) columns."""
    if not family.gaussian:
        return "the shape of the noise is estimated"
    nats = misfit(x, fit())
    return f"residuals are not Gaussian ({nats:.0f} nats a column)" if nats > _MISFIT else None


class _Fit:
    """Functions of a family on a graph, kernels as the search left them; the last are kept."""

    def __init__(self, mechanism: str, evidence: Any) -> None:
        self._family, self._evidence = INTEGRATED[mechanism], evidence
        self._last: tuple[Tensor, Mechanisms] | None = None

    def __call__(self, x: Tensor, graph: Tensor) -> Mechanisms:  # (rows, n), (n, n) bool
        if self._last is None or not torch.equal(self._last[0], graph):
            self._last = graph, self._family.fit(x, graph, self._evidence)
        return self._last[1]


def _halves(x: Tensor, count: int, random_state: Any) -> Tensor:  # (rows, n) -> (count, rows / 2)
    """Random halves of the rows."""
    generator = torch_generator(random_state, "resamples")
    size = max(DAGLearner.min_rows, len(x) // 2)
    drawn = [torch.randperm(len(x), generator=generator)[:size] for _ in range(count)]
    return torch.stack([varied_rows(x, rows) for rows in drawn])
