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

__all__ = ["DIRECTION", "LINK", "Doubt", "doubts", "logit"]

ENOUGH = 1000.0  # rows beyond which nats grow with the rows, what they are worth does not

# Logistic regressions on some 500 tables and pairs, as ``benchmarks/honesty.py learn`` fits them:
# a constant, then coefficients of the nats of the link, and of the misfit of the table.
LINK = (-2.47, 1.81, -0.65)
# nats of the lead over the other direction, misfit of the effect, and misfit of the table.
DIRECTION = (2.37, 0.81, -0.77, -0.56)


@dataclass(frozen=True)
class Doubt:
    """What speaks for every link and direction, and what may be stated of it at most.

    Attributes:
        nats: (n, n) that an edge carries, or would, of rows that count.
        lead: (n, n) nats of every edge of the graph over its reversal.
        misfit: (n,) nats that columns leave unexplained beyond chance.
        misfit_of_table: The largest of all tests at once.
        settled: (n, n) bool, pairs that experiments told apart.
        rows: That were read.
    """

    nats: Tensor
    lead: Tensor
    misfit: Tensor
    misfit_of_table: Tensor
    settled: Tensor
    rows: int

    @property
    def link(self) -> Tensor:  # (n, n), symmetric
        """The largest log-odds of the links that stand in the graph; others are not held back."""
        return self._of_pairs(logit(LINK, self.rows, self.nats, self.misfit_of_table))

    @property
    def direction(self) -> Tensor:  # (n, n), symmetric
        """The largest log-odds that these links point one way, unless an experiment told."""
        odds = logit(DIRECTION, self.rows, self.lead, self.misfit, self.misfit_of_table)
        return self._of_pairs(odds.clamp_min(0.0)).masked_fill(self.settled, torch.inf)

    def _of_pairs(self, odds: Tensor) -> Tensor:  # (n, n) -> (n, n)
        known = odds.where(self.lead != 0, torch.inf)
        return torch.minimum(known, known.mT)

    def relabelled(self, order: Tensor) -> Doubt:  # (n,)
        """The same with node ``order[k]`` in place k."""
        nats, lead, settled = (t[order][:, order] for t in (self.nats, self.lead, self.settled))
        return Doubt(nats, lead, self.misfit[order], self.misfit_of_table, settled, self.rows)


def doubts(
    found: SearchResult,
    evidence: MixtureEvidence,
    share: Tensor,  # (n, n)
    settled: Tensor,  # (n, n) bool
) -> Doubt:
    r"""What experience allows to state of a graph.

    .. math:: \mathrm{logit}\, P(\text{right}) \le \beta_0 + \sum_k \beta_k
        \log\Bigl(1 + \frac{\text{nats}_k}{1 + N / 1000}\Bigr)

    Arguments:
        found: A graph with the gain of every edge, present or not.
        evidence: That it was found with.
        share: Of the rows that count between two columns.
        settled: Pairs of which an experiment set one end alone.
    """
    graph, n = found.adjacency, evidence.n_nodes
    parents, every = graph.T.contiguous(), torch.arange(n)
    apart = ~reachability(graph) & ~torch.eye(n, dtype=torch.bool)  # not its effects
    left = evidence.misfits(every, parents).where(apart, -torch.inf)  # (n, n) by effect
    of_column = beyond_chance(left.amax(-1), apart.sum(-1))
    of_table = beyond_chance(left.amax(), apart.sum())
    nats = found.gain.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0) * share
    lead = _leads(graph, evidence) * share
    return Doubt(nats, lead, of_column, of_table, settled, evidence.n_rows)


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
    lead[cause, effect] = torch.where(value == 0, 1e-9, value)  # zero says that no edge stands
    return lead


def logit(weights: tuple[float, ...], rows: int, *nats: Tensor) -> Tensor:
    """A logistic regression on coarsened nats."""
    constant, *others = weights
    value = torch.tensor(constant, dtype=torch.float64)
    for weight, one in zip(others, nats):
        value = value + weight * torch.log1p(one.double().clamp_min(0) / (1 + rows / ENOUGH))
    return value
