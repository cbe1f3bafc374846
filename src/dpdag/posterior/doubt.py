r"""How far nats can be believed where no model holds: learned once on many kinds of data.

Evidence differences grow with the rows whether the model holds or not; where it does not, they
are wrong about links and directions by tens of nats. So no link and no direction is stated more
surely than experience allows: the share that was right, on tables of many kinds that obey the model
or violate it, of links that carry as many nats and of directions with as large a lead, where as
much is left unexplained.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..columns import EXACT
from ..evidence.misfit import beyond_chance
from ..evidence.mixture import MixtureEvidence
from ..ops.graphs import reachability
from ..search import SearchResult

__all__ = ["COARSE", "DIRECTION", "LINK", "ColumnFacts", "Doubt", "coarsened", "doubts", "fineness"]

_FINE = 500.0  # values of a column that tell half of what a continuous one does
ENOUGH = 1000.0  # rows beyond which nats grow with the rows, what they are worth does not

_CLEARLY = 1e6  # nats, where a reversal cannot even be looked at

# Logistic regressions on some 500 tables and pairs, as ``benchmarks/honesty.py learn`` fits them:
# a constant, then coefficients of the nats of the link, and of the misfit of the table. Both
# constants are 0.15 less, so that of what is stated at 0.95 four of five are right on the kind of
# tables that misleads most, with hidden causes.
LINK = (-1.11, 1.80, -0.80)
# nats of the lead over the other direction, misfit of the table.
DIRECTION = (1.43, 0.99, -0.55)
# the mean detour of all edges of the graph, and of that times their mean nats.
COARSE = (-5.77, 37.95, -6.70)


@dataclass(frozen=True)
class ColumnFacts:
    """What a table tells of its columns before any search.

    Attributes:
        likeness: (n, n) in [0, 1), how much two columns have to do with each other at all.
        tied: (n, n) share of the pairs of one exact relation that are linked, by
            :func:`~dpdag.columns.exact_relations`; zero for others.
        settled: (n, n) bool, pairs that experiments told apart: one had an end set alone.
        fineness: (n,) in [0, 1], how finely columns are measured, by :func:`fineness`.
    """

    likeness: Tensor
    tied: Tensor
    settled: Tensor
    fineness: Tensor


@dataclass(frozen=True)
class Doubt(ColumnFacts):
    """What speaks for every link and direction, and what may be stated of it at most.

    Attributes:
        nats: (n, n) that an edge carries, or would, of rows that count.
        lead: (n, n) nats of every edge of the graph over its reversal.
        misfit: (n,) nats that columns leave unexplained beyond chance.
        misfit_of_table: The largest of all tests at once.
        exact: (n,) bool, columns that their causes determine; no arrow into them can be told.
        rows: That were read.
        prior: Log-odds of an edge beforehand.
    """

    nats: Tensor
    lead: Tensor
    misfit: Tensor
    misfit_of_table: Tensor
    exact: Tensor
    rows: int
    prior: float

    @property
    def link(self) -> Tensor:  # (n, n), symmetric
        """The largest log-odds of the links that stand in the graph; others are not held back."""
        nats = coarsened(self.nats, self.rows) * (1 - self.detour)
        learned = _logit(LINK, nats, self._of_table)
        known = torch.minimum(learned, self.nats + self.prior)
        by_arithmetic = torch.logit(self.tied).where(self.tied > 0, torch.inf)
        return self._of_pairs(known.minimum(by_arithmetic))

    @property
    def direction(self) -> Tensor:  # (n, n), symmetric
        """The largest log-odds that these links point one way, unless an experiment told."""
        lead = coarsened(self.lead, self.rows) * (1 - self.likeness)
        odds = _logit(DIRECTION, lead, self._of_table).clamp_min(0.0)
        odds = odds * torch.minimum(self.fineness, self.fineness[:, None])
        odds = odds.masked_fill(self.exact | (self.tied > 0), 0.0)
        return self._of_pairs(odds).masked_fill(self.settled, torch.inf)

    @property
    def guessing(self) -> Doubt:
        """The same as if all columns were measured finely: a ranking has to prefer a direction."""
        return replace(self, fineness=torch.ones_like(self.fineness))

    @property
    def coarse_share(self) -> float:
        r"""What a coarsened posterior weighs beside the one around this graph.

        .. math:: \sigma\bigl(\delta_0 + \overline{\text{detour}}\, (\delta_1 + \delta_2
            \overline{c(\text{nats})})\bigr)

        over the edges of the graph. Where they have detours and carry little each, columns are
        noisy copies of each other, and every single graph is wrong.
        """
        stands = self.lead != 0
        if not bool(stands.any()):
            return 0.0
        detour = self.detour[stands].mean()
        worth = coarsened(self.nats[stands], self.rows).mean()
        return float(torch.sigmoid(_logit(COARSE, detour, detour * worth)))

    @property
    def _of_table(self) -> Tensor:
        return coarsened(self.misfit_of_table, self.rows)

    @property
    def detour(self) -> Tensor:  # (n, n)
        r"""How alike the ends of an edge both are to a third column.

        .. math:: \max_k \min(\text{likeness}_{ik}, \text{likeness}_{kj})

        Two columns never have more to do with each other through a third one than either has with
        it; what a noisy measurement of that one leaves looks like an edge between them.
        """
        cause, effect = self.lead.nonzero(as_tuple=True)
        both = torch.minimum(self.likeness[cause], self.likeness[effect])  # (edges, n)
        edges = torch.arange(len(cause))
        both[edges, cause] = both[edges, effect] = 0.0
        through = torch.zeros_like(self.lead)
        through[cause, effect] = both.amax(-1) if len(cause) else 0.0
        return through

    def _of_pairs(self, odds: Tensor) -> Tensor:  # (n, n) -> (n, n)
        known = odds.where(self.lead != 0, torch.inf)
        return torch.minimum(known, known.mT)


def doubts(
    found: SearchResult,
    evidence: MixtureEvidence,
    facts: ColumnFacts,
    share: Tensor,  # (n, n)
    *,
    edge_prior: float,
) -> Doubt:
    r"""What experience allows to state of a graph.

    .. math:: \mathrm{logit}\, P(\text{link}) &\le \beta_0 + \beta_1 c(\text{nats})
        (1 - \text{detour}) + \beta_2 c(\text{misfit}) \\
        \mathrm{logit}\, P(\text{direction}) &\le \gamma_0 + \gamma_1 c(\text{lead})
        (1 - \text{likeness}) + \gamma_2 c(\text{misfit})

    with c(t) = log(1 + t / (1 + N / 1000)), the latter times the fineness of both columns. Where
    columns are nearly copies of each other, small errors of measurement make many nats, so that
    these count less.

    Arguments:
        found: A graph with the gain of every edge, present or not.
        evidence: That it was found with.
        facts: Of the columns.
        share: Of the rows that count between two columns.
        edge_prior: Probability of an edge beforehand, which nothing is surer than without nats.
    """
    graph, n = found.adjacency, evidence.n_nodes
    parents, every = graph.T.contiguous(), torch.arange(n)
    apart = ~reachability(graph) & ~torch.eye(n, dtype=torch.bool)  # not its effects
    left = evidence.misfits(every, parents).where(apart, -torch.inf)  # (n, n) by effect
    of_column = beyond_chance(left.amax(-1), apart.sum(-1))
    of_table = beyond_chance(left.amax(), apart.sum())
    nats = found.gain.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0) * share
    lead = _leads(found) * share
    alone = evidence.log_evidence(every, torch.zeros_like(parents))
    exact = evidence.log_evidence(every, parents) - alone > EXACT * evidence.n_rows
    return Doubt(
        **vars(facts),
        nats=nats,
        lead=lead,
        misfit=of_column,
        misfit_of_table=of_table,
        exact=exact,
        rows=evidence.n_rows,
        prior=math.log(edge_prior / (1 - edge_prior)),
    )


def fineness(values: Tensor) -> Tensor:  # (n,) -> (n,)
    r"""What columns of so many values tell of directions at all.

    .. math:: \frac{K}{K + 500}

    one where no value returns. Of the directions found at sex, race and age in real tables half are
    right, however many nats speak for them: values that return are what such columns have, and what
    simulated ones do not (``studies/real_roots.py``).
    """
    return 1 / (1 + _FINE / values.double())


def _leads(found: SearchResult) -> Tensor:  # -> (n, n)
    """Nats that every edge has over its reversal."""
    gain = found.gain.nan_to_num(nan=0.0, posinf=_CLEARLY, neginf=-_CLEARLY)
    lead = gain - gain.mT
    lead = torch.where(lead == 0, 1e-9, lead)  # zero says that no edge stands
    return lead.where(found.adjacency, 0.0)


def coarsened(nats: Tensor, rows: int) -> Tensor:  # (*) -> (*)
    """What nats are worth: they grow with the rows, and their surplus ever less."""
    return torch.log1p(nats.double().clamp_min(0) / (1 + rows / ENOUGH))


def _logit(weights: tuple[float, ...], *features: Tensor) -> Tensor:
    value = torch.tensor(weights[0], dtype=torch.float64)
    for weight, one in zip(weights[1:], features):
        value = value + weight * one
    return value
