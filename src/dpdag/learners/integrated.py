"""The solver of VI-DP-DAG with the functions integrated out: search, then a posterior around it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from ..distributions import Constraints, DAGDistribution, DAGMixture, EdgeDistribution, GumbelTopK
from ..evidence.base import Evidence
from ..evidence.budget import search_seconds
from ..evidence.screened import ScreenedEvidence
from ..evidence.transforms import standardise
from ..ops.graphs import reachability
from ..ops.shape import negentropy
from ..scm import Mechanisms
from ..search.enumerated import likely_graphs
from ..search.in_step import in_step
from ..search.lazy import LazyResult, lazy_search
from ..search.posterior import DAGPosterior, fit_locally
from ..search.reversals import direction_odds
from .families import CPU, INTEGRATED, Family, Resources, mend

__all__ = ["Found", "Task", "find_again", "find_graph", "forecast", "misfit", "mixture", "ranking"]

_EQUAL = 1e-6  # nats between graphs that explain the same


@dataclass(frozen=True)
class Found:
    """The best graph a search found and the posterior, as one DP-DAG or several.

    Attributes:
        evidence: What it was found with; None where that is no longer needed.
    """

    graph: LazyResult
    posteriors: Sequence[DAGPosterior]
    weights: Tensor  # (k,)
    evidence: Evidence | None


class Task(NamedTuple):
    """What is to be found: mechanisms, what is known beforehand, and what that may cost."""

    mechanism: str
    constraints: Constraints
    edge_prior: float
    resources: Resources = CPU

    @property
    def family(self) -> Family:
        return INTEGRATED[self.mechanism]

    @property
    def penalty(self) -> float:
        """What an edge must bring, in nats."""
        return -math.log(self.edge_prior / (1 - self.edge_prior))


def find_graph(x: Tensor, task: Task, *, near: Tensor | None = None) -> Found:  # (rows, n)
    """Search with an evidence, then find the posterior: over all graphs, or around the best.

    Arguments:
        near: (n, n) bool, a graph to mend instead of searching from the beginning.
    """
    evidence = task.family.evidence(x, task.resources)
    if near is None:
        found = task.family.search(x, evidence, task.constraints, task.penalty)
    else:
        found = mend([near], evidence, task.constraints, task.penalty, straight=True)
    return _with_posterior(found, evidence, task)


def find_again(
    x: Tensor,  # (rows, n)
    replicas: Tensor,  # (r, k) rows of each
    task: Task,
    *,
    start: Tensor,  # (n, n) bool
) -> list[Found]:
    """Climb from a graph on several sets of rows and find the posterior of each, as one batch."""

    def check(evidence: ScreenedEvidence) -> Found:
        found = _climb(evidence, task, start)
        return replace(_with_posterior(found, evidence, task), evidence=None)

    return in_step(task.family.evidence(x, task.resources, replicas=replicas), check)


def _climb(evidence: ScreenedEvidence, task: Task, start: Tensor) -> LazyResult:
    return lazy_search(
        evidence, edge_penalty=task.penalty, constraints=task.constraints, start=start
    )


def _with_posterior(found: LazyResult, evidence: ScreenedEvidence, task: Task) -> Found:
    """Where all graphs are seen, the search cannot miss the best of them."""
    prior, constraints = task.edge_prior, task.constraints
    if evidence.n_nodes <= task.family.exact_nodes:
        likely = likely_graphs(evidence, edge_prior=prior, constraints=constraints)
        other = _climb(evidence, task, likely.best)
        if other.total(task.penalty) > found.total(task.penalty) + _EQUAL:
            found = other
        return Found(found, likely.posteriors(constraints), likely.weights, evidence)
    odds = direction_odds(found, evidence, constraints=constraints)
    local = fit_locally(found, edge_prior=prior, constraints=constraints, odds=odds)
    return Found(found, [local], torch.ones(1), evidence)


def forecast(x: Tensor, mechanism: str, resources: Resources = CPU) -> str | None:
    """What to expect of a search in (rows, n) columns that takes more than half a minute."""
    if INTEGRATED[mechanism].kernel is None:
        return None
    n, device = x.shape[1], resources.device
    rows = min(len(x), int(INTEGRATED[mechanism].most_rows(n, resources)))
    seconds = search_seconds(n, rows, device)
    if seconds < 30:
        return None
    where = "a CPU" if device == "cpu" else "this device"
    return (
        f"Searching {n} columns with Gaussian processes on {rows} of {len(x)} rows takes some "
        f"{seconds / 2:.0f} to {2 * seconds:.0f} seconds on {where}; CAM() takes seconds."
    )


def ranking(found: LazyResult, constraints: Constraints) -> Tensor:  # -> (n, n)
    r"""Edge scores: present edges by the evidence they carry, others by what they would add.

    .. math:: s = 1 + \max(g, 0) \;\text{ or }\; \tfrac12 \bigl(1 + g / (1 + |g|)\bigr)

    Edges against the order of the graph come last: to add them, others would have to go.
    """
    gain = found.gain.nan_to_num(nan=-1e6, neginf=-1e6, posinf=1e6)
    absent = 0.5 * (1 + gain / (1 + gain.abs()))
    against = reachability(found.adjacency).mT
    absent = torch.where(against, 0.1 * absent, absent)
    scores = torch.where(found.adjacency, 1 + gain.clamp_min(0), absent)
    return scores.masked_fill(~constraints.allowed, 0.0)


def mixture(found: Sequence[Found], constraints: Constraints) -> DAGMixture:
    """Equal parts of the posteriors of several searches."""
    posteriors = [posterior for one in found for posterior in one.posteriors]
    order = torch.stack([p.order_logits.float() for p in posteriors])
    edges = torch.stack([p.edge_logits.float() for p in posteriors])
    components = DAGDistribution(
        GumbelTopK(order, constraints=constraints),
        EdgeDistribution(edges, constraints=constraints),
    )
    return DAGMixture(components, torch.cat([one.weights.float() for one in found]) / len(found))


def misfit(x: Tensor, functions: Mechanisms) -> float:  # (rows, n)
    """Nats by which a typical column's residuals prefer their own shape to the Gaussian one.

    About 0.7 where the noise is Gaussian and the mechanisms fit.
    """
    residuals, _ = standardise(x - functions(x))
    return float((len(x) * negentropy(residuals.T)).median())
