"""Evidence of discrete columns: probabilities of categories, scales and counts given causes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

import torch
from torch import Tensor

from ..deadline import ENDLESS, Deadline
from ..ops.rows import varied_rows
from ..seeding import torch_generator
from .base import Evidence
from .cells import Cells, ordered_cells, pooled_cells
from .features import Features, curves, lines, own_order, process
from .known import Key, remembered
from .laplace import laplace
from .likelihoods import Likelihood, NegativeBinomial, Ordered, Softmax

_OfCells = type[Ordered] | type[Softmax]

LATENT = ("linear", "additive", "gp")  # kinds of latent functions
_CENTRES = 60  # rows that a process is carried by
_FEW = 300  # rows on which processes must come near to other functions
_ROUGH = 6.0  # nats that are near enough there


class DiscreteEvidence(Evidence):
    r"""Log probability of a discrete child given its parents, averaged over families.

    .. math:: \log p(x_v \mid x_S) = \log \sum_{f, k} \pi_f\, \pi_k
        \int p_k(x_v \mid t, f(x_S))\, dP(t)\, dP(f)

    over latent functions f (a line, a sum of curves, a smooth process) and likelihoods k: logistic
    for two values, ordered logistic for ordinal ones, softmax for categories; for counts Poisson
    or negative binomial, and ordered logistic on cells of counts, whose distribution without
    causes may have any shape. Integrals are Laplace's, with amplitude and smoothness averaged over
    a grid; without causes they are exact, and what Laplace's method misses there is added
    everywhere, so that sets of causes compare. Causes of any type enter, a category as one
    variable.

    Probabilities are of values, densities of other columns are of standardised ones: each column
    keeps its measure in every graph, so that sums over columns compare.

    Arguments:
        x: (N, n) standardised columns; of a category any different numbers.
        values: (N, n) as they are, in order but for categories; continuous columns are not read.
        kinds: The type of each column.
        functions: Of ``LATENT``.
        deadline: Asked before every batch.

    Example:
        >>> x = torch.randn(300, 1, generator=torch.Generator().manual_seed(0)).double()
        >>> ill = (torch.sin(3 * x) + 0.2 * torch.cos(40 * x) > 0).double()
        >>> both = torch.cat([x, ill], -1)
        >>> evidence = DiscreteEvidence(both, both, ["continuous", "binary"])
        >>> sets = torch.tensor([[False, False], [True, False]])
        >>> without, given = evidence.log_evidence(torch.tensor([1, 1]), sets)
        >>> bool(given > without + 50)
        True
    """

    def __init__(
        self,
        x: Tensor,
        values: Tensor,
        kinds: Sequence[str],
        *,
        functions: Sequence[str] = LATENT,
        deadline: Deadline = ENDLESS,
    ) -> None:
        self.deadline = deadline
        self.n_rows, self.n_nodes = x.shape
        self.x, self.values, self.kinds = x.double(), values, tuple(kinds)
        self.functions = tuple(name for name in LATENT if name in functions) or ("additive",)
        self.discrete = torch.tensor([kind != "continuous" for kind in kinds])
        self.categories = tuple(k for k, kind in enumerate(kinds) if kind == "category")
        self.lines, self.curves = lines(self.x, self.categories), curves(self.x, self.categories)
        order = own_order(self.lines)
        self._centres = order[:_CENTRES]
        self._few: DiscreteEvidence | None = None
        if "gp" in self.functions and self.n_rows > 1.5 * _FEW:
            few = varied_rows(values, order[:_FEW])
            self._few = DiscreteEvidence(self.x[few], values[few], kinds, deadline=deadline)
        self._known: dict[str, dict[Key, float]] = {name: {} for name in LATENT}
        of_column = _cells(values, self.kinds)
        self.cells = {k: own.code for k, own in of_column.items()}  # (N,) of discrete columns
        self._families = _families(values, self.kinds, of_column)
        self.log_root = torch.full((self.n_nodes,), -math.inf, dtype=torch.float64)
        for family in self._families:
            own = family.log_prior + family.log_root
            self.log_root[family.columns] = torch.logaddexp(self.log_root[family.columns], own)

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        return self.terms(child, parents).logsumexp(-1)

    def terms(
        self,
        child: Tensor,  # (b,)
        parents: Tensor,  # (b, n) bool
        asked: Tensor | None = None,  # (b,) bool
    ) -> Tensor:  # (b, f)
        """Log of prior times probability by kind of function, −∞ for processes not asked for.

        A process over one parent is a curve, and not evaluated.
        """
        value = self.x.new_full((len(child), len(self.functions)), -math.inf)
        count = parents.sum(-1)
        several = count > 1 if asked is None else (count > 1) & asked
        for k, name in enumerate(self.functions):
            rows = torch.arange(len(child)) if name != "gp" else several.nonzero()[:, 0]
            if len(rows):
                value[rows, k] = self._values(name, child[rows], parents[rows])
            if name == "gp" and bool((count < 2).any()):
                few = (count < 2).nonzero()[:, 0]
                value[few, k] = self._values("additive", child[few], parents[few])
        return value - math.log(len(self.functions))

    def screens(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b, n)
        """Change of the evidence by toggling each node, by lines and sums of curves alone."""
        others = ~torch.nn.functional.one_hot(child, self.n_nodes).bool()
        row, node = others.nonzero(as_tuple=True)
        changed = parents[row]
        changed[torch.arange(len(row)), node] ^= True
        sets, children = torch.cat([parents, changed]), torch.cat([child, child[row]])
        nobody = torch.zeros(len(children), dtype=torch.bool)
        cheap = [k for k, name in enumerate(self.functions) if name != "gp"] or [0]
        value = self.terms(children, sets, nobody)[:, cheap].logsumexp(-1)
        change = self.x.new_zeros(parents.shape)
        change[row, node] = value[len(child) :] - value[row]
        return change

    def residuals(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, N)
        r"""Where in its distribution given its parents every value is, even if that is right.

        .. math:: u = P(y' < y \mid x_S) + v\, P(y \mid x_S), \qquad v \sim U(0, 1)

        with the likeliest curves; values of a category in any order, counts by cells.

        Reference:
            Dunn and Smyth, *Randomized quantile residuals* (1996).
        """
        rows = [self._residual(int(v), given) for v, given in zip(child, parents)]
        return torch.stack(rows)

    def _residual(self, child: int, parents: Tensor) -> Tensor:  # (n,) bool -> (N,)
        place, likelihood = next(
            (family.place[child, None], family.likelihood)
            for family in self._families
            if family.has[child] and isinstance(family.likelihood, (Ordered, Softmax))
        )
        own = parents[self.curves.owner]
        phi, precision = self.curves.values[:, own], self.curves.precision[:, own]
        mode = laplace(likelihood, place, phi[None], precision[None])
        best = int(mode.value.argmax())
        functions = mode.weight[0, 0, best] @ phi.T  # (c, N)
        share = likelihood.probabilities(mode.levels[0, 0, best], functions)
        code = likelihood.values[place]
        chance = torch.rand(self.n_rows, generator=torch_generator(0, "ranks")).double()
        above = share.cumsum(0).gather(0, code)[0]
        return above - chance * share.gather(0, code)[0]

    def relabelled(
        self, order: Tensor, functions: Sequence[str] | None = None
    ) -> DiscreteEvidence:  # (n,)
        """The same with column ``order[k]`` in place k, of these functions only."""
        kinds = [self.kinds[k] for k in order.tolist()]
        kept = self.functions if functions is None else functions
        own = DiscreteEvidence(
            self.x[:, order],
            self.values[:, order],
            kinds,
            functions=kept,
            deadline=self.deadline,
        )
        if torch.equal(order, torch.arange(self.n_nodes)):
            own._known = self._known
        return own

    def _values(self, name: str, child: Tensor, parents: Tensor) -> Tensor:  # -> (b,)
        """Log probabilities with functions of one kind, each computed once."""
        find = partial(self._find, name)
        return self.x.new_tensor(remembered(self._known[name], child, parents, find))

    def _find(self, name: str, child: Tensor, parents: Tensor) -> list[float]:
        value, given = self.log_root[child], parents.any(-1)
        if name == "gp":
            hopeless = ~self._promising(child, parents)
            value[hopeless], given = -math.inf, given & ~hopeless
        if bool(given.any()):
            value[given] = self._given(name, child[given], parents[given])
        return value.tolist()

    def _promising(self, child: Tensor, parents: Tensor) -> Tensor:  # -> (b,) bool
        """Whether processes come near to other functions on few rows."""
        if self._few is None:
            return torch.ones(len(child), dtype=torch.bool)
        rough = self._few.terms(child, parents)
        return rough[:, -1] > rough[:, :-1].amax(-1) - _ROUGH

    def _given(self, name: str, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        value = self.x.new_full((len(child),), -math.inf)
        features = self.curves if name == "additive" else self.lines
        for family in self._families:
            rows = family.has[child].nonzero()[:, 0]
            if len(rows):
                own = self._integrate(family, features, name, child[rows], parents[rows])
                value[rows] = torch.logaddexp(value[rows], family.log_prior + own)
        return value

    def _integrate(
        self, family: _Family, features: Features, name: str, child: Tensor, parents: Tensor
    ) -> Tensor:  # (b,), (b, n) -> (b,)
        value, likelihood = self.x.new_empty(len(child)), family.likelihood
        copies = likelihood.n_shapes * likelihood.n_functions**2
        if name == "gp":
            copies *= len(self._centres)
        for rows, phi, precision in features.of_sets(parents, copies=copies):
            self.deadline.check()
            column = family.place[child[rows]]
            if name == "gp":
                phi, precision = process(phi, self._centres)
                found = laplace(
                    likelihood,
                    column.repeat_interleave(phi.shape[1]),
                    phi.flatten(0, 1),
                    precision.repeat(len(phi), 1, 1),
                ).value.unflatten(0, phi.shape[:2])
                found = found.movedim(1, -1).flatten(-2)  # (c, h, l · g)
            else:
                found = laplace(likelihood, column, phi, precision).value
            found = (found + family.missed[column, :, None]).flatten(1)
            average = found.logsumexp(-1) - math.log(found.shape[-1])
            value[rows] = average + family.log_within[column]
        return value


class _Family:
    """Columns of one likelihood.

    Attributes:
        columns: (k,) which they are, ``place``: (n,) where each is among them, ``has``: (n,) bool.
        log_prior: Of this likelihood for these columns.
        log_within: (k,) what the likelihood leaves to say of the values.
        missed: (k, h) what Laplace's method misses without causes.
        log_root: (k,) log probability without causes.
    """

    def __init__(
        self, likelihood: Likelihood, columns: Tensor, n: int, within: Tensor, share: float
    ) -> None:
        self.likelihood, self.columns, self.log_within = likelihood, columns, within
        self.log_prior = math.log(share)
        self.place = torch.full((n,), -1)
        self.place[columns] = torch.arange(len(columns))
        self.has = self.place >= 0
        exact = likelihood.log_root()  # (k, h)
        every = torch.arange(len(columns))
        nothing = exact.new_zeros(len(columns), likelihood.values.shape[1], 0)
        rough = laplace(likelihood, every, nothing, exact.new_zeros(len(columns), 1, 0)).value
        self.missed = exact - rough[..., 0]
        self.log_root = exact.logsumexp(-1) - math.log(exact.shape[-1]) + within


def _cells(values: Tensor, kinds: Sequence[str]) -> dict[int, Cells]:  # (N, n)
    """Of every discrete column."""
    found = {}
    for k, kind in enumerate(kinds):
        column = values[:, k]
        codes = column.round().long() if kind == "count" else column.unique(return_inverse=True)[1]
        if kind == "category":
            found[k] = pooled_cells(codes)
        elif kind != "continuous":
            found[k] = ordered_cells(codes, bounded=kind != "count")
    return found


def _families(
    values: Tensor, kinds: Sequence[str], of_column: Mapping[int, Cells]
) -> list[_Family]:  # (N, n)
    """All likelihoods of all columns, columns of one likelihood side by side."""
    n = values.shape[1]
    cells: dict[tuple[_OfCells, int, float], list[tuple[int, Cells]]] = defaultdict(list)
    for k, own in of_column.items():
        make = Softmax if kinds[k] == "category" else Ordered
        cells[make, own.number, 0.5 if kinds[k] == "count" else 1.0].append((k, own))
    found = []
    for (make, number, share), members in cells.items():
        codes = torch.stack([own.code for _, own in members])
        within = torch.tensor([own.log_within for _, own in members], dtype=torch.float64)
        columns = torch.tensor([k for k, _ in members])
        found.append(_Family(make(codes, number), columns, n, within, share))
    counts = [k for k, kind in enumerate(kinds) if kind == "count"]
    if counts:
        nothing = torch.zeros(len(counts), dtype=torch.float64)
        likelihood = NegativeBinomial(values[:, counts].T.round())
        found.append(_Family(likelihood, torch.tensor(counts), n, nothing, 0.5))
    return found
