"""Evidence of additive models: one smooth function per parent, integrated out in closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from .base import Evidence
from .categories import Encoding, FunctionBasis
from .gram import equal_sets, gram, sets_for
from .noise import log_gaussian
from .splines import fit_splines
from .unshared import Unshared

SMOOTHNESS = tuple((a, s) for a in (1.0, 30.0) for s in (1e-3, 3e-2, 1.0))
_MANY = 300  # columns beyond which not all extensions of a set are worth a CPU's time
_HOPELESS = 3.0  # nats lost by a bound that is off by less, where little is shared
_SHARED = 0.02  # squared correlation with features of the parents; chance makes half of it
RESIDUAL_FLOOR = 1e-6  # of a child's variance: beneath it a fit is an identity, not a mechanism


class _Fit(NamedTuple):
    """A batch of penalised fits, one per grid point g and set b."""

    factor: Tensor  # (g, b, pk, pk) Cholesky factor of the penalised normal equations
    solved: Tensor  # (g, b, pk) its inverse times the right side
    residual: Tensor  # (g, b) penalised residual sum of squares
    log_det: Tensor  # (g, b) of the marginal covariance, in units of the noise

    def coefficients(self) -> Tensor:  # (g, b, pk)
        right = self.solved.unsqueeze(-1)
        return torch.linalg.solve_triangular(self.factor.mT, right, upper=True)[..., 0]


class AdditiveEvidence(Evidence):
    r"""Evidence of a sum of functions, one per parent, their smoothness from the data.

    .. math:: x_v = \sum_{j \in S} \sum_k \beta_{jk} u_{jk}(x_j) + \epsilon, \quad
              \beta_{jk} \sim N(0, \sigma^2 / \lambda_{jk}), \quad \epsilon \sim N(0, \sigma^2)

    with :math:`u_{jk}` the spline functions of :func:`~dpdag.evidence.splines.fit_splines`; of a
    category any function, the effects of all its values having one prior. With Φ their values and
    :math:`G = \Phi^\top \Phi`, Gram matrices are all that is needed:

    .. math:: M = I + \Phi \Lambda^{-1} \Phi^\top, \qquad
              x_v^\top M^{-1} x_v = t - c^\top (G_S + \Lambda)^{-1} c, \qquad
              |M| = |G_S + \Lambda| / |\Lambda|

    with the noise variance integrated out by :func:`~dpdag.evidence.noise.log_gaussian`, and
    averaged over a grid of :math:`\Lambda`. All one-parent extensions of a set share its factor:
    each is one k × k Schur complement.

    Arguments:
        x: (rows, n) standardised columns.
        y: (rows, n) the same as effects, where that differs.
        n_functions: Spline functions per number.
        categories: Places of categories, which are causes only.
        device: Where to compute.

    Attributes:
        basis: The functions u of all variables; the size of noise may follow its splines.
        moments: Gram matrix of the functions.
        precision: (g, n, k) the grid of :math:`\Lambda`.

    References:
        Bühlmann, Peters & Ernest, *CAM: causal additive models*, 2014.

    Example:
        >>> from torch import tensor
        >>> x = torch.linspace(-2, 2, 200, dtype=torch.float64)
        >>> noise = (37.0 * x).sin()
        >>> data = torch.stack([x, x.square() + 0.3 * noise, noise], dim=1)
        >>> evidence = AdditiveEvidence((data - data.mean(0)) / data.std(0))
        >>> sets = tensor([[False, False, False], [True, False, False]])
        >>> without, given = evidence.log_evidence(tensor([1, 1]), sets)
        >>> bool(given > without + 50)
        True
    """

    def __init__(
        self,
        x: Tensor,
        *,
        y: Tensor | None = None,
        n_functions: int = 8,
        categories: Sequence[int] = (),
        device: torch.device | str | None = None,
    ) -> None:
        if n_functions < 1:
            raise ValueError(f"'n_functions' must be at least 1; got {n_functions}.")
        self.n_nodes, there = x.shape[1], x.to(device)
        splines = fit_splines(there, n_functions=n_functions)
        self.basis = FunctionBasis(splines.to("cpu"), Encoding.of(x, categories).categories)
        self._smooth, self._target = splines(there), (x if y is None else y).to(device)
        self._features = self.basis.with_categories(self._smooth, x)
        self.moments = gram(self._features, self._target)
        self.precision = self.basis.precision(SMOOTHNESS).to(device)

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b,)
        return self._average(self._grid(child, parents))

    def best(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b, n, k)
        """The precisions under which each child's evidence is highest."""
        return self.precision[self._grid(child, parents).argmax(0).to(self.precision.device)]

    def toggles(self, child: Tensor, parents: Tensor, which: Tensor) -> Tensor:  # -> (b, n)
        grid, n, k = self.precision.shape
        device = self.precision.device
        value = torch.full(which.shape, torch.nan, dtype=self.precision.dtype)
        for rows, index in equal_sets(parents, numbers=grid * n * k * k):
            own, index = child[rows].to(device), index.to(device)
            fit = self._fit(own, index)
            for asked, neighbours in (
                (which[rows] & ~parents[rows], self._additions),
                (which[rows] & parents[rows], self._reductions),
            ):
                if bool(asked.any()):
                    changed = neighbours(fit, own, index).cpu()
                    value[rows] = torch.where(asked, changed, value[rows])
        return value

    def features(self, parents: Tensor, count: int) -> Tensor:  # (b, p) -> (b, p · count, N)
        """All features of several nodes; of fewer the smoothest of their splines, as fitted models
        know them."""
        known = self._features if count == self.basis.size else self._smooth
        return known[:, parents, :count].permute(1, 2, 3, 0).flatten(1, 2)

    def residuals(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b, N)
        rows, k, device = len(self._target), self.basis.size, self._target.device
        value = self._target.new_empty(len(child), rows)
        for part, index, there in sets_for(parents, numbers=k**2 + 2 * k * rows, device=device):
            own = child[part].to(device)
            fit = self._fit(own, index, there)
            at = self._value(fit.residual, fit.log_det).argmax(0)
            every = torch.arange(len(part), device=device)
            features = self.features(index, k) * there.repeat_interleave(k, -1).unsqueeze(-1)
            half = _solve(fit.factor[at, every], features)  # (c, pk, N)
            explained = (fit.solved[at, every].unsqueeze(1) @ half)[:, 0]
            left = 1 - half.square().sum(1) - 1 / rows
            missed = self._target[:, own].T - explained
            value[part.to(device)] = missed / left.clamp_min(1e-3).sqrt()
        return value

    def _grid(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (g, b)
        grid, _, k = self.precision.shape
        device = self.precision.device
        value = torch.empty(grid, len(child), dtype=self.precision.dtype)
        for rows, index, there in sets_for(parents, numbers=grid * k * k, device=device):
            fit = self._fit(child[rows].to(device), index, there)
            value[:, rows] = self._value(fit.residual, fit.log_det).cpu()
        return value

    def _fit(self, child: Tensor, index: Tensor, there: Tensor | None = None) -> _Fit:
        """Of children (b,) on parents (b, p), of which some may not be ``there`` (b, p) bool."""
        matrix, right = self.moments.normal_equations(child, index)
        precision = self.precision[:, index]
        if there is not None:
            some = there.repeat_interleave(self.precision.shape[-1], -1)
            matrix = matrix * (some.unsqueeze(-1) & some.unsqueeze(-2))
            right, precision = right * some, torch.where(there.unsqueeze(-1), precision, 1.0)
        precision = precision.flatten(2)
        factor = torch.linalg.cholesky_ex(matrix + torch.diag_embed(precision)).L
        solved = _solve(factor, right.expand(len(precision), -1, -1).unsqueeze(-1))[..., 0]
        log_det = _log_det(factor) - precision.log().sum(-1)
        return _Fit(factor, solved, self.moments.n_rows - solved.square().sum(-1), log_det)

    def _additions(self, fit: _Fit, child: Tensor, index: Tensor) -> Tensor:  # -> (b, n)
        """With each single node added; meaningless where it is a parent or the child.

        Of many columns most have nothing to do with a child; those that by a bound bring nothing
        and share next to nothing with the parents keep the bound.
        """
        if self.n_nodes <= _MANY or self.precision.is_cuda:
            return self._average(self._extensions(fit, child, index, slice(None)))
        coefficient = fit.coefficients()
        explained = self._unshared.explained(coefficient, child, index)
        log_det = fit.log_det.unsqueeze(-1) + self._unshared.log_det.unsqueeze(1)
        value = self._average(self._value(fit.residual.unsqueeze(-1) - explained, log_det))
        if not index.shape[1]:
            return value
        now = self._average(self._value(fit.residual, fit.log_det)).unsqueeze(-1)
        open_ = (value > now - _HOPELESS) | (self._unshared.share[index].sum(1) > _SHARED)
        for row, own in enumerate(open_):
            nodes, one = own.nonzero()[:, 0], slice(row, row + 1)
            alone = _Fit(*(part[:, one] for part in fit))
            exact = self._average(self._extensions(alone, child[one], index[one], nodes))
            value[row, nodes] = exact[0]
        return value

    @cached_property
    def _unshared(self) -> Unshared:
        return Unshared(self.moments, self.precision)

    def _extensions(
        self, fit: _Fit, child: Tensor, index: Tensor, nodes: Tensor | slice
    ) -> Tensor:  # (b,), (b, p), (m,) -> (g, b, m)
        """With each single one of some nodes added."""
        own = self.moments.features.diagonal(dim1=0, dim2=2).permute(2, 0, 1)[nodes]  # (m, k, k)
        precision = self.precision[:, nodes]
        grid, m, k = precision.shape
        schur = (own + torch.diag_embed(precision)).unsqueeze(1)  # (g, 1, m, k, k)
        right = self.moments.cross[nodes][..., child].movedim(-1, 0).expand(grid, -1, -1, -1)
        if index.shape[1]:
            shared = self.moments.features[index][:, :, :, nodes]
            shared = shared.flatten(3).flatten(1, 2)  # (b, pk, mk)
            half = _solve(fit.factor, shared.expand(grid, -1, -1, -1))  # (g, b, pk, mk)
            right = right - (fit.solved.unsqueeze(-2) @ half).reshape(right.shape)
            half = half.unflatten(-1, (m, k)).movedim(-2, 2)  # (g, b, m, pk, k)
            schur = schur - half.mT @ half
        factor = torch.linalg.cholesky_ex(schur).L
        solved = _solve(factor, right.unsqueeze(-1))[..., 0]
        residual = fit.residual.unsqueeze(-1) - solved.square().sum(-1)
        change = _log_det(factor) - precision.log().sum(-1).unsqueeze(1)
        return self._value(residual, fit.log_det.unsqueeze(-1) + change)

    def _reductions(
        self, fit: _Fit, child: Tensor, index: Tensor
    ) -> Tensor:  # (b,), (b, p) -> (b, n)
        r"""With each single parent dropped; meaningless elsewhere.

        With :math:`H = (G_S + \Lambda)^{-1}` and coefficients :math:`\beta = H c`, dropping j adds
        :math:`\beta_j^\top H_{jj}^{-1} \beta_j` to the residual and :math:`\log |H_{jj}|` to the
        log determinant.
        """
        grid, n, k = self.precision.shape
        p = index.shape[1]
        inverse = torch.cholesky_inverse(fit.factor)
        coefficient = fit.coefficients().reshape(grid, -1, p, k, 1)
        blocks = inverse.reshape(grid, -1, p, k, p, k).diagonal(dim1=2, dim2=4)
        factor = torch.linalg.cholesky_ex(blocks.movedim(-1, 2)).L  # (g, b, p, k, k)
        worth = _solve(factor, coefficient).square().sum((-2, -1))
        prior = self.precision.log().sum(-1)[:, index]
        log_det = fit.log_det.unsqueeze(-1) + _log_det(factor) + prior
        value = self._average(self._value(fit.residual.unsqueeze(-1) + worth, log_det))
        return value.new_zeros(len(child), n).scatter(-1, index, value)

    def _value(self, residual: Tensor, log_det: Tensor) -> Tensor:  # (g, *), (g, *) -> (g, *)
        """Log evidence from the pieces of a fit."""
        rows = self.moments.n_rows
        log_det = log_det + math.log(rows + 1)  # of the mean
        return log_gaussian(residual.clamp_min(RESIDUAL_FLOOR * rows), log_det, rows)

    def _average(self, values: Tensor) -> Tensor:  # (g, *) -> (*)
        return values.logsumexp(0) - math.log(len(values))


def _solve(factor: Tensor, right: Tensor) -> Tensor:
    return torch.linalg.solve_triangular(factor, right, upper=False)


def _log_det(factor: Tensor) -> Tensor:  # (*, m, m) -> (*)
    return 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
