"""Which mechanisms and which transformation of the columns the data prefer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from ..distributions import Constraints
from ..evidence.additive import AdditiveEvidence
from ..evidence.base import Evidence
from ..evidence.gp import GPEvidence
from ..evidence.linear import LinearEvidence
from ..evidence.transforms import TRANSFORMS, Transformed, transform
from ..ops.rows import spaced
from ..search import greedy
from ..search.lazy import lazy_search
from .families import INTEGRATED, graph_evidence

__all__ = ["Choice", "choose"]

_GP_NODES = 150  # beyond, a search with Gaussian processes takes too long to be a default
_COMPARED_ROWS = 1500  # by which families are compared
_FEW_ROWS = 500  # for a comparison that need not be fine
_JOINT_NODES = 50  # beyond, Gaussian processes look only at graphs of sums of functions
_SEARCH_ROWS = 200  # for a quick graph of their own
_EDGE = math.log(9)  # nats an edge costs there
_SAMPLED = 12  # children on which families are compared


@dataclass(frozen=True)
class Choice:
    """The family and the transformation of columns that the evidence prefers, and why."""

    mechanism: str
    transform: str
    why: str


def choose(
    x: Tensor,  # (rows, n) standardised
    constraints: Constraints,
    *,
    any_noise: bool = True,
) -> Choice:
    r"""Compare mechanisms and transformations of all columns by their evidence.

    .. math:: \log p(x) = \sum_v \log p(z_v \mid z_{\mathrm{pa}(v)}) + \sum_v \log |g'(x_v)|,
        \qquad z = g(x)

    A greedy additive search gives a graph; transformations are compared by the additive evidence
    of that graph with their Jacobian counted, and must hold under Gaussian processes too; then
    families, among them those with noise of any shape, are compared by their evidence on a dozen
    of its children and as large a share of its roots. What causes do only together is not in that
    graph: up to 50 columns, Gaussian processes may also win with a graph of their own.

    Arguments:
        any_noise: Whether noise may have another shape than the Gaussian one.
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
    reason = _called(best)
    if best != "identity":
        reason += f" ({worth[best] - worth['identity']:.0f} nats better)"
    rows = spaced(plain.z, _COMPARED_ROWS)
    families = _families(rows, graph, any_noise=any_noise)
    winner = max(families, key=lambda name: families[name])
    if "free-noise" in families and winner not in ("additive", "gp"):
        # Where directions are wrong, noise looks Gaussian that is not, and its size seems to vary:
        # its shape must have had its say.
        free = INTEGRATED["free-noise"].evidence(rows, "cpu")
        graph = lazy_search(free, start=graph, constraints=constraints).adjacency
        families = _families(rows, graph)
        winner = max(families, key=lambda name: families[name])
    others = ", ".join(
        f"{families[winner] - value:.0f} nats over {name}"
        for name, value in families.items()
        if name != winner
    )
    if (winner, best) != ("gp", "identity") and x.shape[1] <= _JOINT_NODES:
        joint = _hidden(spaced(x, _FEW_ROWS), _Candidate(winner, best, graph), constraints)
        if joint.gain > 0 and (winner, best) != ("gp", joint.transform):
            reason = f"{_called(joint.transform)}, for what causes do together"
            others = f"{joint.gain:.0f} nats over {winner} on {_called(best)}"
            winner, best = "gp", joint.transform
    if winner == "gp" and len(x) > GPEvidence.most_rows:
        others += f"; the graph is sought on {GPEvidence.most_rows} of {len(x)} rows"
    if x.shape[1] > _GP_NODES:
        others += f"; Gaussian processes are not tried beyond {_GP_NODES} columns"
    return Choice(winner, best, f"{winner} mechanisms on {reason}: {others}")


class _Candidate(NamedTuple):
    """A family, a transformation of the columns and a graph."""

    mechanism: str
    transform: str
    graph: Tensor  # (n, n) bool


class _Hidden(NamedTuple):
    """What Gaussian processes gain over another candidate, and on which columns."""

    gain: float
    transform: str


