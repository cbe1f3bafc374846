"""The solver of VI-DP-DAG with the functions integrated out: search, then a posterior around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..distributions import Constraints, DAGDistribution, DAGMixture, EdgeDistribution, GumbelTopK
from ..evidence.additive import AdditiveEvidence
from ..evidence.base import Evidence
from ..evidence.bge import BGeEvidence
from ..evidence.gp import GPEvidence
from ..evidence.linear import LinearEvidence
from ..evidence.screened import ExactScreen, ScreenedEvidence
from ..evidence.transforms import TRANSFORMS, Transformed, standardise, transform
from ..ops.graphs import reachability
from ..ops.shape import negentropy
from ..registry import Registry
from ..scm import Mechanisms, fit_additive, fit_gp, fit_linear
from ..search import greedy
from ..search.enumerated import likely_graphs
from ..search.iterated import iterated_search
from ..search.lazy import LazyResult, lazy_search
from ..search.posterior import DAGPosterior, fit_locally
from ..search.reversals import direction_odds

__all__ = [
    "INTEGRATED",
    "Choice",
    "Family",
    "Found",
    "choose",
    "find_graph",
    "forecast",
    "misfit",
    "mixture",
    "ranking",
]

_LAZY_NODES = 30  # beyond, cheap evidences are searched by plain greedy steps
_EXACT_NODES = 10  # up to which all parent sets are evaluated where that is cheap
_EXACT_GP_NODES = 5  # and with Gaussian processes
_GP_NODES = 150  # beyond, a search with Gaussian processes takes too long to be a default
_COMPARED_ROWS = 1500  # by which families are compared
_FEW_ROWS = 500  # for a comparison that need not be fine
_SAMPLED = 12  # children on which two families are compared


@dataclass(frozen=True)
class Family:
    """A kind of mechanism whose functions can be integrated out.

    Attributes:
        evidence: From (rows, n) columns and a device, the evidence of parent sets.
        fit: From columns and an (n, n) adjacency, the functions on that graph.
    """

    evidence: Callable[[Tensor, str], ScreenedEvidence]
    fit: Callable[[Tensor, Tensor], Mechanisms]


INTEGRATED: Registry[Family] = Registry("mechanism")
INTEGRATED.register("gp")(Family(lambda x, device: GPEvidence(x, device=device), fit_gp))
INTEGRATED.register("additive")(
    Family(lambda x, device: ExactScreen(AdditiveEvidence(x)), fit_additive)
)
INTEGRATED.register("linear")(Family(lambda x, device: ExactScreen(BGeEvidence(x)), fit_linear))


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
) -> Found:
    """Search with an evidence, then find the posterior: over all graphs, or around the best."""
    evidence = INTEGRATED[mechanism].evidence(x, device)
    penalty = -math.log(edge_prior / (1 - edge_prior))
    if x.shape[1] > _LAZY_NODES and not isinstance(evidence, GPEvidence):
        found = _greedily(evidence, constraints, penalty)
    elif isinstance(evidence, ExactScreen) and isinstance(evidence.evidence, BGeEvidence):
        found = iterated_search(evidence.evidence, edge_penalty=penalty, constraints=constraints)
    else:
        found = lazy_search(evidence, edge_penalty=penalty, constraints=constraints)
    if x.shape[1] <= (_EXACT_NODES if isinstance(evidence, ExactScreen) else _EXACT_GP_NODES):
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


def _greedily(evidence: ScreenedEvidence, constraints: Constraints, penalty: float) -> LazyResult:
    """Plain greedy steps, for many nodes and an evidence that is cheap."""
    inner = evidence.evidence if isinstance(evidence, ExactScreen) else evidence
    found = greedy(inner, constraints=constraints, penalty=penalty)
    toggled = [evidence.screen(v, found.adjacency[:, v]) for v in range(evidence.n_nodes)]
    change = torch.stack(toggled, dim=1)
    return LazyResult(
        adjacency=found.adjacency,
        log_evidence=_values(evidence, found.adjacency),
        gain=torch.where(found.adjacency, -change, change),
        confirmed=torch.ones_like(found.adjacency),
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


@dataclass(frozen=True)
class Choice:
    """The family and the transformation of columns that the evidence prefers, and why."""

    mechanism: str
    transform: str
    why: str


def choose(x: Tensor, constraints: Constraints) -> Choice:  # (rows, n) standardised
    r"""Compare mechanisms and transformations of all columns by their evidence.

    .. math:: \log p(x) = \sum_v \log p(z_v \mid z_{\mathrm{pa}(v)}) + \sum_v \log |g'(x_v)|,
        \qquad z = g(x)

    A greedy additive search gives a graph; transformations are compared by the additive evidence
    of that graph with their Jacobian counted, and must hold under Gaussian processes too; then
    families are compared by their evidence on a dozen of its children.
    """
    plain = transform(x, "identity")
    graph = greedy(AdditiveEvidence(plain.z), constraints=constraints).adjacency
    worth = {name: _total(transform(x, name), graph) for name in TRANSFORMS}
    price = 0.5 * math.log(len(x)) * x.shape[1]  # a parameter per column
    best = max(worth, key=lambda name: worth[name] - (price if name != "identity" else 0.0))
    # Interactions are invisible to additive models: Gaussian processes must agree.
    doubtful = best != "identity" and x.shape[1] <= _GP_NODES
    if doubtful and _joint(transform(x, best), graph) <= _joint(plain, graph):
        best = "identity"
    if best != "identity":
        plain = transform(x, best)
        graph = greedy(AdditiveEvidence(plain.z), constraints=constraints).adjacency
    reason = "columns as they are" if best == "identity" else f"{best} of the columns"
    if best != "identity":
        reason += f" ({worth[best] - worth['identity']:.0f} nats better)"
    rows = _spaced(plain.z, _COMPARED_ROWS)  # the same for all, though some could use more
    families = {
        name: _sampled(INTEGRATED[name].evidence(rows, "cpu"), graph)
        for name in ("linear", "additive", *(["gp"] if x.shape[1] <= _GP_NODES else []))
    }
    # BGe expects noise of some size and undersells nearly exact relations; curves that win must
    # win against straight lines, not against its prior.
    straight = _sampled(LinearEvidence(rows, criterion="bic"), graph)
    families["linear"] = max(families["linear"], straight)
    winner = max(families, key=lambda name: families[name])
    others = ", ".join(
        f"{families[winner] - value:.0f} nats over {name}"
        for name, value in families.items()
        if name != winner
    )
    if winner == "gp" and len(x) > GPEvidence.most_rows:
        others += f"; Gaussian processes see {GPEvidence.most_rows} of {len(x)} rows"
    if x.shape[1] > _GP_NODES:
        others += f"; Gaussian processes are not tried beyond {_GP_NODES} columns"
    return Choice(winner, best, f"{winner} mechanisms on {reason}: {others}")


def _spaced(x: Tensor, most: int) -> Tensor:  # (rows, n) -> (at most ``most``, n)
    return x[torch.linspace(0, len(x) - 1, min(most, len(x))).round().long()]


def _total(columns: Transformed, graph: Tensor) -> float:
    """Additive evidence of a graph, in the density of the original columns."""
    evidence = AdditiveEvidence(columns.z)
    return float(_values(evidence, graph).sum() + columns.log_jacobian.sum())


def _joint(columns: Transformed, graph: Tensor) -> float:
    """Density of a sample of the columns given their parents, under Gaussian processes."""
    n = len(graph)
    nodes = torch.arange(0, n, max(1, n // _SAMPLED))
    evidence = GPEvidence(columns.z, rows=_FEW_ROWS)
    values = evidence.log_evidence(nodes, graph.T[nodes])
    share = evidence.n_rows / len(columns.z)
    return float(values.sum() + share * columns.log_jacobian[nodes].sum())


def _sampled(evidence: Evidence, graph: Tensor) -> float:
    """Evidence that parents bring to a sample of the children of a graph."""
    children = graph.any(0).nonzero()[:, 0]
    step = max(1, len(children) // _SAMPLED)
    children = children[::step][:_SAMPLED]
    if not len(children):
        return 0.0
    parents = graph.T[children]
    alone = evidence.log_evidence(children, torch.zeros_like(parents))
    return float((evidence.log_evidence(children, parents) - alone).sum())


def _values(evidence: Evidence, graph: Tensor) -> Tensor:  # (n, n) bool -> (n,)
    return evidence.log_evidence(torch.arange(len(graph)), graph.T.contiguous())
