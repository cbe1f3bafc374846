"""The solver of VI-DP-DAG with the functions integrated out: search, then a posterior around it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from ..distributions import Constraints, DAGDistribution, DAGMixture, EdgeDistribution, GumbelTopK
from ..evidence.base import Evidence
from ..evidence.budget import search_seconds
from ..evidence.transforms import standardise
from ..ops.graphs import reachability
from ..ops.shape import negentropy
from ..scm import Mechanisms
from ..search.enumerated import likely_graphs
from ..search.lazy import LazyResult, lazy_search
from ..search.posterior import DAGPosterior, fit_locally
from ..search.reversals import direction_odds
from .families import CPU, INTEGRATED, PROCESSES, Resources

__all__ = ["Found", "find_graph", "forecast", "misfit", "mixture", "ranking"]

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


def find_graph(
    x: Tensor,  # (rows, n)
    mechanism: str,
    *,
    constraints: Constraints,
    edge_prior: float,
    resources: Resources = CPU,
    start: Tensor | None = None,  # (n, n) bool
) -> Found:
    """Search with an evidence, then find the posterior: over all graphs, or around the best.

    From a graph to ``start`` with, one climb is enough. Where all graphs are seen, the search
    cannot miss the best of them.
    """
    family = INTEGRATED[mechanism]
    evidence = family.evidence(x, resources)
    penalty = -math.log(edge_prior / (1 - edge_prior))
    climb = partial(lazy_search, evidence, edge_penalty=penalty, constraints=constraints)
    if start is None:
        found = family.search(x, evidence, constraints, penalty)
    else:
        found = climb(start=start)
    if x.shape[1] <= family.exact_nodes:
        likely = likely_graphs(evidence, edge_prior=edge_prior, constraints=constraints)
        other = climb(start=likely.best)
        if other.total(penalty) > found.total(penalty) + _EQUAL:
            found = other
        return Found(found, likely.posteriors(constraints), likely.weights, evidence)
    odds = direction_odds(found, evidence, constraints=constraints)
    local = fit_locally(found, edge_prior=edge_prior, constraints=constraints, odds=odds)
    return Found(found, [local], torch.ones(1), evidence)


def forecast(x: Tensor, mechanism: str, resources: Resources = CPU) -> str | None:
    """What to expect of a search in (rows, n) columns that takes more than half a minute."""
    if mechanism not in PROCESSES:
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