def _hidden(x: Tensor, rival: _Candidate, constraints: Constraints) -> _Hidden:  # (rows, n)
    """Let Gaussian processes find a graph of their own: sums of functions miss pure interactions.

    Where they win, the rival may first mend its graph too.
    """
    columns = transform(x, rival.transform)
    climb = partial(lazy_search, edge_penalty=_EDGE, constraints=constraints)
    own = climb(GPEvidence(x, rows=_SEARCH_ROWS)).adjacency
    names = dict.fromkeys(("identity", rival.transform))
    worth = {name: _worth("gp", transform(x, name), own) for name in names}
    best = max(worth, key=lambda name: worth[name])
    gain = worth[best] - _worth(rival.mechanism, columns, rival.graph)
    if gain > 0:
        evidence = INTEGRATED[rival.mechanism].evidence(columns.z, "cpu")
        mended = climb(evidence, start=rival.graph).adjacency
        gain = worth[best] - _worth(rival.mechanism, columns, mended)
    return _Hidden(gain, best)


def _worth(mechanism: str, columns: Transformed, graph: Tensor) -> float:
    """What a family explains of all columns with a graph whose edges are paid for."""
    nodes = torch.arange(len(graph))
    explained = _explained(mechanism, columns.z, graph, nodes)
    return explained + float(columns.log_jacobian.sum()) - _EDGE * int(graph.sum())


def _families(
    x: Tensor,  # (rows, n)
    graph: Tensor,  # (n, n) bool
    *,
    any_noise: bool = True,
) -> dict[str, float]:
    """What each family's mechanisms explain, on the same rows, though some could use more."""
    few = len(graph) <= _GP_NODES
    names = ["linear", "additive", *(["gp"] if few else [])]
    names += ["free-noise", "location-scale"] if few and any_noise else []
    nodes = _nodes(graph)
    return {name: _explained(name, x, graph, nodes) for name in names}


def _explained(
    mechanism: str,
    x: Tensor,  # (rows, n)
    graph: Tensor,  # (n, n) bool
    nodes: Tensor,  # (k,)
) -> float:
    """Evidence of some nodes given their parents, beyond that of Gaussian noise alone."""
    parents = graph.T[nodes]

    def gain(evidence: Evidence, without: Evidence) -> float:
        alone = without.log_evidence(nodes, torch.zeros_like(parents))
        return float((evidence.log_evidence(nodes, parents) - alone).sum())

    family = INTEGRATED[mechanism]
    evidence = family.evidence(x, "cpu")
    value = gain(evidence, evidence if family.gaussian else AdditiveEvidence(x))
    if mechanism == "linear":
        # BGe expects noise of some size and undersells nearly exact relations; curves that win
        # must win against straight lines, not against its prior.
        lines = LinearEvidence(x, criterion="bic")
        value = max(value, gain(lines, lines))
    if mechanism == "location-scale":  # sizes that vary need a parameter per child, at least
        value -= 0.5 * math.log(len(x)) * int(graph.any(0)[nodes].sum())
    return value


def _total(columns: Transformed, graph: Tensor) -> float:
    """Additive evidence of a graph, in the density of the original columns."""
    evidence = AdditiveEvidence(columns.z)
    return float(graph_evidence(evidence, graph).sum() + columns.log_jacobian.sum())


def _joint(columns: Transformed, graph: Tensor) -> float:
    """Density of a sample of the columns given their parents, under Gaussian processes."""
    n = len(graph)
    nodes = torch.arange(0, n, max(1, n // _SAMPLED))
    evidence = GPEvidence(columns.z, rows=_FEW_ROWS)
    values = evidence.log_evidence(nodes, graph.T[nodes])
    share = evidence.n_rows / len(columns.z)
    return float(values.sum() + share * columns.log_jacobian[nodes].sum())


def _nodes(graph: Tensor) -> Tensor:  # (n, n) bool -> (k,)
    """About a dozen children and as large a share of the roots."""
    children, roots = (part.nonzero()[:, 0] for part in (graph.any(0), ~graph.any(0)))
    step = max(1, len(children) // _SAMPLED)
    return torch.cat([children[::step][:_SAMPLED], roots[::step]])


def _called(transformation: str) -> str:
    known = transformation == "identity"
    return "columns as they are" if known else f"{transformation} of the columns"
