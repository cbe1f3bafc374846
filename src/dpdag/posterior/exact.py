r"""The exact posterior over DAGs of few nodes, by dynamic programming over subsets.

The prior is order-modular, as that of DP-DAG: all orders are equally likely, and every edge along
the order is there with probability p on its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from ..distributions.knowledge import Constraints, Knowledge
from ..evidence.base import Evidence
from ..ops.subsets import extensions, subset_levels

__all__ = ["MAX_NODES", "BestDAG", "SubsetPosterior", "exact_posterior"]

MAX_NODES = 14


class BestDAG(NamedTuple):
    """The DAG of highest posterior together with an order of it.

    Attributes:
        adjacency: (n, n) bool.
        order: (n,) nodes, causes first.
        log_score: Evidence plus log prior odds of its edges.
    """

    adjacency: Tensor
    order: Tensor
    log_score: float


def exact_posterior(
    evidence: Evidence,
    *,
    edge_prior: float = 0.5,
    constraints: Constraints | None = None,
) -> SubsetPosterior:
    r"""The posterior over all orders and DAGs of up to 14 nodes.

    Arguments:
        evidence: Asked for every child and every allowed parent set, n · 2ⁿ⁻¹ of them.
        edge_prior: Probability of an edge along the order.
        constraints: Allowed and required edges, and order relations.

    References:
        | Being Bayesian about network structure (Friedman and Koller, 2003)
        | Exact Bayesian structure discovery in Bayesian networks (Koivisto and Sood, 2004)

    Example:
        >>> from dpdag.evidence.gp import GPEvidence
        >>> generator = torch.Generator().manual_seed(0)
        >>> cause, noise = torch.randn(2, 200, generator=generator)
        >>> x = torch.stack([cause, torch.sin(2 * cause) + noise / 4], -1)
        >>> exact_posterior(GPEvidence(x)).edge_probabilities.round().tolist()
        [[0.0, 1.0], [0.0, 0.0]]
    """
    n = evidence.n_nodes
    if n > MAX_NODES:
        raise ValueError(
            f"The exact posterior sums over 2^n subsets, for n up to {MAX_NODES}; got n={n}."
        )
    if not 0 < edge_prior < 1:
        raise ValueError(f"'edge_prior' must be in (0, 1); got {edge_prior}.")
    limits = Knowledge().resolve(n) if constraints is None else constraints
    member = _members(n)
    forbidden = (member.double() @ (~limits.allowed).double()) > 0  # (2ⁿ, n)
    missing = ((~member).double() @ limits.required.double()) > 0
    code, child = (~(forbidden | missing)).nonzero(as_tuple=True)
    table = torch.full((n, 2**n), -math.inf, dtype=torch.float64)
    prior = math.log(edge_prior / (1 - edge_prior)) * member[code].sum(-1)
    table[child, code] = evidence.log_evidence(child, member[code]) + prior
    return SubsetPosterior(table, limits.before)


@dataclass(frozen=True, eq=False)
class SubsetPosterior:
    r"""Sums and maxima over all orders and DAGs, from a score per child and parent set.

    .. math:: P(\pi, A \mid x) \propto \prod_v e^{s(v, \mathrm{pa}_A(v))}
              \, [\mathrm{pa}_A(v) \text{ precedes } v \text{ in } \pi]

    Subsets are coded in binary: bit u is node u.

    Arguments:
        log_scores: (n, 2ⁿ) s(v, S); −∞ where S holds v or is not allowed.
        before: (n, n) order relations that must hold.
    """

    log_scores: Tensor
    before: Tensor | None = None

    @property
    def n_nodes(self) -> int:
        """Number of nodes n."""
        return len(self.log_scores)

    @cached_property
    def _member(self) -> Tensor:  # (2ⁿ, n)
        return _members(self.n_nodes)

    @cached_property
    def _blocked(self) -> Tensor:  # (n, 2ⁿ)
        """Whether v cannot follow the set U: it is in it, or what must precede it is not."""
        early = torch.zeros_like(self._member)
        if self.before is not None:
            early = ((~self._member).double() @ self.before.double()) > 0
        return (self._member | early).T

    @cached_property
    def _within(self) -> Tensor:  # (n, 2ⁿ)
        """Log-sum over all parent sets of v within U."""
        return _over_subsets(self.log_scores)

    @cached_property
    def _step(self) -> Tensor:  # (n, 2ⁿ)
        """The same for v placed right after U, −∞ where it cannot be."""
        return self._within.masked_fill(self._blocked, -math.inf)

    @cached_property
    def _forward(self) -> Tensor:  # (2ⁿ,)
        return _prefix_sums(self._step)

    @cached_property
    def _backward(self) -> Tensor:  # (2ⁿ,)
        """Suffix sums: prefix sums of the complements."""
        return _prefix_sums(_without_self(self._step).flip(-1)).flip(-1)

    @property
    def log_normaliser(self) -> float:
        """Logarithm of the sum over all orders and DAGs."""
        return float(self._forward[-1])

    @cached_property
    def _placed_after(self) -> Tensor:  # (n, 2ⁿ)
        """Log-probability, without v's own factor, that exactly U stands before v."""
        union = torch.arange(2**self.n_nodes) | (1 << torch.arange(self.n_nodes))[:, None]
        weight = self._forward + self._backward[union] - self._forward[-1]
        return weight.masked_fill(self._blocked, -math.inf)

    @cached_property
    def parent_set_probabilities(self) -> Tensor:  # (n, 2ⁿ)
        """P(pa(v) = S | x)."""
        over_supersets = _over_subsets(self._placed_after.flip(-1)).flip(-1)
        return (self.log_scores + over_supersets).exp()

    @cached_property
    def edge_probabilities(self) -> Tensor:  # (n, n)
        """P(i → j | x)."""
        return (self.parent_set_probabilities @ self._member.double()).T

    @cached_property
    def precedence_probabilities(self) -> Tensor:  # (n, n)
        """P(i before j | x)."""
        finite = self._step.clamp(min=-1e300)  # sums with −∞ stay −∞ and never are NaN
        weight = (self._placed_after + finite).exp()
        return (weight @ self._member.double()).T

    @cached_property
    def ancestor_probabilities(self) -> Tensor:  # (n, n)
        r"""P(i ⇝ j | x), summed over 3ⁿ states: not placed, placed, placed and descending."""
        rows = [self._descendants(source) for source in range(self.n_nodes)]
        return torch.stack(rows).fill_diagonal_(0.0)

    def _descendants(self, source: int) -> Tensor:  # (n,)
        n = self.n_nodes
        power = 3 ** torch.arange(n)
        digit = torch.arange(3**n)[:, None] // power % 3
        bit = 1 << torch.arange(n)
        placed = ((digit > 0) * bit).sum(-1)
        others = ((digit == 1) * bit).sum(-1)
        size = (digit > 0).sum(-1)
        total = torch.full((3**n,), -math.inf, dtype=torch.float64)
        total[0] = 0.0
        for level in range(n):
            states = (size == level).nonzero()[:, 0]
            states = states[total[states] > -math.inf]
            for v in range(n):
                at = states[digit[states, v] == 0]
                every = self._step[v, placed[at]]
                apart = self._within[v, others[at]].minimum(every)
                if v == source:
                    _accumulate(total, at + 2 * power[v], total[at] + every)
                    continue
                _accumulate(total, at + power[v], total[at] + apart)
                _accumulate(total, at + 2 * power[v], total[at] + _log_difference(every, apart))
        last = size == n
        weight = (total[last] - self._forward[-1]).exp()
        return weight @ (digit[last] == 2).double()

    @cached_property
    def best(self) -> BestDAG:
        """The DAG with the highest score, and an order of it."""
        n = self.n_nodes
        score = _over_subsets(self.log_scores, largest=True)
        score = score.masked_fill(self._blocked, -math.inf)
        total = _prefix_sums(score, largest=True)
        adjacency = torch.zeros(n, n, dtype=torch.bool)
        order, left = [], 2**n - 1
        while left:
            nodes = self._member[left].nonzero()[:, 0]
            previous = left - (1 << nodes)
            k = int((total[previous] + score[nodes, previous]).argmax())
            node, left = int(nodes[k]), int(previous[k])
            within = (torch.arange(2**n) & ~left) == 0
            chosen = self.log_scores[node].masked_fill(~within, -math.inf).argmax()
            adjacency[:, node] = self._member[chosen]
            order.append(node)
        return BestDAG(adjacency, torch.tensor(order[::-1]), float(total[-1]))

    def sample(self, count: int, *, generator: torch.Generator) -> Tensor:  # (count, n, n) bool
        """DAGs drawn from the posterior, independently."""
        n = self.n_nodes
        graphs = torch.zeros(count, n, n, dtype=torch.bool)
        left = torch.full((count,), 2**n - 1)
        code = torch.arange(2**n)
        for _ in range(n):
            previous = (left[:, None] - (1 << torch.arange(n))).clamp(min=0)
            weight = self._forward[previous] + self._step[torch.arange(n), previous]
            node = _draw(weight.masked_fill(~self._member[left], -math.inf), generator)
            left = left - (1 << node)
            within = (code & ~left[:, None]) == 0
            scores = self.log_scores[node].masked_fill(~within, -math.inf)
            chosen = _draw(scores, generator)
            graphs[torch.arange(count), :, node] = self._member[chosen]
        return graphs


