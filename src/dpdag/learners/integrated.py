"""The solver of VI-DP-DAG with the functions integrated out: search, then a posterior around it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..distributions import Constraints, DAGDistribution, DAGMixture, EdgeDistribution, GumbelTopK
from ..evidence.gp import GPEvidence
from ..evidence.transforms import standardise
from ..ops.graphs import reachability
from ..ops.shape import negentropy
from ..scm import Mechanisms
from ..search.enumerated import likely_graphs
from ..search.lazy import LazyResult, lazy_search
from ..search.posterior import DAGPosterior, fit_locally
from ..search.reversals import direction_odds
from .families import INTEGRATED

__all__ = ["Found", "find_graph", "forecast", "misfit", "mixture", "ranking"]


@dataclass(frozen=True)
class Found:
    """The best graph a search found and the posterior, as one DP-DAG or several."""

    graph: LazyResult
    posteriors: Sequence[DAGPosterior]
    weights: Tensor  # (k,)


def find_graph(
    x: Tensor,  # (rows, n)
    mechanism: str,
    *,
    constraints: Constraints,
    edge_prior: float,
    device: str = "cpu",
    start: Tensor | None = None,  # (n, n) bool
) -> Found:
    """Search with an evidence, then find the posterior: over all graphs, or around the best.

    From a graph to ``start`` with, one climb is enough.
    """
    family = INTEGRATED[mechanism]
    evidence = family.evidence(x, device)
    penalty = -math.log(edge_prior / (1 - edge_prior))
    if start is None:
        found = family.search(x, evidence, constraints, penalty)
    else:
        found = lazy_search(evidence, edge_penalty=penalty, constraints=constraints, start=start)
    if x.shape[1] <= family.exact_nodes:
        likely = likely_graphs(evidence, edge_prior=edge_prior, constraints=constraints)
        return Found(found, likely.posteriors(constraints), likely.weights)
    odds = direction_odds(found, evidence, constraints=constraints)
    local = fit_locally(found, edge_prior=edge_prior, constraints=constraints, odds=odds)
    return Found(found, [local], torch.ones(1))


def forecast(x: Tensor, mechanism: str) -> str | None:  # (rows, n)
    """What to expect of a search that takes more than a minute, by what others took on a CPU."""
    rows, n = min(len(x), GPEvidence.most_rows), x.shape[1]
    minutes = 1.5 * n * (rows / 1000) ** 2 / 60
    if mechanism != "gp" or minutes < 1:
        return None
    return (
        f"Searching {n} columns with Gaussian processes on {rows} of {len(x)} rows takes some "
        f"{minutes:.0f} to {3 * minutes:.0f} minutes on a CPU; CAM() takes seconds."
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
