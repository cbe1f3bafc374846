"""Single columns that are strongly skewed: straighten them, or leave them as they are?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..distributions import Constraints
from ..evidence.additive import AdditiveEvidence
from ..evidence.base import CachedEvidence, Evidence
from ..evidence.free_noise import FreeNoiseEvidence
from ..evidence.free_roots import FreeRoots
from ..evidence.gp import GPEvidence
from ..evidence.screened import ExactScreen
from ..evidence.transforms import STRAIGHT, TRANSFORMS, Transformed, straighten, transform
from ..ops.rows import spaced
from ..ops.shape import shape_gain
from ..search.lazy import lazy_search
from .comparison import EDGE, JOINT_NODES, SEARCH_ROWS, lumpy
from .families import LAZY_NODES, graph_evidence

__all__ = ["Straightened", "skewed", "straightened"]

_SKEWNESS, _KURTOSIS = 2.0, 9.0  # of an exponential distribution
_SKEWED = 0.3  # nats a row that a curve must bring; where functions are smooth, none comes near
_ONE_VALUE = 0.25  # share of the rows above which a column is more of a category
_CURVES = ("logarithm", "reflected logarithm", "signed logarithm")
_ROWS = 1000  # by which columns are compared
_TRIED = 6  # skewed columns up to which every kind is tried on each


class Straightened(NamedTuple):
    """What is done to every column, one of ``STRAIGHT``, and the nats that this brings."""

    kinds: tuple[str, ...]
    gain: float

    def __call__(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        """The columns, straightened and standardised."""
        return straighten(x, self.kinds).z

    def describe(self, names: Sequence[Any]) -> str:
        """Which columns, by name, and how.

        Example:
            >>> Straightened(("identity", "logarithm", "logarithm"), 21.3).describe("abc")
            'logarithm of columns b, c, the rest as they are (21 nats better)'
        """
        parts = []
        for kind in STRAIGHT[1:]:
            which = [str(name) for name, own in zip(names, self.kinds) if own == kind]
            if which:
                noun = "column" if len(which) == 1 else "columns"
                parts.append(f"{kind} of {noun} {', '.join(which)}")
        if "identity" in self.kinds:
            parts.append("the rest as they are")
        return f"{', '.join(parts)} ({self.gain:.0f} nats better)"


def straightened(x: Tensor, constraints: Constraints) -> Straightened | None:  # (rows, n)
    r"""Straighten strongly skewed columns if that explains the data better than all else does.

    .. math:: \sum_{v: \mathrm{pa}(v) \neq \emptyset} \bigl(\log p(z_v \mid z_{\mathrm{pa}(v)})
        + \log |g_v'(x_v)| - \log p(x_v)\bigr) - \log 9 \cdot |A|

    is compared for columns as they are, for all transformed alike, and for the skewed ones
    straightened, each on a graph of its own: by sums of functions, then by Gaussian processes too,
    for what looks skewed may be what causes do together. The density :math:`p(x_v)` of a column
    by itself may have any shape and is the same for all, so that it is no merit to make a cause
    look Gaussian. None, at once, where no column is skewed.
    """
    which = skewed(x)
    if not which.any():
        return None
    rows = spaced(x, _ROWS)
    referee = _Referee(_alone(rows, which), constraints)
    kinds = _best_kinds(rows, which, referee)
    changed = sum(kind != "identity" for kind in kinds)
    if not changed:
        return None
    price = 0.5 * math.log(len(rows)) * changed  # of a parameter per column
    best = referee.explain(straighten(rows, kinds))
    plain, *others = (referee.explain(transform(rows, name)) for name in TRANSFORMS)
    rivals = [plain, max(others, key=lambda other: other.worth)]
    gain = best.worth - max(rival.worth for rival in rivals)
    if gain > price and x.shape[1] <= JOINT_NODES:
        best, *rivals = (referee.explain_jointly(one) for one in (best, *rivals))
        gain = best.worth - max(rival.worth for rival in rivals)
    return Straightened(kinds, gain) if gain > price else None


def skewed(x: Tensor) -> Tensor:  # (rows, n) standardised -> (n,) bool
    """Which columns are obviously skewed or heavy-tailed, and far more Gaussian after a curve.

    Example:
        >>> x = torch.randn(300, 1, generator=torch.Generator().manual_seed(0)).double()
        >>> x = torch.cat([x, x + x**2 / 4, x.exp(), -x.exp(), x**3], 1)
        >>> skewed((x - x.mean(0)) / x.std(0)).tolist()
        [False, False, True, True, True]
    """
    odd = (x.pow(3).mean(0).abs() > _SKEWNESS) | (x.pow(4).mean(0) > _KURTOSIS)
    odd &= ~lumpy(x, _ONE_VALUE)
    if odd.any():
        odd[odd.clone()] = _gains(x[:, odd]).amax(0) > _SKEWED * len(x)
    return odd


def _gains(x: Tensor) -> Tensor:  # (rows, n) -> (curves, n)
    """Nats by which each curve makes each column likelier as a Gaussian one."""
    return torch.stack([straighten(x, [curve] * x.shape[1]).log_jacobian for curve in _CURVES])


class _Explained(NamedTuple):
    """Columns, the graph that explains most of them, and how much that is."""

    columns: Transformed
    graph: Tensor  # (n, n) bool
    worth: float


class _Referee:
    """Compares transformations of the columns.

    Arguments:
        alone: (n,) log-densities of the columns by themselves.
    """

    def __init__(self, alone: Tensor, constraints: Constraints) -> None:
        self.alone, self.constraints = alone, constraints

    def explain(self, columns: Transformed, *, any_noise: bool = True) -> _Explained:
        """By sums of functions, with Gaussian noise or with noise of any shape."""
        alone = self.alone - columns.log_jacobian
        families: list[Evidence] = [FreeRoots(AdditiveEvidence(columns.z), alone)]
        if any_noise and len(alone) <= LAZY_NODES:
            families.append(CachedEvidence(FreeRoots(FreeNoiseEvidence(columns.z), alone)))
        found: list[_Explained] = []
        for family in families:
            graph = lazy_search(
                ExactScreen(family, complete=True),
                edge_penalty=EDGE,
                constraints=self.constraints,
                start=found[-1].graph if found else None,
            ).adjacency
            found.append(self._explained(columns, graph, graph_evidence(family, graph)))
        return max(found, key=lambda one: one.worth)

    def explain_jointly(self, known: _Explained) -> _Explained:
        """By Gaussian processes, on the graph known and on their own, where they explain more."""
        columns = known.columns
        found = [known]
        own = lazy_search(
            GPEvidence(columns.z, rows=SEARCH_ROWS),
            edge_penalty=EDGE,
            constraints=self.constraints,
            start=known.graph,
        ).adjacency
        processes = GPEvidence(columns.z, rows=len(columns.z))
        nothing = graph_evidence(processes, torch.zeros_like(own))
        for graph in (known.graph, own):
            value = graph_evidence(processes, graph) - nothing + _gaussian(columns.z)
            found.append(self._explained(columns, graph, value))
        return max(found, key=lambda one: one.worth)

    def _explained(self, columns: Transformed, graph: Tensor, value: Tensor) -> _Explained:
        gain = value + columns.log_jacobian - self.alone
        return _Explained(columns, graph, float(gain[graph.any(0)].sum()) - EDGE * int(graph.sum()))


def _best_kinds(x: Tensor, which: Tensor, referee: _Referee) -> tuple[str, ...]:  # (rows, n), (n,)
    """Of each skewed column the curve that makes it most Gaussian, or what explains more."""
    kinds = ["identity"] * x.shape[1]
    for column, k in zip(which.nonzero()[:, 0].tolist(), _gains(x[:, which]).argmax(0).tolist()):
        kinds[column] = _CURVES[k]
    if int(which.sum()) > _TRIED:
        return tuple(kinds)
    worth = referee.explain(straighten(x, kinds), any_noise=False).worth
    smooth = ~lumpy(x)
    for column in which.nonzero()[:, 0].tolist():
        for kind in (
            "identity",
            "signed logarithm",
            *(["normal scores"] if smooth[column] else []),
        ):
            other = [*kinds[:column], kind, *kinds[column + 1 :]]
            value = referee.explain(straighten(x, other), any_noise=False).worth
            if value > worth:
                kinds, worth = other, value
    return tuple(kinds)


def _alone(x: Tensor, which: Tensor) -> Tensor:  # (rows, n), (n,) bool -> (n,)
    """Log-densities of columns by themselves, of any shape; skewed ones after the best curve."""
    best = torch.full((x.shape[1],), -math.inf, dtype=torch.float64)
    smooth = ~lumpy(x)
    for kind in STRAIGHT:
        kinds = [kind if bent else "identity" for bent in which]
        z, log_jacobian = straighten(x, kinds)
        shape = shape_gain(z.T.contiguous()).clamp_min(0.0)  # lumps have no density
        best = torch.maximum(best, log_jacobian + torch.where(smooth, shape, 0.0))
    return best + _gaussian(x)


def _gaussian(x: Tensor) -> float:
    """Log-density of a standardised column as a Gaussian one."""
    return -0.5 * len(x) * (1 + math.log(2 * math.pi))