def _members(n: int) -> Tensor:  # (2ⁿ, n) bool
    return (torch.arange(2**n)[:, None] >> torch.arange(n) & 1).bool()


def _over_subsets(table: Tensor, *, largest: bool = False) -> Tensor:  # (*, 2ⁿ) -> (*, 2ⁿ)
    """Log-sum (or maximum) over all subsets of every set, one node at a time."""
    join = torch.maximum if largest else torch.logaddexp
    size = table.shape[-1]
    for u in range(size.bit_length() - 1):
        without, within = table.unflatten(-1, (-1, 2, 2**u)).unbind(-2)
        table = torch.stack([without, join(without, within)], -2).flatten(-3)
    return table


def _without_self(step: Tensor) -> Tensor:  # (n, 2ⁿ)
    """Entry [v, U ∪ v] holds what [v, U] held, so that complements index suffixes."""
    inside = _members(len(step)).T
    return torch.full_like(step, -math.inf).masked_scatter(inside, step[~inside])


def _prefix_sums(step: Tensor, *, largest: bool = False) -> Tensor:  # (n, 2ⁿ) -> (2ⁿ,)
    """Log-sum (or maximum) over all orders of every set: the last node v adds step[v, U \\ v]."""
    n = len(step)
    flat, level = step.T.flatten(), torch.zeros(1, dtype=step.dtype)
    total = torch.zeros(2**n, dtype=step.dtype)
    for codes, (place, addition) in zip(subset_levels(n)[1:], extensions(n)):
        terms = level[place] + flat[addition]
        level = terms.amax(-1) if largest else terms.logsumexp(-1)
        total[codes] = level
    return total


def _log_difference(larger: Tensor, smaller: Tensor) -> Tensor:
    """log(eᵃ − eᵇ) for a ≥ b, −∞ where they are equal."""
    ratio = torch.where(larger == -math.inf, 0.0, smaller - larger)
    return larger + torch.log(-torch.expm1(ratio))


def _accumulate(total: Tensor, at: Tensor, value: Tensor) -> None:
    total[at] = torch.logaddexp(total[at], value)


def _draw(weight: Tensor, generator: torch.Generator) -> Tensor:  # (k, m) log-weights -> (k,)
    probability = (weight - weight.amax(-1, keepdim=True)).exp()
    return torch.multinomial(probability, 1, generator=generator)[:, 0]
