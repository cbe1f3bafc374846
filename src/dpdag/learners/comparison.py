"""What families of mechanisms explain of the same data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from ..distributions import Constraints
from ..evidence.additive import AdditiveEvidence
from ..evidence.base import Evidence
from ..evidence.bge import BGeEvidence
from ..evidence.gp import GPEvidence
from ..evidence.linear import LinearEvidence
from ..evidence.transforms import Transformed, transform
from ..ops.rows import spaced
from ..search.lazy import lazy_search
from .families import CPU, INTEGRATED, PROCESSES, Resources

__all__ = [
    "EDGE",
    "JOINT_NODES",
    "SEARCH_ROWS",
    "Candidate",
    "Together",
    "compare",
    "lumpy",
    "some",
    "together",
    "worth",
]

SEARCH_ROWS = 200  # for a quick graph of Gaussian processes
EDGE = math.log(9)  # nats an edge costs there
JOINT_NODES = 50  # beyond, Gaussian processes look only at graphs of sums of functions
_SAMPLED = 12  # children on which families are compared
_LUMP = 0.05  # share of the rows that may have one and the same value


class Candidate(NamedTuple):
    """A family, a transformation of the columns and a graph."""

    mechanism: str
    transform: str
    graph: Tensor  # (n, n) bool


class Together(NamedTuple):
    """What a kind of Gaussian processes gains over another candidate, and on which columns.

    Attributes:
        pays: Whether that is more than chance would gain.
    """

    gain: float
    mechanism: str
    transform: str
    pays: bool


def together(x: Tensor, rival: Candidate, constraints: Constraints) -> Together:  # (rows, n)
    """Let Gaussian processes find a graph of their own: sums of functions miss pure interactions.

    Where that beats the rival, the rival's graph is mended and compared again. Against sums of
    functions terms are equal and any gain counts: those have the best of their few smoothnesses
    for nothing, so processes need not pay for their length scales; and as processes may be lines
    instead, so may sums.
    """
    equal = rival.mechanism == "additive"
    least = 0.0 if equal else 0.5 * math.log(len(x)) * x.shape[1]
    columns = transform(x, rival.transform)
    climb = partial(lazy_search, edge_penalty=EDGE, constraints=constraints)
    own = climb(GPEvidence(x, rows=SEARCH_ROWS)).adjacency
    values = {
        (kind, name): worth(kind, transform(x, name), own, equal=equal)
        for kind in PROCESSES
        for name in dict.fromkeys(("identity", rival.transform))
    }
    best = max(values, key=lambda key: values[key])
    gain = values[best] - worth(rival.mechanism, columns, rival.graph, equal=equal)
    if gain > 0:
        rows = SEARCH_ROWS if INTEGRATED[rival.mechanism].kernel else len(x)
        evidence = INTEGRATED[rival.mechanism].evidence(spaced(columns.z, rows))
        mended = climb(evidence, start=rival.graph).adjacency
        gain = values[best] - worth(rival.mechanism, columns, mended, equal=equal)
    return Together(gain, *best, pays=gain > least)


def worth(
    mechanism: str, columns: Transformed, graph: Tensor, *, equal: bool = False
) -> float:  # (n, n) bool
    """What a family explains of all columns with a graph whose edges are paid for.

    Arguments:
        equal: On the terms on which processes and sums of functions compare.
    """
    nodes = torch.arange(len(graph))
    explained = _explained(mechanism, columns.z, graph, nodes, equal=equal)
    return explained + float(columns.log_jacobian.sum()) - EDGE * int(graph.sum())


def compare(
    families: Iterable[str],
    x: Tensor,  # (rows, n)
    graph: Tensor,  # (n, n) bool
    resources: Resources = CPU,
) -> dict[str, float]:
    """What each family explains of a dozen children and as large a share of the roots.

    All on the same rows, though some could use more.
    """
    children = graph.any(0)
    step = max(1, int(children.sum()) // _SAMPLED)
    nodes = torch.cat([some(children), (~children).nonzero()[::step, 0]])
    return {name: _explained(name, x, graph, nodes, resources) for name in families}


def some(which: Tensor) -> Tensor:  # (n,) bool -> (at most a dozen,)
    """A dozen nodes of those that are true, spread evenly.

    Example:
        >>> some(torch.arange(40) % 2 == 0)
        tensor([ 0,  2,  4,  6,  8, 10, 12, 14, 16, 18, 20, 22])
    """
    nodes = which.nonzero()[:, 0]
    return nodes[:: max(1, len(nodes) // _SAMPLED)][:_SAMPLED]


def _explained(
    mechanism: str,
    x: Tensor,  # (rows, n)
    graph: Tensor,  # (n, n) bool
    nodes: Tensor,  # (k,)
    resources: Resources = CPU,
    *,
    equal: bool = False,
) -> float:
    """Evidence of some nodes given their parents, beyond that of Gaussian noise alone.

    Where single values are frequent, beyond that of the family's own noise: the shape of counts
    and of 0/1 columns is no merit of a family, and a density would make any number of it.
    """
    parents = graph.T[nodes]
    nothing = torch.zeros_like(parents)

    def gain(evidence: Evidence, without: Evidence) -> Tensor:  # (k,)
        value, own = (evidence.log_evidence(nodes, given) for given in (parents, nothing))
        alone = torch.where(lumpy(x[:, nodes]), own, without.log_evidence(nodes, nothing))
        return value - alone

    family = INTEGRATED[mechanism]
    evidence: Evidence = family.evidence(x, resources)
    if family.kernel and equal:
        evidence = GPEvidence(x, kernel=family.kernel, rows=len(x), priced=False)
    gains = gain(evidence, evidence if family.gaussian else AdditiveEvidence(x))
    if mechanism == "additive" and equal:
        lines = BGeEvidence(x).log_evidence(nodes, parents)
        either = torch.logaddexp(gains, lines) - math.log(2)
        gains = torch.where(parents.any(-1), either, gains)
    value = float(gains.sum())
    if mechanism == "linear":
        # BGe expects noise of some size and undersells nearly exact relations; curves that win
        # must win against straight lines, not against its prior.
        fixed = LinearEvidence(x, criterion="bic")
        value = max(value, float(gain(fixed, fixed).sum()))
    if mechanism == "location-scale":  # sizes that vary need a parameter per child, at least
        value -= 0.5 * math.log(len(x)) * int(graph.any(0)[nodes].sum())
    return value


def lumpy(x: Tensor, share: float = _LUMP) -> Tensor:  # (rows, n) -> (n,) bool
    """Whether one value is frequent in a column."""
    values = x.sort(0).values
    step = max(1, round(share * len(x)))
    return (values[step:] == values[:-step]).any(0)
