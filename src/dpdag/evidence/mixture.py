"""One evidence of all families: functions and noise averaged, for every column on its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..columns import Table
from ..deadline import ENDLESS, Deadline
from .additive import AdditiveEvidence
from .base import Evidence
from .gp import GPEvidence
from .gp.batches import BySets, as_bits, bits_of, members
from .gp.interactions import clear_pairs, simple_shapes
from .gram import sets_for
from .linear import LinearEvidence
from .misfit import dependence
from .noise import NOISES, Levels, log_root, noise_factors, noise_sizes, standardised
from .screened import ScreenedEvidence
from .switches import SWITCH, SwitchEvidence

__all__ = ["AUTO", "FUNCTIONS", "KERNEL_OF", "MixtureEvidence", "Weights"]

FUNCTIONS = ("linear", "additive", "gp", "network")
AUTO = (*FUNCTIONS, SWITCH)  # all kinds, some of which are of use beside others alone
KERNEL_OF = {"gp": "rbf", "network": "network"}
_MARGIN = 15.0  # nats beneath the best functions, noise being Gaussian, that noise may make up for
_DEAR = 6.0  # the same for functions that are dear to evaluate
_ROUGH = 6.0  # the same on the rows of a screening
_SIZE_FUNCTIONS = 6  # of each cause, that the size of noise may follow
_ANY_SHAPE = NOISES.index("any shape")
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


class _Nearest(NamedTuple):
    """What a neighbouring parent set tells.

    Attributes:
        dear: (processes,) bool, which of them matter there.
        lift: Nats that other noise than Gaussian brings there.
    """

    dear: Tensor
    lift: float


class _Gaussian(NamedTuple):
    """Functions with Gaussian noise.

    Attributes:
        value: (b, f) log evidence, or about that.
        whole: (b, f) bool, where a process was followed to the end.
        final: (b,) bool, whether all that matter were.
        residual: (b, N) of processes, by place among the functions.
    """

    value: Tensor
    whole: Tensor
    final: Tensor
    residual: dict[int, Tensor]


class MixtureEvidence(ScreenedEvidence):
    r"""Log density of a child given its parents, averaged over families.

    .. math:: \log p(x_v \mid x_S) = \log \sum_{f, k} \pi_f\, \pi_k\, p_{fk}(x_v \mid x_S)

    over functions f (a line, a sum of curves, a smooth process, a network process) and noise k
    (Gaussian or of any shape, of constant size or of one that follows the causes). A column
    without parents has the same noise around its mean. Beside functions, causes may decide between
    two modes of a column (:class:`~dpdag.evidence.switches.SwitchEvidence`). Families are a matter
    of each column. Cheap ones are evaluated first, processes only where they can still matter; what
    lies far beneath the best is left out.

    Arguments:
        table: Standardised columns.
        functions: Of ``AUTO``.
        any_noise: Whether noise may differ from Gaussian noise of constant size.
        asked: (n,) bool, columns that processes may explain; all by default.
        device: Where to compute.
        deadline: Asked before every evaluation.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> cause, noise = torch.rand(2, 500, generator=generator, dtype=torch.float64)
        >>> x = torch.stack([cause, cause + noise], dim=1)
        >>> evidence = MixtureEvidence((x - x.mean(0)) / x.std(0, correction=0))
        >>> graphs = torch.tensor([[[0, 0], [1, 0]], [[0, 1], [0, 0]]]).bool()  # parents of each
        >>> right, wrong = (evidence.log_evidence(torch.arange(2), one).sum() for one in graphs)
        >>> bool(right > wrong + 20)
        True
    """

    screens_roots = True

    def __init__(
        self,
        table: Table | Tensor,  # (N, n)
        *,
        functions: Sequence[str] = FUNCTIONS,
        any_noise: bool = True,
        asked: Tensor | None = None,
        device: torch.device | str = "cpu",
        deadline: Deadline = ENDLESS,
    ) -> None:
        if isinstance(table, Tensor):
            table = Table(table, table)
        self.deadline = deadline
        self.table = Table(*(part.double().cpu() for part in table))
        self.n_rows, self.n_nodes = table.x.shape
        self.functions, self.any_noise, self.device = tuple(functions), any_noise, device
        self.cheap = self._cheap(self.table)
        self.lines, self.sums = self.cheap["linear"], self.cheap["additive"]
        self.processes = {
            name: GPEvidence(
                table,
                kernel=KERNEL_OF[name],
                device=device,
                deadline=deadline,
                categories=self._categories(),
            )
            for name in functions
            if name in KERNEL_OF
        }
        screened = min((p.screen_rows for p in self.processes.values()), default=self.n_rows)
        self._on_few_rows = (
            self._cheap(self.table.first(screened)) if screened < self.n_rows else {}
        )  # what processes must come near to on the rows of their screening
        every = torch.ones(self.n_nodes, dtype=torch.bool)
        self.asked = every if asked is None else asked
        self.sees_pairs = bool(self.processes)
        cheap = 8 if torch.device(device).type == "cpu" else 64
        self.lookahead = max((p.lookahead for p in self.processes.values()), default=cheap)
        self._known: BySets[Tensor] = BySets()  # (f, k) log prior times density
        self._roots = log_root(self.table.y)[:, None]  # (n, k)
        if any_noise:
            self._roots = self._roots + noise_factors(self.table.y.T.to(device).contiguous()).cpu()
        self.switches = self._switches() if SWITCH in self.functions else None

    def part(self, child: int) -> MixtureEvidence:
        """The mixture that holds the evidence of a child, on its own rows."""
        return self

    # Values ----------------------------------------------------------------------------------

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        return self.terms(child, parents).flatten(1).logsumexp(-1)

    def reach(self, child: Tensor, parents: Tensor, target: Tensor) -> Tensor:
        if not self.processes:  # nothing is dear
            return self.log_evidence(child, parents)
        keys = [(int(v), as_bits(row)) for v, row in zip(child, parents)]
        value = torch.empty(len(child), dtype=torch.float64)
        new = torch.tensor([key not in self._known for key in keys])
        if bool((~new).any()):
            value[~new] = self.log_evidence(child[~new], parents[~new])
        if bool(new.any()):
            near = [self._nearest(*key) for key, own in zip(keys, new) if own]
            dear = torch.stack([one.dear for one in near])
            lift = torch.tensor([one.lift for one in near], dtype=torch.float64)
            terms, final = self._evaluate(child[new], parents[new], target[new] - lift, dear)
            value[new] = terms.flatten(1).logsumexp(-1)
            for k, row in enumerate(new.nonzero()[:, 0].tolist()):
                if final[k]:
                    self._known[keys[row]] = terms[k]
        return value

    def terms(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, f, k)
        """Log of prior times density of every family; −∞ where it does not matter."""
        keys = [(int(v), as_bits(row)) for v, row in zip(child, parents)]
        new = {key: k for k, key in enumerate(keys) if key not in self._known}
        if new:
            rows = torch.tensor(list(new.values()))
            goal = torch.full((len(rows),), -math.inf, dtype=torch.float64)
            dear = self.asked[child[rows], None].repeat(1, len(self.processes))
            terms, _ = self._evaluate(child[rows], parents[rows], goal, dear)
            self._known.update(zip(new, terms))
        return torch.stack([self._known[key] for key in keys])

    def _nearest(self, child: int, bits: int) -> _Nearest:
        """What the best neighbouring set known lets expect: one parent more or less."""
        known = [terms for other, terms in self._known.near(child, bits) if other]
        if not known:
            asked = self.asked[child].expand(len(self.processes))
            root = self._roots[child]
            return _Nearest(asked, float(root.logsumexp(0) - root[0]))
        terms = max(known, key=lambda terms: float(terms.flatten().logsumexp(0)))
        lift = float(terms.flatten().logsumexp(0) - terms[:, 0].amax())
        each = terms.logsumexp(-1)
        own = each[[self.functions.index(name) for name in self.processes]]
        return _Nearest(own > each.amax() - _DEAR, lift)

    def without_processes(self) -> MixtureEvidence | None:
        """The same of cheap functions alone; None where there are none."""
        cheap = [name for name in self.functions if name not in self.processes]
        if not cheap or not self.processes:
            return self if cheap else None
        return self._alike(self.table, cheap, torch.arange(self.n_nodes))

    def by_curves(self) -> MixtureEvidence:
        """The same of lines and sums of curves, whatever the functions here."""
        return self._alike(self.table, list(self.cheap), torch.arange(self.n_nodes))

    def relabelled(self, order: Tensor) -> MixtureEvidence:  # (n,)
        """The same with column ``order[k]`` in place k, knowing what is known."""
        table = Table(*(part[:, order] for part in self.table))
        own = self._alike(table, self.functions, order)
        for name, process in own.processes.items():
            process.learn_from(self.processes[name], order)
        place = order.argsort()
        for (child, bits), terms in self._known.items():
            own._known[int(place[child]), bits_of(place[members(bits)])] = terms
        return own

    def _alike(self, table: Table, functions: Sequence[str], order: Tensor) -> MixtureEvidence:
        """An evidence of the same kind, knowing nothing, with column ``order[k]`` in place k."""
        return MixtureEvidence(
            table,
            functions=functions,
            any_noise=self.any_noise,
            asked=self.asked[order],
            device=self.device,
            deadline=self.deadline,
        )

    def holds(self, function: str, graph: Tensor) -> bool:  # (n, n) bool
        """Whether a kind of function holds the evidence of most columns with parents."""
        children = graph.any(0).nonzero()[:, 0]
        if function not in self.functions or not len(children):
            return False
        terms = self.terms(children, graph.T[children]).logsumexp(-1)
        share = terms.softmax(-1)[:, self.functions.index(function)]
        return bool(share.mean() > 0.5)

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
        one, given = torch.tensor([child]), parents[None]
        part = self.processes.get(function)
        residual = (
            part.fit(one, given).residual
            if part is not None
            else self.cheap[function].residuals(one, given)
        )
        index = parents.nonzero().T.to(self.device)
        sizes = noise_sizes(standardised(residual), self.sums.features(index, _SIZE_FUNCTIONS))
        return sizes.weight.reshape(index.shape[1], -1).cpu()

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
        name = self.functions[function]
        part = self.processes.get(name)
        residual = standardised(
            self.cheap[name].residuals(one, given)
            if part is None
            else part.fit(one, given).residual
        )
        if noise < 2:
            return residual[0].cpu()
        features = self.sums.features(parents.nonzero().T.to(self.device), _SIZE_FUNCTIONS)
        return noise_sizes(residual, features).scaled[0].cpu()

    def _evaluate(
        self, child: Tensor, parents: Tensor, goal: Tensor, dear: Tensor
    ) -> tuple[Tensor, Tensor]:  # -> (b, f, k), (b,)
        """Terms, and whether all that matter are final."""
        self.deadline.check()
        f = len(self.functions)
        terms = torch.full((len(child), f, len(NOISES)), -math.inf, dtype=torch.float64)
        bare = ~parents.any(-1)
        kinds = self._roots.shape[1]
        terms[bare, :, :kinds] = self._roots[child[bare]].unsqueeze(1) - math.log(f)
        final = torch.ones(len(child), dtype=torch.bool)
        rows = (~bare).nonzero()[:, 0]
        if len(rows):
            terms[rows], final[rows] = self._given(
                child[rows], parents[rows], goal[rows], dear[rows]
            )
        return terms, final

    def _given(
        self, child: Tensor, parents: Tensor, goal: Tensor, dear: Tensor
    ) -> tuple[Tensor, Tensor]:
        found = self._with_gaussian_noise(child, parents, goal, dear)
        value, whole = found.value, found.whole
        terms = value.new_full((*value.shape, len(NOISES)), -math.inf)
        terms[..., 0] = value.where(~whole, -math.inf)
        matters = whole & (value > value.amax(-1, keepdim=True) - _MARGIN)
        row, function = matters.nonzero(as_tuple=True)
        noise = value.new_zeros(len(row), 1)
        if self.any_noise:
            left = self._residuals(found, child[row], parents[row], row, function)
            noise = self._noise_given(parents[row], left)
        known = value[row, function, None] + noise - math.log(len(self.functions))
        terms[row, function, : noise.shape[1]] = known
        if self.switches is not None:
            own = self.switches.log_evidence(child, parents) - math.log(len(self.functions))
            terms[:, self.functions.index(SWITCH), _ANY_SHAPE] = own
        return terms, found.final

    def _with_gaussian_noise(
        self, child: Tensor, parents: Tensor, goal: Tensor, dear: Tensor
    ) -> _Gaussian:
        """All functions: cheap ones first, then processes that are asked for and may matter."""
        value = torch.full((len(child), len(self.functions)), -math.inf, dtype=torch.float64)
        found = _Gaussian(value, torch.ones_like(value).bool(), dear.all(-1), {})
        for name in self.cheap.keys() & set(self.functions):
            value[:, self.functions.index(name)] = self.cheap[name].log_evidence(child, parents)
        few = torch.full((len(child),), -math.inf, dtype=torch.float64)  # best on few rows
        some = dear.any(-1).nonzero()[:, 0]
        for name in self._on_few_rows.keys() & set(self.functions) if len(some) else ():
            near = self._on_few_rows[name].log_evidence(child[some], parents[some])
            few[some] = torch.maximum(few[some], near)
        for name, wanted in zip(self.processes, dear.T):
            k, rows = self.functions.index(name), wanted.nonzero()[:, 0]
            if not len(rows):
                continue
            rival = value[rows].amax(-1) - _DEAR
            target = torch.maximum(rival, goal[rows])
            fit = self.processes[name].fit(child[rows], parents[rows], target, few[rows] - _ROUGH)
            few[rows] = torch.maximum(few[rows], fit.rough)
            found.final[rows] &= fit.final | (fit.value < rival)
            value[rows, k] = fit.value.where(fit.final | (fit.value > rival), -math.inf)
            found.whole[rows, k] = fit.final
            found.residual[k] = fit.residual.new_zeros(len(child), self.n_rows)
            found.residual[k][rows] = fit.residual
        return found

    def _residuals(
        self, found: _Gaussian, child: Tensor, parents: Tensor, row: Tensor, function: Tensor
    ) -> Tensor:  # (m,), (m, n), (m,), (m,) -> (m, N)
        """Of one function each."""
        left = found.value.new_empty(len(row), self.n_rows, device=self.device)
        for k in function.unique().tolist():
            own = function == k
            left[own] = (
                found.residual[k][row[own]]
                if k in found.residual
                else self.cheap[self.functions[k]].residuals(child[own], parents[own])
            )
        return left

    def _noise_given(self, parents: Tensor, residual: Tensor) -> Tensor:  # (b, n), (b, N) -> (b, k)
        value = torch.empty(len(residual), len(NOISES), dtype=torch.float64)
        numbers = _SIZE_FUNCTIONS * self.n_rows
        for rows, index, there in sets_for(parents, numbers=numbers, device=self.device):
            features = self.sums.features(index, _SIZE_FUNCTIONS)
            features = features * there.repeat_interleave(_SIZE_FUNCTIONS, -1).unsqueeze(-1)
            levels = self._levels(parents[rows])
            value[rows] = noise_factors(residual[rows], features, levels).cpu()
        return value

    def _levels(self, parents: Tensor) -> Sequence[Levels]:  # (b, n)
        """Of causes of few values, by which noise may have a shape of its own."""
        return ()

    # What searches ask for -------------------------------------------------------------------

    def screens(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b, n)
        self.deadline.check()
        terms = self.terms(child, parents)
        total = terms.flatten(1).logsumexp(-1)
        matters = terms.flatten(2).amax(-1) > (total - _MARGIN)[:, None]  # (b, f)
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

        True also of nodes with less than two, where sums say the same, if it is of any other.
        """
        terms = self.terms(torch.arange(len(parents)), parents).logsumexp(-1)  # (n, f)
        own = terms[:, [self.functions.index(name) for name in self.processes]]
        together = (own > terms.amax(-1, keepdim=True) - _DEAR).any(-1)
        several = parents.sum(-1) > 1
        return torch.where(several, together, (together & several).any())

    def probes(self, child: Tensor, parents: Tensor) -> Tensor | None:  # (b,), (b, n) -> (b, n)
        if not self.processes:
            return None
        given = [
            self._process(int(v), row) if row.any() else None for v, row in zip(child, parents)
        ]
        value = torch.full(parents.shape, -math.inf, dtype=torch.float64)
        for process in self.processes.values():
            own = torch.tensor([one is process for one in given])
            if bool(own.any()):
                value[own] = process.probes(child[own], parents[own])
        return value

    def pair_probe(
        self, child: int, parents: Tensor, least: float
    ) -> tuple[Tensor, Tensor]:  # (n,) bool -> (k, 2), (k,)
        process = self._process(child, parents)
        if process is not None:
            return process.pair_probe(child, parents, least)
        residual = self.sums.residuals(torch.tensor([child]), parents[None])[0]
        return clear_pairs(standardised(residual[None])[0], self._shapes, least)

    @cached_property
    def _shapes(self) -> Tensor:  # (3, N, n)
        return simple_shapes(self.table.x.to(self.device))

    def _process(self, child: int, parents: Tensor) -> GPEvidence | None:
        """The process that explains a child best, where it matters."""
        terms = self.terms(torch.tensor([child]), parents[None])[0].logsumexp(-1)
        names = [name for name in self.processes if terms[self.functions.index(name)] > -math.inf]
        if not names:
            return None
        return self.processes[max(names, key=lambda name: terms[self.functions.index(name)])]

    def may_lack_parents(self, parents: Tensor, values: Tensor) -> Tensor:  # (n, n), (n,) -> (n,)
        """Weakly explained ones whose parents act together."""
        if not self.processes:
            return torch.zeros(len(values), dtype=torch.bool)
        return self.acts_together(parents) & (
            values - self._roots.logsumexp(-1) < _WEAK * self.n_rows
        )

    def _categories(self) -> dict[int, Tensor]:
        """Features (N, K) of columns that are no numbers."""
        return {}

    def _switches(self) -> SwitchEvidence:
        return SwitchEvidence(
            self.table, self._roots.logsumexp(-1), curves=self._curves, deadline=self.deadline
        )

    def _curves(self, table: Table) -> Evidence:
        return self._cheap(table)["additive"]

    def _cheap(self, table: Table) -> dict[str, Any]:
        """Evidences that cost little."""
        sums = AdditiveEvidence(table.x, y=table.y, device=self.device)
        return {"linear": LinearEvidence(table.y, device=self.device), "additive": sums}
