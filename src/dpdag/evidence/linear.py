"""Evidence of linear mechanisms with Gaussian noise, equal for Markov equivalent graphs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor

from .base import Evidence
from .gram import sets_for
from .noise import SCALES

__all__ = ["LinearEvidence"]

_TINY = 1e-12  # of a variance that is left, beneath which differences are rounding


class _Fit(NamedTuple):
    """Regressions of columns on sets of others, by the posterior precisions M of both together.

    Attributes:
        index: (c, p + 1) the set and, last, the child.
        there: (c, p + 1) bool, which places hold a column.
        size: (c,) of the set.
        factor: (c, p + 1, p + 1) Cholesky factor of M.
        alone: (c,) logarithm of the set's own determinant.
        last: (c,) of what the child multiplies it by.
    """

    index: Tensor
    there: Tensor
    size: Tensor
    factor: Tensor
    alone: Tensor
    last: Tensor


class LinearEvidence(Evidence):
    r"""The BGe score: all covariances integrated out under Wishart priors.

    .. math:: \log p(x_v \mid x_S) = \log p(x_{S \cup v}) - \log p(x_S), \qquad
        p(x_W) = \int N(x_W \mid \mu, \Sigma)\, d P_t(\mu, \Sigma)

    Graphs that imply the same conditional independences get the same total, so directions that
    linear Gaussian data cannot show are left open. Prior precisions are Wishart with n + 2 degrees
    of freedom and scale t, one for all columns: of a half, a tenth of it … down to a millionth the
    one that makes all of them together likeliest, because nearly exact relations need a small one.

    Arguments:
        x: (N, n) standardised columns.
        told_by: How many of them, the first ones, tell t; all by default.
        device: Where to compute.

    Reference:
        Kuipers, Moffa and Heckerman, *Addendum on the scoring of Gaussian directed acyclic
        graphical models* (2014).

    Example:
        >>> x = torch.randn(100, 2, generator=torch.Generator().manual_seed(0)).double()
        >>> x[:, 1] += 2 * x[:, 0]
        >>> evidence = LinearEvidence((x - x.mean(0)) / x.std(0))
        >>> forward, backward = (
        ...     evidence.log_evidence(torch.arange(2), parents.bool()).sum()
        ...     for parents in torch.tensor([[[0, 0], [1, 0]], [[0, 1], [0, 0]]]))
        >>> bool((forward - backward).abs() < 1e-9)
        True
    """

    def __init__(
        self, x: Tensor, *, told_by: int | None = None, device: torch.device | str = "cpu"
    ) -> None:
        self.n_rows, self.n_nodes = x.shape
        self._x = x.to(device, torch.float64)
        self._products = self._x.T @ self._x
        self._scale = self._likeliest_scale(self._products[:told_by, :told_by].cpu())

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        value = torch.empty(len(child), dtype=torch.float64)
        for rows, fit in self._fits(child, parents, numbers=1):
            value[rows] = self._density(fit.size, fit.alone, fit.last).cpu()
        return value

    def toggles(self, child: Tensor, parents: Tensor, which: Tensor) -> Tensor:  # -> (b, n)
        r"""All neighbours of a set from one factor.

        With :math:`M = L L^\top` of a set W, one column more multiplies its determinant by
        :math:`M_{jj} - \|L^{-1} M_{Wj}\|^2`, and one less by :math:`(M^{-1})_{jj}`.
        """
        value = torch.empty(which.shape, dtype=torch.float64)
        precision = self._products.diagonal() + self._scale
        for rows, fit in self._fits(child, parents, numbers=self.n_nodes):
            size, alone, last = (part.unsqueeze(-1) for part in (fit.size, fit.alone, fit.last))
            moments = self._products[fit.index] * fit.there.unsqueeze(-1)
            half = torch.linalg.solve_triangular(fit.factor, moments, upper=False)  # (c, p + 1, n)
            left = (precision - half[:, :-1].square().sum(1)).clamp_min(_TINY)
            more = (1 - half[:, -1].square() / left).clamp_min(_TINY).log()
            changed = self._density(size + 1, alone + left.log(), last + more)
            inverse = torch.cholesky_inverse(fit.factor)
            both, own = inverse.diagonal(dim1=1, dim2=2), inverse[:, :-1, -1:]
            each = both[:, :-1].log()
            shares = (1 - own[..., 0].square() / (both[:, :-1] * both[:, -1:])).clamp_min(_TINY)
            without = alone + each + shares.log(), last - shares.log()
            fewer = self._density((size - 1).clamp_min(0), *without)
            row, place = fit.there[:, :-1].nonzero(as_tuple=True)
            changed[row, fit.index[row, place]] = fewer[row, place]
            value[rows] = changed.cpu()
        return value.masked_fill(~which, torch.nan)

    def residuals(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, N)
        value, device = self._x.new_empty(len(child), self.n_rows), self._x.device
        for rows, index, there in sets_for(parents, numbers=8 * self.n_rows, device=device):
            own = child[rows].to(device)
            x = self._x[:, index].movedim(0, 1) * there.unsqueeze(1)  # (c, N, p)
            factor = self._factor(index, there, self._scale)
            half = torch.linalg.solve_triangular(factor, x.mT, upper=False)  # (c, p, N)
            y = self._x[:, own].T
            missed = y - ((half @ y.unsqueeze(-1)).mT @ half)[:, 0]
            left = 1 - half.square().sum(1) - 1 / self.n_rows
            value[rows] = missed / left.clamp_min(1e-3).sqrt()
        return value

    def _likeliest_scale(self, products: Tensor) -> float:  # (n, n)
        """By the evidence of columns together."""
        n, size = len(products), torch.linalg.eigvalsh(products).clamp_min(0)

        def evidence(scale: float) -> float:
            log_det = float((size + scale).log().sum())
            return self._ratio(n, scale) - (self.n_rows + n + 2) / 2 * log_det

        return max(SCALES, key=evidence)

    def _fits(
        self, child: Tensor, parents: Tensor, *, numbers: int
    ) -> Iterator[tuple[Tensor, _Fit]]:  # (b,), (b, n) bool
        """Rows, and their children's regressions on their parents."""
        device = self._products.device
        for rows, index, there in sets_for(parents, numbers=numbers, device=device):
            index = torch.cat([index, child[rows, None].to(device)], 1)
            size, there = there.sum(-1), torch.nn.functional.pad(there, (0, 1), value=True)
            factor = self._factor(index, there, self._scale)
            log_det = 2 * factor.diagonal(dim1=-2, dim2=-1).log()
            yield rows, _Fit(index, there, size, factor, log_det[:, :-1].sum(1), log_det[:, -1])

    def _density(self, size: Tensor, alone: Tensor, last: Tensor) -> Tensor:
        """log p(x_v | x_S) by the logarithms of |M_S| and of |M_Sv| / |M_S|."""
        most = int(size.max()) + 1 if size.numel() else 1
        ratios = [self._ratio(k, self._scale) for k in range(most + 1)]
        constant = torch.tensor(ratios, dtype=torch.float64).diff().to(size.device)[size]
        return constant - (self.n_rows + size + 3) / 2 * last - alone / 2

    def _factor(self, index: Tensor, there: Tensor, scale: float) -> Tensor:  # (c, p) twice
        """Of posterior precisions of columns; one for those that are not there."""
        matrix = self._products[index[:, :, None], index[:, None]]
        matrix = matrix * (there.unsqueeze(-1) & there.unsqueeze(-2))
        own = torch.where(there, scale, 1.0).to(matrix)
        return torch.linalg.cholesky_ex(matrix + torch.diag_embed(own)).L

    def _ratio(self, size: int, scale: float) -> float:
        """What does not depend on the data but on how many columns there are."""
        rows, free = self.n_rows, size + 2  # degrees of freedom of the marginal Wishart
        gammas = _log_gammas((rows + free) / 2, size) - _log_gammas(free / 2, size)
        constant = -math.log(rows + 1) - rows * math.log(math.pi) + free * math.log(scale)
        return gammas + size / 2 * constant


@cache
def _log_gammas(a: float, size: int) -> float:
    """Logarithm of the multivariate gamma function, without its power of π."""
    return sum(math.lgamma(a - k / 2) for k in range(size))
