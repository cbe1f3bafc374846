"""Which mechanisms and which transformation of the columns the data prefer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from torch import Tensor

from ..distributions import Constraints
from ..evidence.additive import AdditiveEvidence
from ..evidence.gp import GPEvidence
from ..evidence.kernels import KERNELS
from ..evidence.transforms import TRANSFORMS, Transformed, transform
from ..ops.rows import spaced
from ..search import greedy
from .comparison import JOINT_NODES, Candidate, compare, some, together
from .families import (
    CPU,
    INTEGRATED,
    LAZY_NODES,
    PROCESSES,
    Resources,
    climb_from,
    graph_by_shape,
    graph_evidence,
)
from .straightening import Straightened, straightened

__all__ = ["Choice", "choose"]

_GP_NODES = 150  # beyond, a search with Gaussian processes takes too long to be a default
_COMPARED_ROWS = 1500  # by which families are compared
_FEW_ROWS = 500  # for a comparison that need not be fine
_CHEAP = 2.0  # nats an edge costs in a graph that noise of any shape is tried on
_PLAIN = "columns as they are"


class Choice(NamedTuple):
    """The family and the transformation of columns that the evidence prefers, and why.

    Attributes:
        transform: Of all columns, one of ``TRANSFORMS``.
        straight: What is done to single columns before; None for nothing.
    """

    mechanism: str
    transform: str
    why: str
    straight: Straightened | None = None

    @property
    def changes(self) -> bool:
        """Whether columns are not left as they are."""
        return self.straight is not None or self.transform != "identity"

    def columns(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        """Columns as the mechanisms see them."""
        return transform(x if self.straight is None else self.straight(x), self.transform).z


def choose(
    x: Tensor,  # (rows, n) standardised
    constraints: Constraints,
    *,
    any_noise: bool = True,
    resources: Resources = CPU,
    names: Sequence[Any] | None = None,
) -> Choice:
    r"""Compare mechanisms and transformations of columns by their evidence.

    .. math:: \log p(x) = \sum_v \log p(z_v \mid z_{\mathrm{pa}(v)}) + \sum_v \log |g'(x_v)|,
        \qquad z = g(x)

    Single columns that are strongly skewed come first
    (:func:`~dpdag.learners.straightening.straightened`), then what is done to all columns. A
    greedy additive search gives a graph; transformations are compared by the additive evidence
    of that graph with their Jacobian counted, and must hold under Gaussian processes too; then
    families, among them those with noise of any shape, are compared by their evidence on a dozen
    of its children and as large a share of its roots. What causes do only together is not in that
    graph: up to 50 columns, Gaussian processes, smooth or of networks, may also win with a graph
    that smooth ones find.

    Arguments:
        any_noise: Whether noise may have another shape than the Gaussian one.
        resources: What comparisons of Gaussian processes may use.
        names: Of the columns; their numbers where None.
    """
    straight = straightened(x, constraints)
    called = partial(_called, plain=_PLAIN)
    if straight is not None:
        x = straight(x)
        called = partial(_called, plain=straight.describe(names or range(x.shape[1])))
    few = x.shape[1] <= _GP_NODES
    on, gain, graph = _columns(x, constraints, resources, agreed=few)
    reason = called(on) + (f" ({gain:.0f} nats better)" if on != "identity" else "")
    most = INTEGRATED["gp"].most_rows(x.shape[1], resources) if few else math.inf
    rows = spaced(transform(x, on).z, min(_COMPARED_ROWS, most))
    known = ["linear", "additive", *(PROCESSES if few else [])]
    known += ["free-noise", "location-scale"] if few and any_noise else []
    families = compare(known, rows, graph, resources)
    winner = max(families, key=lambda name: families[name])
    if "free-noise" in families and winner not in ("additive", *PROCESSES):
        # Where directions are wrong, noise looks Gaussian that is not, and its size seems to vary:
        # its shape must have had its say.
        graph = _freed(rows, graph, constraints)
        families = compare(known, rows, graph, resources)
        winner = max(families, key=lambda name: families[name])
    others = ", ".join(
        f"{families[winner] - value:.0f} nats over {name}"
        for name, value in families.items()
        if name != winner
    )
    seen = winner in PROCESSES and on == "identity"
    if not seen and x.shape[1] <= JOINT_NODES:
        joint = together(spaced(x, _FEW_ROWS), Candidate(winner, on, graph), constraints)
        if joint.pays and (winner, on) != (joint.mechanism, joint.transform):
            together_only = ", for what causes do together" if joint.mechanism != winner else ""
            same = joint.transform == on
            reason = (reason if same else called(joint.transform)) + together_only
            others = f"{joint.gain:.0f} nats over {winner} on {called(on)}"
            winner, on = joint.mechanism, joint.transform
    if not few:
        others += f"; Gaussian processes are not tried beyond {_GP_NODES} columns"
    return Choice(winner, on, f"{winner} mechanisms on {reason}: {others}", straight)


def _freed(x: Tensor, graph: Tensor, constraints: Constraints) -> Tensor:  # (rows, n), (n, n)
    """A graph for noise of any shape: this one mended, or the one that the shape itself gives."""
    starts = [graph]
    if x.shape[1] <= LAZY_NODES:
        starts.append(graph_by_shape(x, constraints, _CHEAP))
    evidence = INTEGRATED["free-noise"].evidence(x)
    return climb_from(starts, evidence, constraints, _CHEAP).adjacency


def _columns(
    x: Tensor, constraints: Constraints, resources: Resources, *, agreed: bool
) -> tuple[str, float, Tensor]:
    """The transformation that additive mechanisms prefer, its gain, and an additive graph on it.

    Arguments:
        agreed: Whether Gaussian processes must prefer it too: interactions are invisible to sums.
    """
    plain = transform(x, "identity")
    graph = greedy(AdditiveEvidence(plain.z), constraints=constraints).adjacency
    worth = {name: _total(transform(x, name), graph) for name in TRANSFORMS}
    price = 0.5 * math.log(len(x)) * int(graph.any(0).sum())  # a parameter per child
    best = max(worth, key=lambda name: worth[name] - (price if name != "identity" else 0.0))
    changed = best != "identity"
    if changed and agreed:
        after, before = (
            _joint(columns, graph, resources) for columns in (transform(x, best), plain)
        )
        changed = after > before
    if not changed:
        return "identity", 0.0, graph
    graph = greedy(AdditiveEvidence(transform(x, best).z), constraints=constraints).adjacency
    return best, worth[best] - worth["identity"], graph


def _total(columns: Transformed, graph: Tensor) -> float:
    """Additive evidence of the children of a graph, in the density of the original columns."""
    children = graph.any(0)
    values = graph_evidence(AdditiveEvidence(columns.z), graph)
    return float((values + columns.log_jacobian)[children].sum())


def _joint(columns: Transformed, graph: Tensor, resources: Resources) -> float:
    """Density of some children given their parents, under the better kind of process."""
    nodes = some(graph.any(0))
    best = -math.inf
    for kernel in KERNELS:
        evidence = GPEvidence(columns.z, rows=_FEW_ROWS, kernel=kernel, device=resources.device)
        best = max(best, float(evidence.log_evidence(nodes, graph.T[nodes]).sum()))
    share = min(1.0, _FEW_ROWS / len(columns.z))
    return best + share * float(columns.log_jacobian[nodes].sum())


def _called(transformation: str, plain: str) -> str:
    """What mechanisms work on, ``plain`` being what they have before all is transformed alike."""
    if transformation == "identity":
        return plain
    words = {"asinh": "signed logarithms", "log": "logarithms", "gaussian": "normal scores"}
    first = "" if plain == _PLAIN else f", after {plain}"
    return f"{words[transformation]} of the columns{first}"
