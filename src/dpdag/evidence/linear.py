"""Evidence of linear mechanisms with Gaussian noise, equal for Markov equivalent graphs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor

from .base import Evidence
from .categories import Encoding
from .gram import sets_for
from .noise import SCALES

_TINY = 1e-12  # of a variance that is left, beneath which differences are rounding


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
        own = torch.nn.functional.one_hot(child, self.n_nodes).bool()
        together, alone = self._marginal(torch.cat([parents | own, parents])).chunk(2)
        return together - alone

    def toggles(self, child: Tensor, parents: Tensor, which: Tensor) -> Tensor:  # -> (b, n)
        r"""All neighbours of a set from one factor, to which the child comes last.

        With :math:`M = L L^\top` of a set W, one column more multiplies its determinant by
        :math:`M_{jj} - \|L^{-1} M_{Wj}\|^2`, and one less by :math:`(M^{-1})_{jj}`.
        Unlike those of :meth:`log_evidence`, equal values are equal up to rounding only.
        """
        value = torch.empty(which.shape, dtype=torch.float64)
        device, precision = self._products.device, self._products.diagonal() + self._scale
        for rows, index, there in sets_for(parents, numbers=self.n_nodes, device=device):
            size = there.sum(-1, keepdim=True)
            row, place = there.nonzero(as_tuple=True)
            index = torch.cat([index, child[rows, None].to(device)], 1)
            there = torch.nn.functional.pad(there, (0, 1), value=True)
            factor = self._factor(index, there, self._scale)
            log_det = 2 * factor.diagonal(dim1=-2, dim2=-1).log()
            alone, last = log_det[:, :-1].sum(1, keepdim=True), log_det[:, -1:]
            moments = self._products[index] * there.unsqueeze(-1)
            half = torch.linalg.solve_triangular(factor, moments, upper=False)  # (c, p + 1, n)
            left = (precision - half[:, :-1].square().sum(1)).clamp_min(_TINY)
            more = (1 - half[:, -1].square() / left).clamp_min(_TINY).log()
            changed = self._density(size + 1, alone + left.log(), last + more)
            inverse = torch.cholesky_inverse(factor)
            own, rest = inverse.diagonal(dim1=1, dim2=2)[:, :-1], inverse[:, :-1, -1].square()
            less = (1 - rest / (own * inverse[:, -1:, -1])).clamp_min(_TINY).log()
            fewer = self._density((size - 1).clamp_min(0), alone + own.log() + less, last - less)
            changed[row, index[row, place]] = fewer[row, place]
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

    def _density(self, size: Tensor, alone: Tensor, last: Tensor) -> Tensor:
        """log p(x_v | x_S) by the logarithms of |M_S| and of |M_Sv| / |M_S|."""
        constant = self._constants(int(size.max()) + 1).diff().to(size.device)[size]
        return constant - (self.n_rows + size + 3) / 2 * last - alone / 2

    def _marginal(self, members: Tensor) -> Tensor:  # (b, n) bool -> (b,)
        """log p(x_W) for each set W of columns, prior mean weight 1.

        The same number whichever column of a set is the child, so that equivalent graphs tie.
        """
        value = torch.empty(len(members), dtype=torch.float64)
        for part, index, there in sets_for(members, numbers=1, device=self._products.device):
            factor = self._factor(index, there, self._scale)
            value[part] = 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1).cpu()
        size = members.sum(-1)
        constant = self._constants(int(size.max()))[size]
        return constant - (self.n_rows + size + 2) / 2 * value

    def _constants(self, most: int) -> Tensor:  # -> (most + 1,)
        ratios = [self._ratio(k, self._scale) for k in range(most + 1)]
        return torch.tensor(ratios, dtype=torch.float64)

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


class CategoryLines(Evidence):
    r"""Evidence of lines of which some variables are several columns.

    .. math:: p(x_v \mid x_S) = p(x_v \mid \{\phi_k : o_k \in S\})

    Arguments:
        x: (N, n) standardised columns.
        categories: Places of categories, which are causes only.

    Example:
        >>> site = torch.arange(90).double() % 3
        >>> level = torch.tensor([0.0, 5.0, 1.0])[site.long()] + (7 * site + torch.arange(90)).sin()
        >>> x = torch.stack([site, level], -1)
        >>> evidence = CategoryLines((x - x.mean(0)) / x.std(0), [0])
        >>> without, given = evidence.log_evidence(
        ...     torch.tensor([1, 1]), torch.tensor([[False, False], [True, False]]))
        >>> bool(given > without + 50)
        True
    """

    def __init__(
        self, x: Tensor, categories: Sequence[int], *, device: torch.device | str = "cpu"
    ) -> None:
        self.n_nodes, encoding = x.shape[1], Encoding.of(x, categories)
        self._owner = encoding.owner(self.n_nodes)
        self._place = torch.searchsorted(self._owner, torch.arange(self.n_nodes))
        self._evidence = LinearEvidence(encoding(x), device=device)

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        return self._evidence.log_evidence(self._place[child], parents[:, self._owner])

    def residuals(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, N)
        return self._evidence.residuals(self._place[child], parents[:, self._owner])


@cache
def _log_gammas(a: float, size: int) -> float:
    """Logarithm of the multivariate gamma function, without its power of π."""
    return sum(math.lgamma(a - k / 2) for k in range(size))
