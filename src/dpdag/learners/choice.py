"""Which mechanisms and which transformation of the columns the data prefer."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

from ..distributions import Constraints
from ..evidence.additive import AdditiveEvidence
from ..evidence.gp import GPEvidence
from ..evidence.transforms import TRANSFORMS, Transformed, transform
from ..ops.rows import spaced
from ..search import greedy
from ..search.lazy import lazy_search
from .comparison import Candidate, compare, together
from .families import INTEGRATED, graph_evidence

__all__ = ["Choice", "choose"]

_GP_NODES = 150  # beyond, a search with Gaussian processes takes too long to be a default
_COMPARED_ROWS = 1500  # by which families are compared
_FEW_ROWS = 500  # for a comparison that need not be fine
_JOINT_NODES = 50  # beyond, Gaussian processes look only at graphs of sums of functions
_SAMPLED = 12  # columns on which transformations are compared with Gaussian processes


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
    price = 0.5 * math.log(len(x)) * int(graph.any(0).sum())  # a parameter per child
    best = max(worth, key=lambda name: worth[name] - (price if name != "identity" else 0.0))
    # Interactions are invisible to additive models: Gaussian processes must agree.
    few = x.shape[1] <= _GP_NODES
    if few and best != "identity" and _joint(transform(x, best), graph) <= _joint(plain, graph):
        best = "identity"
    if best != "identity":
        plain = transform(x, best)
        graph = greedy(AdditiveEvidence(plain.z), constraints=constraints).adjacency
    reason = _called(best)
    if best != "identity":
        reason += f" ({worth[best] - worth['identity']:.0f} nats better)"
    rows = spaced(plain.z, _COMPARED_ROWS)
    names = ["linear", "additive", *(["gp"] if few else [])]
    names += ["free-noise", "location-scale"] if few and any_noise else []
    families = compare(names, rows, graph)
    winner = max(families, key=lambda name: families[name])
    if "free-noise" in families and winner not in ("additive", "gp"):
        # Where directions are wrong, noise looks Gaussian that is not, and its size seems to vary:
        # its shape must have had its say.
        free = INTEGRATED["free-noise"].evidence(rows, "cpu")
        graph = lazy_search(free, start=graph, constraints=constraints).adjacency
        families = compare(names, rows, graph)
        winner = max(families, key=lambda name: families[name])
    others = ", ".join(
        f"{families[winner] - value:.0f} nats over {name}"
        for name, value in families.items()
        if name != winner
    )
    if (winner, best) != ("gp", "identity") and x.shape[1] <= _JOINT_NODES:
        joint = together(spaced(x, _FEW_ROWS), Candidate(winner, best, graph), constraints)
        if joint.pays and (winner, best) != ("gp", joint.transform):
            reason = f"{_called(joint.transform)}, for what causes do together"
            others = f"{joint.gain:.0f} nats over {winner} on {_called(best)}"
            winner, best = "gp", joint.transform
    if len(x) > (most := INTEGRATED[winner].most_rows):
        others += f"; the graph is sought on {most} of {len(x)} rows"
    if not few:
        others += f"; Gaussian processes are not tried beyond {_GP_NODES} columns"
    return Choice(winner, best, f"{winner} mechanisms on {reason}: {others}")


def _total(columns: Transformed, graph: Tensor) -> float:
    """Additive evidence of the children of a graph, in the density of the original columns."""
    children = graph.any(0)
    values = graph_evidence(AdditiveEvidence(columns.z), graph)
    return float((values + columns.log_jacobian)[children].sum())


def _joint(columns: Transformed, graph: Tensor) -> float:
    """Density of a sample of the children given their parents, under Gaussian processes."""
    children = graph.any(0).nonzero()[:, 0]
    nodes = children[:: max(1, len(children) // _SAMPLED)]
    evidence = GPEvidence(columns.z, rows=_FEW_ROWS)
    values = evidence.log_evidence(nodes, graph.T[nodes])
    share = evidence.n_rows / len(columns.z)
    return float(values.sum() + share * columns.log_jacobian[nodes].sum())


def _called(transformation: str) -> str:
    known = transformation == "identity"
    return "columns as they are" if known else f"{transformation} of the columns"
