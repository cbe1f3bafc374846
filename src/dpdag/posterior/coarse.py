r"""A posterior over graphs that no amount of rows makes sure: for tables on which no graph is.

Where every column is measured with an error, two effects of one cause stay dependent given its
measurement, and with enough rows any evidence prefers an edge between them. How much each column
has to do with each other one is not misled by that: a cause explains its effects better than they
explain one another. A coarsened posterior sees that much and no more, and averages over all graphs
of few causes each that explain it about as well.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from ..distributions.knowledge import Constraints
from ..evidence.mixture import MixtureEvidence
from ..ops.graphs import topological_order
from ..search import EdgePrior
from .local import LocalPosterior
from .orders import MOST, WORK, WeightedOrders

__all__ = ["ROWS", "coarse_posterior"]

ROWS = 15.0  # that all rows together are worth
_SETS = 8000  # of causes whose evidence is asked for
_CHAINS, _STEPS = 16, 100  # of orders, and steps of each for every column
_WARM = 0.3  # share of the steps before orders are kept
_CHUNK = 128  # sets at a time: with more, what they need leaves a core's cache


class _Sets(NamedTuple):
    """Sets of at most two causes, beside those that are required.

    Attributes:
        member: (n, m, 2) nodes, by child; n for nobody.
        weight: (n, m) log of prior times coarsened evidence, −∞ for sets that cannot be.
    """

    member: Tensor
    weight: Tensor

    def log_shares(self, place: Tensor, child: Tensor) -> Tensor:  # (c, n), (c,) -> (c, m)
        """The same of those that come before a child in an order."""
        place = torch.nn.functional.pad(place, (0, 1), value=-1)  # of nobody
        one, two = (place.gather(1, self.member[child, :, k]) for k in range(2))
        own = place.gather(1, child[:, None])
        return self.weight[child].where(torch.maximum(one, two) < own, -math.inf)

    def parents(self) -> Tensor:  # (n, m, n)
        """Causes of every set as zeros and ones."""
        n, m, _ = self.member.shape
        mask = torch.zeros(n, m, n + 1, dtype=torch.float64)
        return mask.scatter(-1, self.member, 1.0)[..., :n]


def coarse_posterior(
    evidence: MixtureEvidence,
    *,
    prior: EdgePrior,
    constraints: Constraints,
    share: Tensor | None = None,  # (n, n)
) -> LocalPosterior:
    r"""Orders and edges of graphs with at most two causes a column, their evidence coarsened.

    .. math:: P(\prec) \propto \prod_v \sum_{S \prec v,\, |S| \le 2} e^{\zeta \log p(x_v \mid x_S)}
        P(S), \qquad \zeta = \frac{1}{1 + N / 15}

    so that however many rows there are, they are worth fifteen (Miller and Dunson, *Robust Bayesian
    inference via coarsening*, 2019). Orders are drawn by Metropolis steps, several chains at once,
    as Friedman and Koller do (*Being Bayesian about network structure*, 2003).

    Arguments:
        evidence: Of the columns as they came.
        prior: How many edges to expect; one cause of each column where that is open.
        constraints: Allowed and required edges, and order relations.
        share: Of the rows that count between two columns; all by default.

    Example:
        >>> from dpdag.distributions import Knowledge
        >>> from dpdag.evidence.mixture import MixtureEvidence
        >>> hub = torch.rand(400, 1, generator=torch.Generator().manual_seed(0)).double()
        >>> noise = torch.randn(400, 4, generator=torch.Generator().manual_seed(1)).double()
        >>> x = torch.cat([hub, hub**2, hub**0.5, 1 - hub], 1) + 0.05 * noise
        >>> evidence = MixtureEvidence((x - x.mean(0)) / x.std(0), functions=["additive"])
        >>> found = coarse_posterior(
        ...     evidence, prior=EdgePrior.priced(1.0), constraints=Knowledge().resolve(4)
        ... )
        >>> bool(found.edge_probabilities.max() < 0.99)
        True
    """
    n = evidence.n_nodes
    share = torch.ones(n, n, dtype=torch.float64) if share is None else share
    sets = _weighted_sets(evidence, prior.fixed().cost(0), constraints, share)
    place = _draw_orders(sets, constraints.before)
    order, child = torch.ones_like(place, dtype=torch.bool).nonzero(as_tuple=True)
    share = sets.log_shares(place[order], child).softmax(-1).unflatten(0, place.shape)
    given = torch.einsum("kvm,vmu->kuv", share, sets.parents())  # of an edge, by order
    logits = torch.logit(given.clamp(0, 1))
    orders = WeightedOrders.of(place, torch.full((len(place),), 1 / len(place)).double())
    return LocalPosterior.within(orders, logits, constraints)


def _weighted_sets(
    evidence: MixtureEvidence, price: float, constraints: Constraints, share: Tensor
) -> _Sets:  # (n, n)
    """All pairs of the causes that explain each column best alone."""
    n = evidence.n_nodes
    every, required = torch.arange(n), constraints.required.T.contiguous()
    free = (constraints.allowed & ~constraints.required).T
    gain = evidence.screens(every, required).masked_fill(~free, -math.inf)  # (n, n) by child
    count = min(n - 1, max(1, math.isqrt(2 * _SETS // n)))
    gain, which = gain.topk(count, dim=-1)
    pick = torch.combinations(torch.arange(count + 1), 2)  # the last stands for nobody
    pick = torch.cat([pick, torch.full((1, 2), count)])  # (m, 2)
    member = torch.cat([which, torch.full((n, 1), n)], -1)[:, pick]
    known = torch.cat([gain, torch.zeros(n, 1)], -1)  # nobody may always be there
    possible = (known > -math.inf)[:, pick].all(-1)
    child, one = possible.nonzero(as_tuple=True)
    parents = torch.zeros(len(child), n + 1, dtype=torch.bool).scatter(-1, member[child, one], True)
    value = torch.cat(
        [
            evidence.log_evidence(own, given[:, :n] | required[own])
            for own, given in zip(child.split(_CHUNK), parents.split(_CHUNK))
        ]
    )
    alone = evidence.log_evidence(every, required)
    rows = torch.tensor([evidence.part(v).n_rows for v in range(n)]).double()
    every_row = torch.ones(n, 1, dtype=torch.float64)
    count_as = torch.cat([share, every_row], -1)[child[:, None], member[child, one]].amin(-1)
    weight = torch.full(possible.shape, -math.inf, dtype=torch.float64)
    weight[child, one] = (value - alone[child]) / (1 / count_as + rows[child] / ROWS)
    weight -= price * (member < n).sum(-1)
    return _Sets(member, weight)


def _draw_orders(sets: _Sets, before: Tensor) -> Tensor:  # (n, n) bool -> (k, n) places
    """Chains of orders in which one node after the other goes to another place, warmed slowly."""
    n, generator = len(before), torch.Generator().manual_seed(0)
    start = topological_order(before).argsort()
    place = start.expand(_CHAINS, n)
    if not bool(before.any()):
        place = torch.rand(_CHAINS, n, generator=generator).argsort(-1)
    nothing = torch.zeros(place.shape, dtype=torch.float64)
    each = _explained(sets, place, torch.ones_like(place, dtype=torch.bool), nothing)
    kept, (cause, effect) = [], before.nonzero(as_tuple=True)
    steps = _STEPS * n
    chain, first = torch.arange(_CHAINS), int(_WARM * steps)
    every = max(1, (steps - first) * _CHAINS // min(MOST, max(_CHAINS, WORK // n)))
    for step in range(steps):
        node, to = torch.randint(n, (2, _CHAINS), generator=generator)
        now = place[chain, node]
        shift = (to > now).long() - (to < now).long()  # those between make room
        between = (place - now[:, None]) * shift[:, None] > 0
        between &= (to[:, None] - place) * shift[:, None] >= 0
        moved = place - between * shift[:, None]
        moved[chain, node] = to
        fresh = _explained(sets, moved, moved != place, each)  # others have the same before them
        broken = (moved[:, cause] > moved[:, effect]).any(-1)  # a known relation
        gain = (fresh - each).sum(-1).masked_fill(broken, -math.inf)
        chance = torch.rand(_CHAINS, generator=generator, dtype=torch.float64).log()
        taken = (chance < gain * min(1.0, (step + 1) / first))[:, None]
        place, each = torch.where(taken, moved, place), torch.where(taken, fresh, each)
        if step >= first and (step - first) % every == 0:
            kept.append(place)
    return torch.cat(kept)


def _explained(
    sets: _Sets,
    place: Tensor,  # (k, n)
    which: Tensor,  # (k, n) bool
    known: Tensor,  # (k, n)
) -> Tensor:  # -> (k, n)
    """Log weight of all sets of each child that an order has room for; of others what is known."""
    value = known.clone()
    order, child = which.nonzero(as_tuple=True)
    value[order, child] = sets.log_shares(place[order], child).logsumexp(-1)
    return value
