"""Evidence of a child under a Gaussian process over all its parents jointly."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ..ops.memory import require_memory
from ..ops.rows import varied_rows
from ..seeding import torch_generator
from .ascent import Ascent, maximise
from .bge import BGeEvidence
from .budget import TIME_BUDGET, affordable_rows, affordable_sets, set_bytes
from .families import Families, as_bits
from .interactions import interaction_scores, simple_shapes
from .kernels import KERNELS
from .marginal import (
    additions_score,
    column_features,
    gp_evidence,
    gp_evidence_and_gradient,
    gp_residual,
    single_values,
)
from .neighbours import Trials, neighbours
from .screened import ScreenedEvidence
from .transforms import standardise

__all__ = ["GPEvidence"]

_RISE = 25.0  # nats that finishing on all rows may add to parameters found on few
_TRUST = 6.0  # nats promised by a step that need not be checked by another gradient
_WEAK = 0.4  # nats per row that parents bring to a child before it counts as explained
_ON_ONE_CORE = 4  # parent sets evaluated in one batch where a batch brings no speed
_ON_GPU = 64


class GPEvidence(ScreenedEvidence):
    r"""Log marginal likelihood of a child under a joint Gaussian process over its parents.

    .. math:: \max_{\ell, \rho, \tau}\; -\tfrac N2 \log \tfrac1N y^\top M^{-1} y
              - \tfrac12 \log|M| - \tfrac{|S|}{2} \log N, \qquad
              M = K_{\ell, \tau}(x_S) + \rho I

    with one length scale ℓ per parent; the last term is what integrating over them costs
    (Laplace, BIC). It is averaged with the evidence of a linear Gaussian mechanism, so that on
    linear Gaussian data directions that cannot be known are left open. Columns are standardised.
    Kernel parameters start from the best known neighbouring parent set, are found on
    ``screen_rows`` rows and finished on all of them, so that a value depends on earlier calls by
    a fraction of a nat.

    Arguments:
        x: Observations.
        rows: Rows used at most; a seeded random subset is drawn beyond. By default as many as
            ``seconds`` and the free memory allow.
        seconds: What a search may take, roughly, on one CPU core or on the device.
        screen_rows: Rows of the cheap screening; all of them on a GPU, where it costs little.
        kernel: "rbf" for smooth functions, "network" for infinitely wide networks.
        linear: Add the linear alternative, and a linear part to the "rbf" kernel.
        priced: Whether length scales cost something; not where rivals have theirs for nothing.
        device: Where the matrices live.
        dtype: Of the matrices; sums are always float64.
        random_state: Seed of the subsets.
        replicas: The rows of each replica, where there are several; their columns stand side by
            side in one table, so that a batch may hold sets of all of them.

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
        x: Tensor,  # (N, n)
        *,
        rows: int | None = None,
        seconds: float = TIME_BUDGET,
        screen_rows: int | None = None,
        kernel: str = "rbf",
        linear: bool = True,
        priced: bool = True,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        random_state: int = 0,
        replicas: Tensor | None = None,  # (r, rows)
    ) -> None:
        if x.ndim != 2 or not len(x):
            raise ValueError(f"'x' must be a (rows, nodes) array with rows; got {tuple(x.shape)}.")
        on_gpu = torch.device(device).type != "cpu"
        if rows is None:
            rows = affordable_rows(x.shape[1], seconds=seconds, device=device)
        generator = torch_generator(random_state, "gp rows")
        every = torch.arange(len(x))[None] if replicas is None else replicas
        chosen = torch.randperm(every.shape[1], generator=generator)[:rows]
        some = torch.stack([varied_rows(x, own[chosen]) for own in every])  # (r, N)
        table = torch.cat([standardise(x[own].double().cpu())[0] for own in some], dim=1)
        if screen_rows is None:
            screen_rows = rows if on_gpu else 300
        self.n_nodes = x.shape[1]
        self.n_replicas = None if replicas is None else len(replicas)
        self.kernel = KERNELS[kernel]
        self.linear, self.priced = linear, priced
        self.lookahead = 32 if on_gpu else 1
        self._x = table.to(device, dtype)
        self._bge = BGeEvidence(x, replicas=some)
        self._screen_x = self._x[:screen_rows]
        variance = self._x.double().square().mean(0).clamp(min=1e-12).cpu()
        self._empty = -self.n_rows / 2 * variance.log()  # (n,)
        self._chunk = affordable_sets(self.n_rows, _ON_GPU if on_gpu else _ON_ONE_CORE, device)
        require_memory(
            set_bytes(self.n_rows, self._x.element_size()),
            what=f"A Gaussian process on {self.n_rows} rows",
            way_out="lower 'rows'",
            device=str(device),
        )
        # keyed by (child, parent set as bits): value, parameters per member, noise and linear
        self._known: dict[tuple[int, int], tuple[float, Tensor]] = {}
        self._singles: Tensor | None = None
        self._shapes: dict[int, Tensor] = {}
        self._feature_cache: dict[tuple[int, int], Tensor] = {}

    @property
    def n_rows(self) -> int:
        """Rows in use."""
        return len(self._x)

    @property
    def _price(self) -> float:
        return math.log(self.n_rows) / 2 if self.priced else 0.0

    def __len__(self) -> int:
        return len(self._known)

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        return self._evaluate(child, parents, None)

    def reach(self, child: Tensor, parents: Tensor, target: Tensor) -> Tensor:
        return self._evaluate(child, parents, target)

    def kernel_parameters(self, child: int, parents: Tensor) -> Tensor:  # (n,) bool -> (|S| + 2,)
        """Logarithms of length scales in order of nodes, of the noise ratio and of the other."""
        key = (child, as_bits(parents))
        if key not in self._known:
            self.log_evidence(torch.tensor([child]), parents[None])
        return self._known[key][1]

    def _evaluate(self, child: Tensor, parents: Tensor, target: Tensor | None) -> Tensor:
        keys = [(int(v), as_bits(row)) for v, row in zip(child, parents)]
        values: dict[tuple[int, int], float] = {}
        for v, bits in keys:
            if not bits:
                self._known[v, bits] = (float(self._empty[v]), self.kernel.start(0))
        first = {key: k for k, key in enumerate(keys) if key not in self._known}
        order = sorted(first.values(), key=lambda k: int(parents[k].sum()))
        for start in range(0, len(order), self._chunk):
            rows = torch.tensor(order[start : start + self._chunk])
            goal = None if target is None else target[rows]
            found = self._optimise(child[rows], parents[rows], goal)
            for k, (value, parameters, final) in zip(rows.tolist(), found):
                values[keys[k]] = value
                if final:
                    self._known[keys[k]] = (value, parameters)
        result = [self._known[key][0] if key in self._known else values[key] for key in keys]
        return torch.tensor(result, dtype=torch.float64)

    def _optimise(
        self,
        child: Tensor,  # (b,)
        parents: Tensor,  # (b, n) bool
        target: Tensor | None,  # (b,)
    ) -> list[tuple[float, Tensor, bool]]:
        """Value, parameters and whether it was followed to the end, for each set."""
        size = parents.sum(-1)
        width = int(size.max())
        families = Families.of(child, parents)
        point = torch.stack([self._warm(int(v), row, width) for v, row in zip(child, parents)])
        by_scale, *others = self.kernel.curvature
        curvature = torch.tensor([by_scale] * width + others, dtype=torch.float64)
        hessian = (torch.diag(curvature) / self.n_rows).expand(len(child), -1, -1)
        if len(self._screen_x) < self.n_rows:
            scale = self.n_rows / len(self._screen_x)
            rough = self._ascend(
                self._screen_x, families, point, hessian * scale, steps=6, tolerance=0.5
            )
            point, hessian = rough.point, rough.inverse_hessian / scale
        price = self._price * size
        value = torch.full((len(child),), math.inf, dtype=torch.float64)
        if target is not None:
            value = self._values(self._x, families, point) - price
        close = value + _RISE >= (-math.inf if target is None else target)
        rows = close.nonzero()[:, 0]
        if len(rows):
            fine = self._ascend(
                self._x, families.take(rows), point[rows], hessian[rows], steps=8, tolerance=0.5
            )
            value[rows], point[rows] = fine.value - price[rows], fine.point
        if self.linear:
            straight = self._bge.log_evidence(child, parents) + self._empty[child]
            value = torch.logaddexp(value, straight) - math.log(2)
        keep = torch.cat([families.mask, torch.ones(len(child), 2, dtype=torch.bool)], -1)
        return [(float(value[k]), point[k][keep[k]], bool(close[k])) for k in range(len(child))]

    def _ascend(
        self,
        table: Tensor,  # (N, n)
        families: Families,
        start: Tensor,  # (b, w + 2)
        hessian: Tensor,  # (b, w + 2, w + 2)
        *,
        steps: int,
        tolerance: float,
    ) -> Ascent:
        def objective(rows: Tensor, parameters: Tensor) -> tuple[Tensor, Tensor]:
            y, x = families.take(rows).columns(table)
            return gp_evidence_and_gradient(y, x, parameters, self.kernel)

        def value(rows: Tensor, parameters: Tensor) -> Tensor:
            return self._values(table, families.take(rows), parameters)

        lower, upper = self.kernel.bounds(start.shape[-1] - 2)
        if not self.linear and self.kernel.has_line:
            upper[-1] = lower[-1]
        return maximise(
            objective,
            start,
            lower=lower,
            upper=upper,
            inverse_hessian=hessian,
            steps=steps,
            tolerance=tolerance,
            value_only=value,
            trust=_TRUST,
        )

    def _values(self, table: Tensor, families: Families, parameters: Tensor) -> Tensor:  # (b,)
        y, x = families.columns(table)
        return gp_evidence(y.unsqueeze(-1), x, parameters, self.kernel)[:, 0]

    def _warm(self, child: int, parents: Tensor, width: int) -> Tensor:  # (n,) bool -> (w + 2,)
        """Start parameters from the best known set with one parent more or less."""
        start = self.kernel.start(width)
        bits = as_bits(parents)
        near = [bits ^ (1 << j) for j in range(self.n_nodes)]
        known = [other for other in near if other and (child, other) in self._known]
        if not known:
            return start
        other = max(known, key=lambda bits: self._known[child, bits][0])
        parameters = self._known[child, other][1]
        members = [j for j in range(self.n_nodes) if other >> j & 1]
        scale = dict(zip(members, parameters[:-2].tolist()))
        typical = float(parameters[:-2].clamp(max=math.log(4)).mean())
        wanted = parents.nonzero()[:, 0].tolist()
        start[: len(wanted)] = torch.tensor([scale.get(j, typical) for j in wanted])
        start[-2:] = parameters[-2:]
        return start

    def screens(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b, n)
        change = torch.full(parents.shape, -math.inf, dtype=torch.float64)
        bare = ~parents.any(-1)
        if bare.any():
            change[bare] = self._single_gains()[child[bare]]
        rows = (~bare).nonzero()[:, 0]
        if len(rows):
            change[rows] = self._toggled(child[rows], parents[rows])
        return change

    def _toggled(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, n)
        value = self.log_evidence(child, parents)
        found = [self._known[int(v), as_bits(row)][1] for v, row in zip(child, parents)]
        trials = neighbours(child % self.n_nodes, parents, found)
        values = self._tried(child[trials.row], trials)
        base = values[: len(child)]
        change = torch.full(parents.shape, -math.inf, dtype=torch.float64)
        scale = self.n_rows / len(self._screen_x)
        row, node = trials.row[len(child) :], trials.node[len(child) :]
        price = torch.where(parents[row, node], self._price, -self._price)
        gain = (values[len(child) :] - base[row]) * scale + price
        change.view(-1).scatter_reduce_(0, row * self.n_nodes + node, gain, "amax")
        alone = parents & (parents.sum(-1) == 1)[:, None]
        return torch.where(alone, (self._empty[child] - value)[:, None], change)

    def _tried(self, child: Tensor, trials: Trials) -> Tensor:  # (t,) -> (t,)
        """Values on the rows of the screening, sets of like size together."""
        values = torch.empty(len(child), dtype=torch.float64)
        chunk = max(1, 64_000_000 // len(self._screen_x) ** 2) if self._x.is_cuda else 10
        for rows in trials.sets.sum(-1).argsort(stable=True).split(chunk):
            part = trials.take(rows)
            families = Families.of(child[rows], part.sets)
            scales = part.scales.gather(1, families.members % self.n_nodes)
            parameters = torch.cat([scales, part.ends], -1)
            values[rows] = self._values(self._screen_x, families, parameters)
        return values

    def _single_gains(self) -> Tensor:  # -> (r n, n)
        """What each node alone explains of each child."""
        if self._singles is None:
            tables = self._x.split(self.n_nodes, dim=1)
            values = torch.cat([single_values(table, self.kernel).T for table in tables])
            gains = values - self._empty[:, None] - self._price
            own = torch.arange(self.n_nodes).repeat(len(tables))
            gains[torch.arange(len(gains)), own] = -math.inf
            self._singles = gains
        return self._singles

    def probe(self, child: int, parents: Tensor) -> Tensor | None:  # (n,) bool -> (n,)
        if not parents.any():
            return None
        parameters = self.kernel_parameters(child, parents)
        typical = float(parameters[:-2].clamp(max=math.log(4)).mean())
        features = self._features(child // self.n_nodes, typical)
        x = self._given(child, parents)
        return additions_score(self._x[:, child], x, parameters, features, self.kernel)

    def _given(self, child: int, parents: Tensor) -> Tensor:  # (n,) bool -> (N, |S|)
        """The parents' columns, in the child's replica."""
        return self._replica(child // self.n_nodes)[:, parents.to(self._x.device)]

    def _replica(self, r: int) -> Tensor:  # -> (N, n)
        return self._x[:, r * self.n_nodes : (r + 1) * self.n_nodes]

    def pair_probe(self, child: int, parents: Tensor) -> Tensor:  # (n,) bool -> (n, n)
        residual = self._x[:, child]
        if parents.any():
            parameters = self.kernel_parameters(child, parents)
            x = self._given(child, parents)
            residual = gp_residual(residual, x, parameters, self.kernel)
        r = child // self.n_nodes
        if r not in self._shapes:
            self._shapes[r] = simple_shapes(self._replica(r))
        return interaction_scores(residual, self._shapes[r])

    def weakly_explained(self, child: Tensor, values: Tensor) -> Tensor:  # (b,), (b,) -> (b,)
        return values - self._empty[child] < _WEAK * self.n_rows

    def _features(self, r: int, log_scale: float) -> Tensor:  # (N, n, k)
        key = r, round(log_scale * 4)
        if key not in self._feature_cache:
            table = self._replica(r) / math.exp(key[1] / 4)
            self._feature_cache[key] = column_features(table)
        return self._feature_cache[key]
