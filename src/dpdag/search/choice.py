"""Choose the marginal transformation and the kind of mechanism by evidence."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..distributions.knowledge import Constraints
from ..evidence.additive import AdditiveEvidence
from ..evidence.base import Evidence
from ..evidence.bge import BGeEvidence
from ..evidence.gp import GPEvidence
from ..evidence.screened import ExactScreen
from ..evidence.transforms import TRANSFORMS, Transformed, choose_transform, transform
from .greedy import greedy
from .lazy import lazy_search

__all__ = ["Choice", "choose_mechanism"]

_DUEL_ROWS = 300
_DUEL_NODES = 30  # beyond, a second search would take minutes


@dataclass(frozen=True)
class Choice:
    """Which model the data asked for, and why.

    Attributes:
        mechanism: "linear", "additive" or "gp".
        transform: Name of the transformation of all columns, or "per column".
        columns: Transformation of each column.
        data: The transformed columns and their log-Jacobian.
        totals: Evidence of each alternative above independent Gaussian columns, in nats.
        evidence: The chosen evidence, with what it already knows.
        reason: All of it in one line.
    """

    mechanism: str
    transform: str
    columns: list[str]
    data: Transformed
    totals: dict[str, float]
    evidence: Evidence
    reason: str


def choose_mechanism(
    x: Tensor,  # (N, n)
    *,
    constraints: Constraints | None = None,
    edge_penalty: float = 2.2,
    device: torch.device | str = "cpu",
) -> Choice:
    r"""The transformation, then the mechanism, under which the data are most likely.

    Transformations are compared by the evidence of the additive graph found under each, plus its
    log-Jacobian; where one beats the untransformed columns, a Gaussian process search with few
    rows of few columns must agree, for interactions are invisible to additive models. Linear,
    additive and Gaussian process mechanisms are compared by their evidence on the linear or the
    additive graph, whichever is better for them.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> a, noise = torch.randn(2, 300, generator=generator).double()
        >>> skewed = torch.stack([a, torch.sin(2 * a) + noise / 5], -1).exp()
        >>> choice = choose_mechanism(skewed)
        >>> choice.transform, choice.mechanism != "linear"
        ('per column', True)
    """
    options = [(name, transform(x, name), [name] * x.shape[1]) for name in TRANSFORMS]
    mixed, names = choose_transform(x)
    options.append(("per column", mixed, names))
    totals, graphs = {}, {}
    for name, data, _ in options:
        evidence = AdditiveEvidence(data.z)
        found = greedy(
            evidence,
            moves=("add", "delete", "reverse"),
            constraints=constraints,
            penalty=edge_penalty,
        )
        graphs[name] = found.adjacency
        total = _above_empty(evidence, found.adjacency, edge_penalty)
        totals[name] = total + float(data.log_jacobian.sum())
    # Ties go to the simpler one, listed first.
    name, data, columns = max(options, key=lambda option: totals[option[0]])
    if name != "identity" and x.shape[1] <= _DUEL_NODES:
        contest = (options[0], (name, data, columns))
        name, data, columns = max(
            contest, key=lambda option: _joint_total(option[1], constraints, edge_penalty)
        )
    linear = BGeEvidence(data.z)
    straight = lazy_search(
        ExactScreen(linear), constraints=constraints, edge_penalty=edge_penalty
    ).adjacency
    candidates: dict[str, Evidence] = {
        "linear": linear,
        "additive": AdditiveEvidence(data.z),
        "gp": GPEvidence(data.z, device=device),
    }
    worth = {
        kind: max(_above_empty(evidence, graph, edge_penalty) for graph in (straight, graphs[name]))
        for kind, evidence in candidates.items()
    }
    best = max(worth, key=lambda kind: worth[kind])
    listed = ", ".join(f"{kind} {value:.0f}" for kind, value in worth.items())
    return Choice(
        mechanism=best,
        transform=name,
        columns=columns,
        data=data,
        totals=worth | {f"additive on {key}": value for key, value in totals.items()},
        evidence=candidates[best],
        reason=f"{best} mechanisms, columns: {name}; evidence in nats: {listed}",
    )


def _joint_total(data: Transformed, constraints: Constraints | None, edge_penalty: float) -> float:
    """Evidence of the graph found by Gaussian processes on few rows, Jacobian of as many."""
    evidence = GPEvidence(data.z, rows=_DUEL_ROWS)
    found = lazy_search(evidence, constraints=constraints, edge_penalty=edge_penalty)
    share = evidence.n_rows / len(data.z)
    return found.history[-1] + share * float(data.log_jacobian.sum())


def _above_empty(evidence: Evidence, adjacency: Tensor, edge_penalty: float) -> float:
    """Evidence of a graph above that of no edges, less the price of its edges."""
    node = torch.arange(evidence.n_nodes)
    with_edges = evidence.log_evidence(node, adjacency.T)
    without = evidence.log_evidence(node, torch.zeros_like(adjacency))
    return float((with_edges - without).sum()) - edge_penalty * int(adjacency.sum())
