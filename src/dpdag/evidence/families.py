"""The density of a column given its causes, averaged over families of functions and noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..columns import Table
from ..deadline import ENDLESS, Deadline
from .additive import AdditiveEvidence
from .base import Evidence
from .gp import GPEvidence
from .gram import sets_for
from .known import Key, keys_of, one_apart, remembered
from .linear import CategoryLines, LinearEvidence
from .noise import NOISES, Levels, log_root, noise_factors
from .switches import SWITCH, SwitchEvidence

FUNCTIONS = ("linear", "additive", "gp", "network")
AUTO = (*FUNCTIONS, SWITCH)  # all kinds, some of which are of use beside others alone
KERNEL_OF = {"gp": "rbf", "network": "network"}
MARGIN = 15.0  # nats beneath the best functions, noise being Gaussian, that noise may make up for
NEAR = 6.0  # the same for functions that are dear to evaluate
_ROUGH = 6.0  # the same on the rows of a screening
SIZE_FUNCTIONS = 6  # of each cause, that the size of noise may follow
_ANY_SHAPE = NOISES.index("any shape")


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


class FamilyAverage(Evidence):
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
        categories: Places of columns that are no numbers.
        continuous: (n,) bool, columns that may have two modes; all by default.
        told_by: How many columns, the first ones, tell what priors of all need; all by default.
        device: Where to compute.
        deadline: Asked before every evaluation.
    """

    def __init__(
        self,
        table: Table | Tensor,  # (N, n)
        *,
        functions: Sequence[str] = FUNCTIONS,
        any_noise: bool = True,
        asked: Tensor | None = None,
        categories: tuple[int, ...] = (),
        continuous: Tensor | None = None,
        told_by: int | None = None,
        device: torch.device | str = "cpu",
        deadline: Deadline = ENDLESS,
    ) -> None:
        if isinstance(table, Tensor):
            table = Table(table, table)
        self.deadline = deadline
        self.table = Table(*(part.double().cpu() for part in table))
        self.n_rows, self.n_nodes = table.x.shape
        self.functions, self.any_noise, self.device = tuple(functions), any_noise, device
        self.categories, self._told_by = categories, told_by
        self.cheap = self._cheap(self.table)
        self.lines, self.sums = self.cheap["linear"], self.cheap["additive"]
        self.processes = {
            name: GPEvidence(
                table,
                kernel=KERNEL_OF[name],
                device=device,
                deadline=deadline,
                categories=categories,
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
        self._known: dict[Key, Tensor] = {}  # (f, k) log prior times density
        self._roots = log_root(self.table.y)[:, None]  # (n, k)
        if any_noise:
            self._roots = self._roots + noise_factors(self.table.y.T.to(device).contiguous()).cpu()
        self.switches: SwitchEvidence | None = None
        if SWITCH in self.functions:
            self.switches = SwitchEvidence(
                self.table,
                self._roots.logsumexp(-1),
                continuous=continuous,
                categories=categories,
                device=device,
                deadline=deadline,
            )

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        return self.terms(child, parents).flatten(1).logsumexp(-1)

    def reach(
        self, child: Tensor, parents: Tensor, target: Tensor, afresh: Tensor | None = None
    ) -> Tensor:
        if not self.processes:  # nothing is dear
            return self.log_evidence(child, parents)
        keys = keys_of(child, parents)
        value = torch.empty(len(child), dtype=torch.float64)
        new = torch.tensor([key not in self._known for key in keys])
        if bool((~new).any()):
            value[~new] = self.log_evidence(child[~new], parents[~new])
        if bool(new.any()):
            near = [self._nearest(*key) for key, own in zip(keys, new) if own]
            dear = torch.stack([matter for matter, _ in near])
            if afresh is not None:
                dear |= (afresh & self.asked[child])[new, None]
            lift = torch.tensor([brings for _, brings in near], dtype=torch.float64)
            terms, final = self._evaluate(child[new], parents[new], target[new] - lift, dear)
            value[new] = terms.flatten(1).logsumexp(-1)
            for k, row in enumerate(new.nonzero()[:, 0].tolist()):
                if final[k]:
                    self._known[keys[row]] = terms[k]
        return value

    def terms(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, f, k)
        """Log of prior times density of every family; −∞ where it does not matter."""

        def find(child: Tensor, parents: Tensor) -> Tensor:
            goal = torch.full((len(child),), -math.inf, dtype=torch.float64)
            dear = self.asked[child, None].repeat(1, len(self.processes))
            return self._evaluate(child, parents, goal, dear)[0]

        return torch.stack(remembered(self._known, child, parents, find))

    def _nearest(self, child: int, bits: int) -> tuple[Tensor, float]:  # (processes,) bool, ()
        """Which processes matter in the best set known with one parent more or less, and the nats
        that other noise than Gaussian brings there."""
        beside = one_apart(self._known, child, bits, self.n_nodes)
        known = [terms for other, terms in beside if other]
        if not known:
            asked = self.asked[child].expand(len(self.processes))
            root = self._roots[child]
            return asked, float(root.logsumexp(0) - root[0])
        terms = max(known, key=lambda terms: float(terms.flatten().logsumexp(0)))
        lift = float(terms.flatten().logsumexp(0) - terms[:, 0].amax())
        each = terms.logsumexp(-1)
        own = each[[self.functions.index(name) for name in self.processes]]
        return own > each.amax() - NEAR, lift

    @torch.inference_mode()  # many small operations, none of them differentiated
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
        matters = whole & (value > value.amax(-1, keepdim=True) - MARGIN)
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
            rival = value[rows].amax(-1) - NEAR
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

    def _left_by(self, name: str, child: Tensor, parents: Tensor) -> Tensor:  # -> (b, N)
        """What functions leave of every row."""
        if name in self.processes:
            return self.processes[name].fit(child, parents).residual
        return self.cheap[name].residuals(child, parents)

    def _noise_given(self, parents: Tensor, residual: Tensor) -> Tensor:  # (b, n), (b, N) -> (b, k)
        value = torch.empty(len(residual), len(NOISES), dtype=torch.float64)
        numbers = SIZE_FUNCTIONS * self.n_rows
        for rows, index, there in sets_for(parents, numbers=numbers, device=self.device):
            features = self.sums.features(index, SIZE_FUNCTIONS)
            features = features * there.repeat_interleave(SIZE_FUNCTIONS, -1).unsqueeze(-1)
            levels = self._levels(parents[rows])
            value[rows] = noise_factors(residual[rows], features, levels).cpu()
        return value

    def _levels(self, parents: Tensor) -> Sequence[Levels]:  # (b, n)
        """Of causes of few values, by which noise may have a shape of its own."""
        return ()

    def _cheap(self, table: Table) -> dict[str, Any]:
        """Evidences that cost little."""
        categories = self.categories
        sums = AdditiveEvidence(table.x, y=table.y, categories=categories, device=self.device)
        lines = (
            CategoryLines(table.y, categories, device=self.device)
            if categories
            else LinearEvidence(table.y, told_by=self._told_by, device=self.device)
        )
        return {"linear": lines, "additive": sums}
