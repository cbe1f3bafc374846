r"""How far nats can be believed where no model holds: learned once on many kinds of data.

Evidence differences grow with the rows whether the model holds or not; where it does not, they
are wrong about links and directions by tens of nats. So no link and no direction is stated more
surely than experience allows: the share that was right, on tables of many kinds that obey the model
or violate it, of links that carry as many nats and of directions with as large a lead, where as
much is left unexplained.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..evidence.misfit import beyond_chance
from ..evidence.mixture import MixtureEvidence
from ..ops.graphs import reachability
from ..search import SearchResult

__all__ = ["Doubt", "doubts"]

ENOUGH = 1000.0  # rows beyond which nats grow with the rows, what they are worth does not

# Logistic regressions by ``benchmarks/honesty.py --learn``: a constant, then coefficients of
# nats of the link, and misfit of the table.
LINK = (-2.65, 1.79, -0.59)
# nats of the lead over the other direction, misfit of the effect, and misfit of the table.
DIRECTION = (2.64, 0.78, -0.86, -0.55)


@dataclass(frozen=True)
class Doubt:
    """The largest log-odds that may be stated.

    Attributes:
        link: (n, n), symmetric, that two columns are linked.
        direction: (n, n), symmetric, that a link points one way.
    """

    link: Tensor
    direction: Tensor

    def relabelled(self, order: Tensor) -> Doubt:  # (n,)
        """The same with node ``order[k]`` in place k."""
        return Doubt(self.link[order][:, order], self.direction[order][:, order])


def doubts(
    found: SearchResult,
    evidence: MixtureEvidence,
    share: Tensor,  # (n, n)
) -> Doubt:
    r"""What experience allows to state of a graph.

    .. math:: \mathrm{logit}\, P(\text{right}) \le \beta_0 + \sum_k \beta_k
        \log\Bigl(1 + \frac{\text{nats}_k}{1 + N / 1000}\Bigr)

    Arguments:
        found: A graph with the gain of every edge, present or not.
        evidence: That it was found with.
        share: Of the rows that count between two columns.
    """
    graph, n = found.adjacency, evidence.n_nodes
    parents, every = graph.T.contiguous(), torch.arange(n)
    apart = ~reachability(graph) & ~torch.eye(n, dtype=torch.bool)  # not its effects
    left = evidence.misfits(every, parents).where(apart, -torch.inf)  # (n, n) by effect
    of_column = beyond_chance(left.amax(-1), apart.sum(-1))
    of_table = beyond_chance(left.amax(), apart.sum())
    link = _logit(LINK, evidence.n_rows, found.gain.nan_to_num(nan=0.0) * share, of_table)
    lead = _leads(graph, evidence) * share
    direction = _logit(DIRECTION, evidence.n_rows, lead, of_column, of_table)
    # A pair is one statement: of what stands in the graph, or of the better way to link it.
    link = torch.where(graph, link, torch.where(graph.mT, link.mT, torch.maximum(link, link.mT)))
    direction = torch.where(graph, direction, torch.where(graph.mT, direction.mT, 0.0))
    return Doubt(link, direction)


def _leads(graph: Tensor, evidence: MixtureEvidence) -> Tensor:  # (n, n) bool -> (n, n)
    """Nats that every edge has over its reversal."""
    cause, effect = graph.nonzero(as_tuple=True)
    if not len(cause):
        return torch.zeros(graph.shape, dtype=torch.float64)
    parents = graph.T.contiguous()
    without, with_it = parents[effect], parents[cause]
    edges = torch.arange(len(cause))
    without[edges, cause], with_it[edges, effect] = False, True
    now = evidence.log_evidence(torch.arange(len(graph)), parents)
    value = now[effect] + now[cause]
    value = value - evidence.log_evidence(effect, without) - evidence.log_evidence(cause, with_it)
    lead = torch.zeros(graph.shape, dtype=torch.float64)
    lead[cause, effect] = value
    return lead


def _logit(weights: tuple[float, ...], rows: int, *nats: Tensor) -> Tensor:
    constant, *others = weights
    value = torch.tensor(constant, dtype=torch.float64)
    for weight, one in zip(others, nats):
        value = value + weight * torch.log1p(one.double().clamp_min(0) / (1 + rows / ENOUGH))
    return value
