"""Probabilities of discrete values given latent functions, to second order."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, one_hot, pad

DISPERSIONS = (0.5, 2.0, 8.0, 1e4)  # of negative binomials; the last is Poisson
_LOG_RATE, _SPREAD = 1.0, 2.5  # mean and deviation of the logarithm of a mean count a priori
_POINTS = 401  # of a quadrature


class Expansion(NamedTuple):
    """A log probability with its slopes and its negative curvatures.

    Attributes:
        value: (*,) with the log prior of the levels.
        level_slope: (*, q), and ``level_bend``: (*, q, q), in the levels.
        slope: (*, c, N), and ``bend``: (*, c, c, N), in the functions, of each row by itself.
        cross: (*, q, c, N) between both.
    """

    value: Tensor
    level_slope: Tensor
    level_bend: Tensor
    slope: Tensor
    bend: Tensor
    cross: Tensor


class Likelihood(ABC):
    r"""Columns whose values have a probability given levels and latent functions.

    .. math:: \log p(y \mid t, f) + \log p(t), \qquad f \in R^{c \times N},\; t \in R^q

    Levels t are what a column has without causes: cut points, intercepts. The log probability is
    concave in both. Columns with equally many levels are held side by side.

    Attributes:
        values: (k, N) codes of k columns.
        n_functions: c, how many functions a column has.
        n_shapes: h, values of a further parameter, averaged over.
    """

    values: Tensor
    n_functions: int = 1
    n_shapes: int = 1

    @abstractmethod
    def start(self) -> Tensor:  # -> (k, q)
        """Levels near the best ones without causes."""

    @abstractmethod
    def expand(self, column: Tensor, levels: Tensor, functions: Tensor) -> Expansion:
        """Around given levels and functions.

        Arguments:
            column: (b,) of ``values``.
            levels: (b, h, g, q), g settings of whatever else there is.
            functions: (b, h, g, c, N).
        """

    @abstractmethod
    def log_root(self) -> Tensor:  # -> (k, h)
        """Log probability of every column without causes, levels integrated out exactly."""


class Ordered(Likelihood):
    r"""Values in an order: a logistic variable around f, cut at levels. Two values are logistic.

    .. math:: P(y \le j) = \sigma(t_j - f), \qquad
        P(y) = \sigma(t_y - f)\, \sigma(f - t_{y-1})\, (1 - e^{t_{y-1} - t_y})

    Cut points are such that, without causes, all probabilities of the values are equally likely.

    Arguments:
        values: (k, N) codes from 0 to ``count`` − 1.
        count: Values there are, at least two.

    Reference:
        McCullagh, *Regression models for ordinal data* (1980).

    Example:
        >>> coins = Ordered(torch.tensor([[0, 1, 1], [0, 0, 0]]), 2)
        >>> coins.log_root().exp()  # 1! 2! / 4! and 3! / 4!
        tensor([[0.0833],
                [0.2500]], dtype=torch.float64)
    """

    def __init__(self, values: Tensor, count: int) -> None:
        self.values, self.count = values, count
        self.times = one_hot(values, count).sum(1).double()  # (k, count)

    def start(self) -> Tensor:
        share = (self.times + 1) / (self.times + 1).sum(-1, keepdim=True)
        return share.cumsum(-1)[:, :-1].logit()

    def log_root(self) -> Tensor:
        return _log_dirichlet(self.times)[:, None]

    def expand(self, column: Tensor, levels: Tensor, functions: Tensor) -> Expansion:
        f = functions[..., 0, :]  # (b, h, g, N)
        place = self.values[column][:, None, None].expand(f.shape)
        ends = pad(pad(levels, (1, 0), value=-math.inf), (0, 1), value=math.inf)
        upper, lower = ends.gather(-1, place + 1) - f, ends.gather(-1, place) - f
        above, below = torch.sigmoid(-upper), torch.sigmoid(lower)
        by_upper, by_lower = above * (1 - above), below * (1 - below)
        at_upper, at_lower = (self._cuts(column, shift) for shift in (0, 1))  # (b, 1, q, N)
        height = torch.sigmoid(levels)
        own = logsigmoid(levels) + logsigmoid(-levels)
        value = (logsigmoid(upper) + logsigmoid(-lower)).sum(-1) + own.sum(-1)
        slope = above @ at_upper.mT - below @ at_lower.mT + 1 - 2 * height
        bend = by_upper @ at_upper.mT + by_lower @ at_lower.mT + 2 * height * (1 - height)
        cross = at_upper.unsqueeze(2) * by_upper.unsqueeze(-2)
        cross = cross + at_lower.unsqueeze(2) * by_lower.unsqueeze(-2)  # (b, h, g, q, N)
        inner = self.times[column, 1:-1][:, None, None]  # (b, 1, 1, q - 1)
        gaps = levels.diff()
        pull = inner / torch.expm1(gaps)
        stiff = pull * (1 + pull / inner.clamp_min(1e-300))
        slope = slope + pad(pull, (1, 0)) - pad(pull, (0, 1))
        bend = torch.diag_embed(bend + pad(stiff, (1, 0)) + pad(stiff, (0, 1)))
        bend = bend - torch.diag_embed(stiff, 1) - torch.diag_embed(stiff, -1)
        return Expansion(
            value + (inner * torch.log(-torch.expm1(-gaps))).sum(-1) + math.lgamma(self.count),
            slope,
            bend,
            (below - above).unsqueeze(-2),
            (by_upper + by_lower)[..., None, None, :],
            -cross.unsqueeze(-2),
        )

    def probabilities(self, levels: Tensor, functions: Tensor) -> Tensor:  # (q), (1, N) -> (K, N)
        """Of all values."""
        below = torch.sigmoid(levels[:, None] - functions)
        return pad(below, (0, 0, 0, 1), value=1.0) - pad(below, (0, 0, 1, 0))

    def _cuts(self, column: Tensor, shift: int) -> Tensor:  # (b,) -> (b, 1, q, N)
        """Which rows are next to every cut, below it or above it."""
        cut = torch.arange(self.count - 1)[:, None] + shift
        return (self.values[column][:, None, None] == cut).double()


class Softmax(Likelihood):
    r"""Values without order: log odds that are functions, none of the values being special.

    .. math:: P(y = j) \propto \exp (C (t + f))_j, \qquad C C^\top = \tfrac12 (I - 1 1^\top / K)

    so that the log odds of any two values have the prior of one function.

    Arguments:
        values: (k, N) codes from 0 to ``count`` − 1.
        count: Values there are, K.
    """

    def __init__(self, values: Tensor, count: int) -> None:
        self.values, self.count = values, count
        self.n_functions = count - 1
        self.times = one_hot(values, count).sum(1).double()
        self.contrasts = contrasts(count) / math.sqrt(2)  # (K, K - 1)

    def start(self) -> Tensor:
        return 2 * (self.times + 1).log() @ self.contrasts

    def log_root(self) -> Tensor:
        return _log_dirichlet(self.times)[:, None]

    def expand(self, column: Tensor, levels: Tensor, functions: Tensor) -> Expansion:
        log_p = (self.contrasts @ (levels.unsqueeze(-1) + functions)).log_softmax(-2)
        seen = (
            one_hot(self.values[column], self.count).double().mT[:, None, None]
        )  # (b, 1, 1, K, N)
        p = log_p.exp()
        slope, bend = self.contrasts.T @ (seen - p), self._bend(p)
        log_own = (self.contrasts @ levels.unsqueeze(-1)).log_softmax(-2)  # (b, h, g, K, 1)
        own = log_own.exp()
        ratios = self.contrasts[:-1] - self.contrasts[-1]
        value = (seen * log_p).sum((-2, -1)) + log_own.sum((-2, -1))
        return Expansion(
            value + math.lgamma(self.count) + float(torch.linalg.slogdet(ratios)[1]),
            slope.sum(-1) + (self.contrasts.T @ (1 - self.count * own))[..., 0],
            bend.sum(-1) + self.count * self._bend(own)[..., 0],
            slope,
            bend,
            bend,
        )

    def probabilities(self, levels: Tensor, functions: Tensor) -> Tensor:  # (q), (q, N) -> (K, N)
        """Of all values."""
        return (self.contrasts @ (levels[:, None] + functions)).softmax(0)

    def _bend(self, p: Tensor) -> Tensor:  # (*, K, N) -> (*, K - 1, K - 1, N)
        c = self.n_functions
        products = self.contrasts.unsqueeze(-1) * self.contrasts.unsqueeze(-2)  # (K, c, c)
        mean = self.contrasts.T @ p
        square = (products.flatten(1).T @ p).unflatten(-2, (c, c))
        return square - mean.unsqueeze(-2) * mean.unsqueeze(-3)


class NegativeBinomial(Likelihood):
    r"""Counts whose mean is the exponential of a function, Poisson or more dispersed.

    .. math:: P(y) = \binom{y + r - 1}{y} s^y (1 - s)^r, \qquad s = \sigma(t + f - \log r)

    for several r; the variance is :math:`\mu + \mu^2 / r`. A priori :math:`t \sim N(1, 2.5^2)`.

    Arguments:
        values: (k, N) counts.
    """

    n_shapes = len(DISPERSIONS)

    def __init__(self, values: Tensor) -> None:
        self.values = values
        self.r = torch.tensor(DISPERSIONS, dtype=torch.float64)[:, None, None]  # (h, 1, 1)
        y, r = values.double()[:, None], self.r[..., 0]
        constant = torch.lgamma(y + r) - torch.lgamma(r) - torch.lgamma(y + 1)
        self.constant = constant.sum(-1).unsqueeze(-1)  # (k, h, 1)

    def start(self) -> Tensor:
        return (self.values.double().mean(-1, keepdim=True) + 0.1).log()

    def log_root(self) -> Tensor:
        spread = 10 / len(self.values.T) ** 0.5 + 2 * (self.start()[:, 0].exp() + 0.1).rsqrt()
        at = torch.linspace(-1, 1, _POINTS, dtype=torch.float64)
        levels = self.start() + spread[:, None] * at  # (k, points)
        levels = levels[:, None, :, None].expand(-1, self.n_shapes, -1, -1)
        none = levels.new_zeros(*levels.shape[:-1], 1, self.values.shape[1])
        value = self.expand(torch.arange(len(self.values)), levels, none).value
        return value.logsumexp(-1) + (spread * (at[1] - at[0])).log()[:, None]

    def expand(self, column: Tensor, levels: Tensor, functions: Tensor) -> Expansion:
        y = self.values[column].double()[:, None, None]
        log_odds = levels + functions[..., 0, :] - self.r.log()
        s = torch.sigmoid(log_odds)
        each = y * log_odds + (y + self.r) * logsigmoid(-log_odds)
        far = (levels - _LOG_RATE) / _SPREAD
        prior = -0.5 * far.square() - math.log(_SPREAD) - 0.5 * math.log(2 * math.pi)
        slope = y - (y + self.r) * s
        bend = (y - slope) * (1 - s)
        return Expansion(
            each.sum(-1) + self.constant[column] + prior[..., 0],
            slope.sum(-1, keepdim=True) - far / _SPREAD,
            (bend.sum(-1) + _SPREAD**-2)[..., None, None],
            slope.unsqueeze(-2),
            bend[..., None, None, :],
            bend[..., None, None, :],
        )


def _log_dirichlet(times: Tensor) -> Tensor:  # (*, K) -> (*)
    """Log probability of a sequence, all probabilities of its values being equally likely."""
    count = times.shape[-1]
    total = torch.lgamma(times + 1).sum(-1) - torch.lgamma(times.sum(-1) + count)
    return total + math.lgamma(count)


def contrasts(count: int) -> Tensor:  # -> (K, K - 1)
    """Orthonormal columns that sum to zero."""
    centred = torch.eye(count, dtype=torch.float64) - 1 / count
    return torch.linalg.eigh(centred).eigenvectors[:, 1:]
