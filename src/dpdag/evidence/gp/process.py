"""Evidence of a child under a Gaussian process over all its parents jointly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from ...columns import Table
from ...deadline import ENDLESS, Deadline
from ...ops.memory import require_memory
from ..interactions import ClearPairs, simple_shapes
from ..known import Key, bits_of, keys_of, members, one_apart
from ..noise import log_root
from ..screened import ScreenedEvidence
from .ascent import Ascent, maximise
from .budget import affordable_sets, set_bytes
from .fits import GPFit, Known, promised
from .inputs import Families, Inputs
from .kernels import KERNELS, one_each
from .marginal import (
    additions_score,
    column_features,
    gp_evidence,
    gp_evidence_and_gradient,
    gp_residual,
)
from .neighbours import Trials, neighbours, typical_scale, widest

_TRUST = 6.0  # nats promised by a step that need not be checked
_ON_ONE_CORE = 4  # parent sets evaluated in one batch where a batch brings no speed
_ON_GPU, _ASKED_FOR = 256, 64  # there, and how many a search asks for at once
_WORKSPACE = 2**24  # numbers held of parent sets that are screened
_LEAST_ROWS, _MOST_ROWS = 150, 300  # of the screening


class GPEvidence(ScreenedEvidence):
    r"""Log marginal likelihood of a child under a joint Gaussian process over its parents.

    .. math:: \log \int N(y \mid 0, \sigma^2 (K_{\ell, \tau}(x_S) + \rho I))\, d P(\sigma^2)\,
              d P(\ell, \rho, \tau)

    with one length scale ℓ per parent. The variance is integrated out exactly
    (:func:`~dpdag.evidence.noise.log_gaussian`), kernel parameters by Laplace's method under
    log-normal priors around typical values, with curvatures typical of the kernel. They start from
    the best known neighbouring parent set, are found on 300 rows at most and finished on all of
    them, so that a value depends on earlier calls by a fraction of a nat.

    Arguments:
        table: Standardised columns.
        kernel: "rbf" for smooth functions, "network" for infinitely wide networks.
        device: Where the matrices live.
        dtype: Of the matrices; sums are always float64.
        deadline: Asked before every batch.
        categories: Places of categories, which are causes only.

    Reference:
        Friedman and Nachman, *Gaussian process networks* (2000).

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> cause, noise = torch.randn(2, 200, generator=generator)
        >>> evidence = GPEvidence(torch.stack([cause, torch.sin(2 * cause) + noise / 4], -1))
        >>> forward, backward = evidence.log_evidence(
        ...     torch.tensor([1, 0]), torch.tensor([[True, False], [False, True]]))
        >>> bool(forward > backward + 10)
        True
    """

    sees_pairs = True

    def __init__(
        self,
        table: Table | Tensor,  # (N, n)
        *,
        kernel: str = "rbf",
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        deadline: Deadline = ENDLESS,
        categories: Sequence[int] = (),
    ) -> None:
        self.deadline = deadline
        if isinstance(table, Tensor):
            table = Table(table, table)
        self.n_rows, self.n_nodes = table.x.shape
        on_gpu = torch.device(device).type != "cpu"
        self.kernel = KERNELS[kernel]
        self.lookahead = _ASKED_FOR if on_gpu else _ON_ONE_CORE
        self._table = Table(*(part.to(device, dtype) for part in table))
        inputs = Inputs.of(table.x, categories)
        self._inputs = inputs._replace(values=inputs.values.to(self._table.x))
        few = min(_MOST_ROWS, max(_LEAST_ROWS, 3 * self.n_rows // 10))
        self.screen_rows = few if self.n_rows > _MOST_ROWS else self.n_rows
        self._screen = self._table.first(self.screen_rows)
        self._scale = self.n_rows / self.screen_rows  # of nats on these rows to those on all
        self._chunk = affordable_sets(self.n_rows, _ON_GPU if on_gpu else _ON_ONE_CORE, device)
        require_memory(
            set_bytes(self.n_rows, self._table.x.element_size()),
            what=f"A Gaussian process on {self.n_rows} rows",
            way_out="lower 'rows'",
            device=str(device),
        )
        self._known: dict[Key, Known] = {}
        self._shapes: Tensor | None = None
        self._feature_cache: dict[float, Tensor] = {}

    @property
    def device(self) -> torch.device:
        """Where the matrices live."""
        return self._table.x.device

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        value = log_root(self._table.y)[child]
        given = parents.any(-1)
        if bool(given.any()):
            value[given] = self.fit(child[given], parents[given]).value
        return value

    def learn_from(self, other: GPEvidence, order: Tensor) -> None:  # (n,)
        """Know what another knows of the same columns, of which ``order[k]`` is here in place k."""
        place = order.argsort()
        for (child, bits), known in other._known.items():
            moved = place[members(bits)]
            parameters = torch.cat([known.parameters[moved.argsort()], known.parameters[-2:]])
            key = int(place[child]), bits_of(moved)
            self._known[key] = known._replace(parameters=parameters)

    def kernel_parameters(self, child: int, parents: Tensor) -> Tensor:  # (n,) bool -> (|S| + 2,)
        """Logarithms of length scales in order of nodes, of the noise ratio and of the other."""
        return self._parameters(torch.tensor([child]), parents[None])[0]

    def _parameters(self, child: Tensor, parents: Tensor) -> list[Tensor]:  # (b,), (b, n) bool
        """The same of several sets."""
        keys = keys_of(child, parents)
        new = torch.tensor([key not in self._known for key in keys])
        if bool(new.any()):
            self.fit(child[new], parents[new])
        return [self._known[key].parameters for key in keys]

    def _rough_parameters(self, child: Tensor, parents: Tensor) -> list[Tensor]:  # (b,), (b, n)
        """The same; of sets that are not known by the rows of a screening alone."""
        keys = keys_of(child, parents)
        found = {key: self._known[key].parameters for key in keys if key in self._known}
        new = torch.tensor([key not in found for key in keys])
        for rows in self._chunks(parents, new):
            families, _, point, hessian = self._start(child[rows], parents[rows])
            points = self._ascend(self._screen, families, point, hessian * self._scale).point
            found.update(zip([keys[row] for row in rows.tolist()], families.own(points)))
        return [found[key] for key in keys]

    def fit(
        self,
        child: Tensor,  # (b,)
        parents: Tensor,  # (b, n) bool, none empty
        target: Tensor | None = None,  # (b,)
        rough_target: Tensor | None = None,  # (b,)
    ) -> GPFit:
        """Evidence and residuals; given up as soon as it is clear that a target is not reached.

        Arguments:
            rough_target: For the value on the rows of the screening.
        """
        nothing = torch.full((len(child),), -math.inf, dtype=torch.float64)
        goal = nothing if target is None else target
        rough_goal = nothing if rough_target is None else rough_target
        found = GPFit.empty(len(child), self.n_rows, self.device)
        keys = keys_of(child, parents)
        for k, key in enumerate(keys):
            if key in self._known:
                old = self._known[key]
                found.value[k], found.rough[k], found.final[k] = old.value, old.rough, True
                found.residual[k] = old.residual
        for rows in self._chunks(parents, ~found.final):
            part, own = self._optimise(child[rows], parents[rows], goal[rows], rough_goal[rows])
            found.put(rows, part)
            for k, row in enumerate(rows.tolist()):
                if part.final[k]:
                    value, rough = float(part.value[k]), float(part.rough[k])
                    self._known[keys[row]] = Known(value, rough, own[k], part.residual[k].float())
        return found

    def _chunks(self, parents: Tensor, some: Tensor) -> Iterator[Tensor]:  # (b, n), (b,) bool
        """Which of some sets are looked at together, those of like size, while there is time."""
        rows = some.nonzero()[:, 0]
        for chunk in rows[parents[rows].sum(-1).argsort(stable=True)].split(self._chunk):
            if len(chunk):
                self.deadline.check()
                yield chunk

    def _optimise(
        self, child: Tensor, parents: Tensor, goal: Tensor, rough_goal: Tensor
    ) -> tuple[GPFit, list[Tensor]]:  # (b,), (b, n) bool, (b,), (b,)
        families, known, point, hessian = self._start(child, parents)
        found = GPFit.empty(len(child), self.n_rows, self.device)
        open_ = torch.arange(len(child))
        if self.screen_rows < self.n_rows:
            rough = self._ascend(self._screen, families, point, hessian * self._scale)
            point, hessian = rough.point, rough.inverse_hessian / self._scale
            found.rough.copy_(rough.value)
            hoped, doubt = promised(rough.value, known, self._scale)
            hopeful = rough.value >= rough_goal
            short = hopeful & (hoped + doubt < goal)
            found.value[short] = hoped[short]
            open_ = (hopeful & ~short).nonzero()[:, 0]
        if len(open_):
            some = families.take(open_)
            fine = self._ascend(self._table, some, point[open_], hessian[open_], goal[open_])
            found.value[open_], point[open_] = fine.value, fine.point
            found.final[open_] = ~fine.given_up
            found.residual[open_] = fine.details
        return found, families.own(point)

    def _ascend(
        self,
        table: Table,
        families: Families,
        start: Tensor,  # (b, w + 2)
        hessian: Tensor,  # (b, w + 2, w + 2)
        target: Tensor | None = None,  # (b,)
    ) -> Ascent:
        rows_used = len(table.x)

        def objective(rows: Tensor, parameters: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            some = families.take(rows)
            y, read = some.children(table), self._inputs.first(rows_used).read(some)
            value, gradient, residual = gp_evidence_and_gradient(
                y, read.x, read.spread(parameters), self.kernel
            )
            value = value + self._log_prior(some, parameters, rows_used)
            gradient = read.gather(gradient, parameters.shape[-1] - 2)
            pull = self.kernel.prior_pull(parameters) * _with_ends(some.mask)
            return value, gradient - pull, residual

        lower, upper = self.kernel.bounds(start.shape[-1] - 2)
        return maximise(
            objective,
            start,
            lower=lower,
            upper=upper,
            inverse_hessian=hessian,
            steps=6 if rows_used < self.n_rows else 8,
            tolerance=0.5,
            trust=_TRUST,
            target=target,
        )

    def _log_prior(self, families: Families, parameters: Tensor, rows: int) -> Tensor:  # (b,)
        """Of kernel parameters, with the volume that ``rows`` rows leave them."""
        return (self.kernel.log_prior(parameters, rows) * _with_ends(families.mask)).sum(-1)

    def _start(
        self, child: Tensor, parents: Tensor
    ) -> tuple[Families, list[tuple[int, Known] | None], Tensor, Tensor]:  # (b,), (b, n) bool
        """The sets, the best known neighbour of each, points (b, w + 2) to begin at, and the
        inverses (b, w + 2, w + 2) of what the curvature may be there."""
        beside = [one_apart(self._known, *key, self.n_nodes) for key in keys_of(child, parents)]
        known = [max(sets, key=lambda one: one[1].value, default=None) for sets in beside]
        families = Families.of(child, parents)
        width = families.mask.shape[1]
        point = torch.stack([self._warm(row, one, width) for row, one in zip(parents, known)])
        hessian = torch.diag(one_each(self.kernel.curvature, width)) / self.n_rows
        return families, known, point, hessian.expand(len(parents), -1, -1)

    def _warm(
        self, parents: Tensor, near: tuple[int, Known] | None, width: int
    ) -> Tensor:  # (n,) bool -> (w + 2,)
        """Start parameters from those of a neighbour."""
        start = self.kernel.start(width)
        if near is None:
            return start
        bits, known = near
        scale = dict(zip(members(bits), known.parameters[:-2].tolist()))
        typical = float(typical_scale(known.parameters))
        wanted = parents.nonzero()[:, 0].tolist()
        start[: len(wanted)] = torch.tensor([scale.get(j, typical) for j in wanted])
        start[-2:] = known.parameters[-2:]
        return start

    @torch.inference_mode()
    def screens(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b, n)
        """For sets that are not empty and were followed to the end."""
        some = max(1, _WORKSPACE // self.n_nodes**2)
        parts = zip(child.split(some), parents.split(some))
        return torch.cat([self._screened(*part) for part in parts])

    def _screened(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b, n)
        found = self._parameters(child, parents)
        trials = neighbours(child, parents, found)
        values = self._tried(child[trials.row], trials)
        base = values[: len(child)]
        change = torch.full(parents.shape, -math.inf, dtype=torch.float64)
        row, node = trials.row[len(child) :], trials.node[len(child) :]
        gain = (values[len(child) :] - base[row]) * self._scale
        change.view(-1).scatter_reduce_(0, row * self.n_nodes + node, gain, "amax")
        return change

    def _tried(self, child: Tensor, trials: Trials) -> Tensor:  # (t,) -> (t,)
        """Values on the rows of the screening, sets of like size together."""
        values = torch.empty(len(child), dtype=torch.float64)
        rows_used = self.screen_rows
        chunk = max(1, 64_000_000 // rows_used**2) if self._table.x.is_cuda else 10
        for rows in trials.sets.sum(-1).argsort(stable=True).split(chunk):
            self.deadline.check()
            part = trials.take(rows)
            families = Families.of(child[rows], part.sets)
            parameters = families.parameters(part.scales, part.ends)
            y, read = families.children(self._screen), self._inputs.first(rows_used).read(families)
            value = gp_evidence(y.unsqueeze(-1), read.x, read.spread(parameters), self.kernel)
            values[rows] = value[:, 0] + self._log_prior(families, parameters, rows_used)
        return values

    def probes(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, n)
        """For sets that are not empty."""
        found = self._parameters(child, parents)
        scales, ends = widest(parents, found)
        typical = torch.stack([typical_scale(one) for one in found])
        value = torch.empty(parents.shape, dtype=torch.float64)
        for key in (typical * 4).round().unique().tolist():
            features = self._features(key / 4)
            for rows in self._chunks(parents, (typical * 4).round() == key):
                families = Families.of(child[rows], parents[rows])
                y, read = families.children(self._table), self._inputs.read(families)
                own = families.parameters(scales[rows], ends[rows])
                value[rows] = additions_score(y, read.x, read.spread(own), features, self.kernel)
        return value

    def pair_probes(self, child: Tensor, parents: Tensor, least: float, like: Tensor) -> ClearPairs:
        residual = self._table.y[:, child.to(self.device)].T.contiguous()
        for rows in self._chunks(parents, parents.any(-1)):
            families = Families.of(child[rows], parents[rows])
            found = self._rough_parameters(child[rows], parents[rows])
            own = families.parameters(*widest(parents[rows], found))
            y, read = families.children(self._table), self._inputs.read(families)
            residual[rows] = gp_residual(y, read.x, read.spread(own), self.kernel)
        if self._shapes is None:
            self._shapes = simple_shapes(self._table.x)
        return ClearPairs.of(residual, self._shapes, least)

    def _features(self, log_scale: float) -> Tensor:  # (N, n, k)
        if log_scale not in self._feature_cache:
            self._feature_cache[log_scale] = column_features(self._table.x / math.exp(log_scale))
        return self._feature_cache[log_scale]


def _with_ends(mask: Tensor) -> Tensor:  # (b, w) bool -> (b, w + 2) float
    return torch.nn.functional.pad(mask.double(), (0, 2), value=1.0)
