"""One evidence of all families: what searches, records and fits of functions ask of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..columns import Table
from .families import MARGIN, NEAR, SIZE_FUNCTIONS, FamilyAverage
from .interactions import ClearPairs, simple_shapes
from .known import bits_of, members
from .misfit import dependence
from .noise import Sizes, noise_sizes, standardised
from .screened import ScreenedEvidence
from .switches import SWITCH

_EVERY = slice(None)  # column, in its place
_WEAK = 0.4  # nats per row that parents bring to a child before it counts as explained


class Weights(NamedTuple):
    """What each family holds of one column's evidence.

    Attributes:
        functions: (f,) in the order of the mixture's functions; equal without parents.
        noise: (4,) in the order of ``NOISES``.
        log_evidence: Of the column given its parents.
        over_root: Nats over the column by itself.
        rows: That inform the column.
    """

    functions: Tensor
    noise: Tensor
    log_evidence: float
    over_root: float
    rows: int


class MixtureEvidence(FamilyAverage, ScreenedEvidence):
    """:class:`~dpdag.evidence.families.FamilyAverage` with cheap estimates of its changes.

    Arguments:
        table: Standardised columns.
        options: Of the average: functions, noise, where and how long to compute.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> cause, noise = torch.rand(2, 500, generator=generator, dtype=torch.float64)
        >>> x = torch.stack([cause, cause + noise, noise.flip(0)], dim=1)
        >>> evidence = MixtureEvidence((x - x.mean(0)) / x.std(0, correction=0))
        >>> change = evidence.screen(1, torch.zeros(3).bool())  # by a cause more
        >>> bool(change[0] > 50), bool(change[2] < 0)
        (True, True)
    """

    screens_roots = True

    def __init__(self, table: Table | Tensor, **options: Any) -> None:  # (N, n)
        super().__init__(table, **options)
        self.sees_pairs = bool(self.processes)
        cheap = 8 if torch.device(self.device).type == "cpu" else 64
        self.lookahead = max((p.lookahead for p in self.processes.values()), default=cheap)

    def part(self, child: int) -> MixtureEvidence:
        """The mixture that holds the evidence of a child, on its own rows."""
        return self

    def without_processes(self) -> MixtureEvidence | None:
        """The same of cheap functions alone; None where there are none."""
        cheap = [name for name in self.functions if name not in self.processes]
        if not cheap:
            return None
        return self._alike(cheap, _EVERY) if self.processes else self

    def by_curves(self) -> MixtureEvidence:
        """The same of lines and sums of curves, whatever the functions here."""
        return self._alike(["linear", "additive"], _EVERY)

    def relabelled(self, order: Tensor) -> MixtureEvidence:  # (n,)
        """The same with column ``order[k]`` in place k, knowing what is known."""
        own = self._alike(self.functions, order)
        for name, process in own.processes.items():
            process.learn_from(self.processes[name], order)
        place = order.argsort()
        for (child, bits), terms in self._known.items():
            own._known[int(place[child]), bits_of(place[members(bits)])] = terms
        return own

    def _alike(
        self, functions: Sequence[str], order: Tensor | slice, **more: Any
    ) -> MixtureEvidence:
        """An evidence of the same kind, knowing nothing, with column ``order[k]`` in place k."""
        return type(self)(
            Table(*(part[:, order] for part in self.table)),
            functions=functions,
            any_noise=self.any_noise,
            asked=self.asked[order],
            device=self.device,
            deadline=self.deadline,
            **more,
        )

    def holds(self, some: Sequence[str], graph: Tensor) -> bool:  # (n, n) bool
        """Whether some kinds of functions hold the evidence of most columns with parents."""
        children = graph.any(0).nonzero()[:, 0]
        own = [k for k, name in enumerate(self.functions) if name in some]
        if not len(children):
            return False
        terms = self.terms(children, graph.T[children]).logsumexp(-1)
        return bool(terms.softmax(-1)[:, own].sum(-1).mean() > 0.5)

    def weights(self, child: int, parents: Tensor) -> Weights:  # (n,) bool
        """Which families hold the evidence of a column."""
        terms = self.terms(torch.tensor([child]), parents[None])[0]
        total = terms.flatten().logsumexp(0)
        share = (terms - total).exp()
        alone = float(self._roots[child].logsumexp(0))
        over = float(total) - alone
        return Weights(share.sum(1), share.sum(0), float(total), over, self.n_rows)

    def size_weights(self, function: str, child: int, parents: Tensor) -> Tensor:  # -> (|S|, k)
        """Coefficients of the log size of a column's noise, by parent and smooth function."""
        left = self._left_by(function, torch.tensor([child]), parents[None])
        return self._sizes(left, parents).weight.reshape(-1, SIZE_FUNCTIONS).cpu()

    def _sizes(self, residual: Tensor, parents: Tensor) -> Sizes:  # (1, N), (n,) bool
        features = self.sums.features(parents.nonzero().T.to(self.device), SIZE_FUNCTIONS)
        return noise_sizes(standardised(residual), features)

    def misfits(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, n)
        """Nats by which what is left of every column still depends on each column."""
        return dependence(self.likely_residuals(child, parents), self.table.x)

    def likely_residuals(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, N)
        """What the likeliest family leaves of every column, over its size."""
        rows = [self._likely_residual(int(v), given) for v, given in zip(child, parents)]
        return torch.stack(rows)

    def _likely_residual(self, child: int, parents: Tensor) -> Tensor:  # (n,) bool -> (N,)
        if not parents.any():
            return self.table.y[:, child]
        one, given = torch.tensor([child]), parents[None]
        terms = self.terms(one, given)[0]
        if self.switches is not None:  # which leaves no residuals
            terms[self.functions.index(SWITCH)] = -math.inf
        function, noise = divmod(int(terms.flatten().argmax()), terms.shape[1])
        left = self._left_by(self.functions[function], one, given)
        scaled = standardised(left) if noise < 2 else self._sizes(left, parents).scaled
        return scaled[0].cpu()

    # What searches ask for -------------------------------------------------------------------

    def screens(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b, n)
        self.deadline.check()
        terms = self.terms(child, parents)
        total = terms.flatten(1).logsumexp(-1)
        matters = terms.flatten(2).amax(-1) > (total - MARGIN)[:, None]  # (b, f)
        others = ~torch.nn.functional.one_hot(child, self.n_nodes).bool()
        estimate = torch.full(parents.shape, -math.inf, dtype=torch.float64)
        noise = terms.logsumexp(-1) - terms[..., 0]  # (b, f) what other noise brings
        bare = ~parents.any(-1)
        if bool(bare.any()):  # every function of one parent is about a curve
            values = self.sums.toggles(child[bare], parents[bare], others[bare])
            estimate[bare] = values.nan_to_num(nan=-math.inf) + noise[bare].amax(-1, keepdim=True)
        for k, name in enumerate(self.functions):
            kept = matters[:, k] if name == SWITCH else matters[:, k] & ~bare
            rows = kept.nonzero()[:, 0]
            if not len(rows):
                continue
            if self.switches is not None and name == SWITCH:
                values = self.switches.toggles(child[rows], parents[rows], others[rows])
            elif name in self.cheap:
                values = self.cheap[name].toggles(child[rows], parents[rows], others[rows])
                values = values.nan_to_num(nan=-math.inf) + noise[rows, k, None]
            else:
                base = terms[rows, k].logsumexp(-1) + math.log(len(self.functions))
                values = base[:, None] + self.processes[name].screens(child[rows], parents[rows])
            estimate[rows] = torch.logaddexp(estimate[rows], values)
        estimate = estimate - math.log(len(self.functions))
        last = parents & (parents.sum(-1, keepdim=True) == 1)
        root = self._roots[child].logsumexp(-1)[:, None]
        estimate = torch.where(last, root, estimate)
        return torch.where(others, estimate - total[:, None], 0.0)

    def acts_together(self, parents: Tensor) -> Tensor:  # (n, n) bool -> (n,)
        """Which nodes a process explains about as well as anything, given these parents of each.

        True also of nodes with less than two, where sums say the same, if it is of most others.
        """
        terms = self.terms(torch.arange(len(parents)), parents).logsumexp(-1)  # (n, f)
        own = terms[:, [self.functions.index(name) for name in self.processes]]
        together = (own > terms.amax(-1, keepdim=True) - NEAR).any(-1)
        several = parents.sum(-1) > 1
        return torch.where(several, together, _most(together, several))

    def probes(self, child: Tensor, parents: Tensor) -> Tensor | None:  # (b,), (b, n) -> (b, n)
        if not self.processes:
            return None
        held, given = self._held_by(child, parents), parents.any(-1)
        value = torch.full(parents.shape, -math.inf, dtype=torch.float64)
        for k, process in enumerate(self.processes.values()):
            own = given & (held == k)
            if bool(own.any()):
                value[own] = process.probes(child[own], parents[own])
        return value

    def joint_screens(self, child: Tensor, parents: Tensor) -> Tensor | None:  # -> (b, n)
        """By a process, where sums hold the evidence: with a parent more, that may change."""
        if not self.processes:
            return None
        sums = parents.any(-1) & (self._held_by(child, parents) < 0)
        value = torch.full(parents.shape, -math.inf, dtype=torch.float64)
        if bool(sums.any()):
            first = next(iter(self.processes.values()))
            value[sums] = first.screens(child[sums], parents[sums])
        return value.masked_fill(value <= 0, -math.inf)

    def pair_probes(self, child: Tensor, parents: Tensor, least: float, like: Tensor) -> ClearPairs:
        held = self._held_by(child, like)
        found, processes = [], list(self.processes.values())
        for k in held.unique().tolist():
            own = (held == k).nonzero()[:, 0]
            asked = child[own], parents[own]
            if k < 0:
                residual = standardised(self.sums.residuals(*asked))
                found.append((own, ClearPairs.of(residual, self._shapes, least)))
            else:
                found.append((own, processes[k].pair_probes(*asked, least, like[own])))
        return ClearPairs.merged(found)

    @cached_property
    def _shapes(self) -> Tensor:  # (3, N, n)
        return simple_shapes(self.table.x.to(self.device))

    def _held_by(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        """Which process explains each child best; -1 where none matters."""
        if not self.processes:
            return torch.full_like(child, -1)
        terms = self.terms(child, parents).logsumexp(-1)
        best, which = terms[:, [self.functions.index(name) for name in self.processes]].max(-1)
        return torch.where(best > -math.inf, which, -1)

    def may_lack_parents(self, parents: Tensor, values: Tensor) -> Tensor:  # (n, n), (n,) -> (n,)
        """Weakly explained ones, where most causes act together."""
        weak = values - self._roots.logsumexp(-1) < _WEAK * self.n_rows
        several = parents.sum(-1) > 1
        joined = bool(self.processes) and bool(_most(self.acts_together(parents), several))
        return weak if joined else torch.zeros_like(weak)


def _most(true: Tensor, some: Tensor) -> Tensor:  # (n,) bool each -> bool
    """Whether something is true of more than half of some nodes."""
    return 2 * (true & some).sum() > some.sum()
