"""Noise of every kind: what residuals are worth once the functions are given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ..ops.constants import constants
from ..ops.shape import shape_gain

NOISES = ("Gaussian", "any shape", "Gaussian of a size that varies", "any shape and size")
_FREE = 3.0  # degrees of freedom of the noise variance a priori
SCALES = tuple(0.5 * 10.0**-k for k in range(7))  # of the noise variance a priori
_STEPS, _SCORING = 30, 3  # to the best size of noise, and those of Fisher scoring
_ENOUGH = 0.1  # nats that a step must change for another one
_PRECISION = 1.0  # a priori, of the coefficients of a size
_LEVEL_SCALE = (1.0,)  # of the noise variance at a level, the variance of all being one
_LEAST = 1e-6  # variance at a level: beneath it there is no noise whose shape could be told


def log_gaussian(
    quadratic: Tensor,  # (*)
    log_det: Tensor,  # (*)
    rows: float,
    scales: Sequence[float] = SCALES,
) -> Tensor:  # (*)
    r"""Log density of a column with Gaussian noise, its variance integrated out.

    .. math:: \log \frac1{|T|} \sum_{t \in T} \int N(y \mid 0, \sigma^2 M)\,
              \mathrm{IG}(\sigma^2 \mid \tfrac32, \tfrac t2)\, d\sigma^2

    with t from a half down to a millionth of that, because nearly exact relations exist too.

    Arguments:
        quadratic: :math:`y^\top M^{-1} y`.
        log_det: :math:`\log |M|`. A mean that is integrated out adds :math:`1 1^\top` to M; where
            all else is centred, that leaves the quadratic form and adds log(N + 1) here.
        scales: T.

    Example:
        >>> y = torch.linspace(-50, 50, 200_001, dtype=torch.float64)
        >>> density = log_gaussian(y.square(), torch.zeros_like(y), 1).exp()  # of one value, M = 1
        >>> round(float(torch.trapezoid(density, y)), 2)
        1.0
    """
    scale = constants(scales, quadratic).reshape(-1, *[1] * quadratic.ndim)
    whole = (rows + _FREE) / 2
    values = _FREE / 2 * scale.log() - whole * (scale + quadratic).log()
    constant = math.lgamma(whole) - math.lgamma(_FREE / 2) - rows / 2 * math.log(math.pi)
    mean = values.logsumexp(0) - math.log(len(scales))
    return mean + constant - 0.5 * log_det


def log_root(y: Tensor) -> Tensor:  # (N, n) -> (n,)
    """Log density of centred columns by themselves with Gaussian noise, their means unknown."""
    quadratic = y.double().square().sum(0).cpu()
    return log_gaussian(quadratic, torch.full_like(quadratic, math.log(len(y) + 1)), len(y))


def expected_precision(quadratic: Tensor, rows: float) -> Tensor:  # (*) -> (*)
    r"""Posterior mean of the noise precision.

    .. math:: E[\sigma^{-2}] = -2\, \frac{\partial \log p(y)}{\partial (y^\top M^{-1} y)}
    """
    scale = constants(SCALES, quadratic).reshape(-1, *[1] * quadratic.ndim)
    values = _FREE / 2 * scale.log() - (rows + _FREE) / 2 * (scale + quadratic).log()
    return (values.softmax(0) * (rows + _FREE) / (scale + quadratic)).sum(0)


def noise_factors(
    residual: Tensor,  # (b, N)
    features: Tensor | None = None,  # (b, m, N)
    levels: Sequence[Levels] = (),
) -> Tensor:  # (b, 2) or (b, 4), in the order of NOISES
    r"""Log of prior times density of residuals, by kind of noise, over the Gaussian density.

    The shape is a kernel density estimate of each residual from all others; the size is
    :math:`e^{g}` with g a combination of ``features``, its volume paid for (Laplace). Without
    features the size is constant. A shape may be one for all rows, or one for every level of a
    discrete cause.

    Arguments:
        residual: What functions leave of a column, on rows left out one by one.
        features: Of the causes, that the size may follow.
        levels: Of discrete causes.
    """
    u = standardised(residual)
    nothing = torch.zeros_like(u[:, 0])
    if features is None:
        return torch.stack([nothing, shape_gain(u)], -1) - math.log(2)
    sizes = noise_sizes(u, features)
    shape, scaled = _shape_gains(torch.stack([u, standardised(sizes.scaled)]), levels)
    kinds = nothing, shape, sizes.gain, sizes.gain + scaled
    return torch.stack(kinds, -1) - math.log(len(kinds))


class Levels(NamedTuple):
    """A discrete cause of some columns.

    Attributes:
        caused: (b,) bool, of which residuals.
        code: (N,) its level in every row.
    """

    caused: Tensor
    code: Tensor


def _shape_gains(u: Tensor, levels: Sequence[Levels]) -> Tensor:  # (s, b, N) -> (s, b)
    """Of one shape for all rows, and of shapes by level of each cause, averaged."""
    gain = shape_gain(u.flatten(0, 1)).unflatten(0, u.shape[:2])
    choices = torch.ones_like(gain)
    for caused, code in (Levels(*(part.to(u.device) for part in own)) for own in levels):
        if bool(caused.any()):
            own = level_gain(u[:, caused].flatten(0, 1), code).unflatten(0, (len(u), -1))
            gain[:, caused] = torch.logaddexp(gain[:, caused], own)
            choices[:, caused] += 1
    return gain - choices.log()


def level_gain(u: Tensor, code: Tensor) -> Tensor:  # (b, N) of variance one, (N,) -> (b)
    r"""Nats by which samples prefer a distribution of its own for every level to one Gaussian.

    .. math:: \sum_l \log \tfrac12 \bigl(1 + e^{\mathrm{gain}(u_l / s_l)}\bigr)
        + \log \int N(u_l \mid 0, \sigma_l^2 I)\, dP(\sigma_l^2) - \log N(u \mid 0, I)

    Whatever x is, and whatever probability follows it, the levels are to x what two distributions
    are to each other. With one shape for all of them a discrete column would nearly always look
    like an effect, because smooth probabilities of it fit causes of any two distributions.

    Example:
        >>> u = torch.randn(1, 1000, generator=torch.Generator().manual_seed(0)).double()
        >>> code = torch.arange(1000) % 2
        >>> bool(level_gain(u, code) < 0)
        True
        >>> bool(level_gain(torch.where(code == 1, u.sign(), u), code) > 100)
        True
    """
    gain = 0.5 * u.shape[-1] * (1 + math.log(2 * math.pi)) + torch.zeros_like(u[:, 0])
    for level in code.unique().tolist():
        own = u[:, code == level]
        count, quadratic = own.shape[-1], own.square().sum(-1)
        gain += log_gaussian(quadratic, torch.zeros_like(gain), count, _LEVEL_SCALE)
        if count > 1:
            shape = shape_gain(own / (quadratic / count).clamp_min(_LEAST).sqrt()[:, None])
            gain += torch.nn.functional.softplus(shape) - math.log(2)
    return gain


class Sizes(NamedTuple):
    """Sizes of noise that follow the causes.

    Attributes:
        weight: (b, m) coefficients of g.
        scaled: (b, N) residuals divided by their size.
        gain: (b,) nats over a constant size.
    """

    weight: Tensor
    scaled: Tensor
    gain: Tensor


class _Fit(NamedTuple):
    """Coefficients of a log size, and what they make of residuals."""

    weight: Tensor  # (b, m)
    relative: Tensor  # (b, N) absolute residuals over what is expected of them
    value: Tensor  # (b,)

    @classmethod
    def of(cls, weight: Tensor, size: Tensor, features: Tensor) -> _Fit:
        """Of absolute residuals (b, N) and features (b, m, N)."""
        log_size = (weight.unsqueeze(1) @ features)[:, 0]
        relative = size * torch.exp(-log_size)
        level = relative.mean(-1, keepdim=True).clamp_min(1e-12)
        value = -size.shape[-1] * level[:, 0].log() - log_size.sum(-1) - _prior(weight)
        return cls(weight, relative / level, value)

    def take(self, rows: Tensor) -> _Fit:
        """Some of them."""
        return _Fit(*(part[rows] for part in self))

    def where(self, better: Tensor, other: _Fit) -> _Fit:  # (b, 1) bool
        """These, or others."""
        weight, relative = (torch.where(better, *both) for both in zip(self[:2], other[:2]))
        return _Fit(weight, relative, self.value.where(better[:, 0], other.value))

    def rise(self, features: Tensor, curvature: Tensor) -> Tensor:  # (b, m, N), (b, m, m)
        """The step (b, m) to where a parabola of that curvature, by its factor, is highest."""
        slope = features @ (self.relative - 1).unsqueeze(-1) - _PRECISION * self.weight[..., None]
        return torch.cholesky_solve(slope, curvature)[..., 0]

    def curvature(self, features: Tensor) -> Tensor:  # (b, m, N) -> (b, m, m)
        """Factor of the negative second derivative."""
        weighted = features * self.relative.unsqueeze(1)
        mean = weighted.sum(-1, keepdim=True)
        return _factor(weighted @ features.mT - mean @ mean.mT / features.shape[-1])


def noise_sizes(residual: Tensor, features: Tensor) -> Sizes:  # (b, N), (b, m, N)
    r"""Let the size of residuals follow features of the causes.

    .. math:: \max_g \sum_r -g_r - |e_r| e^{-g_r} / \bar e - \tfrac\lambda2 \lVert w \rVert^2,
        \qquad g = w^\top \phi

    the level :math:`\bar e` at its best value throughout, by Fisher scoring; where that is not
    enough, as under heavy tails, by Newton's method.
    """
    information, weight = _factor(features @ features.mT), features.new_zeros(features.shape[:2])
    open_ = torch.arange(len(residual), device=residual.device)  # those that still move
    some, size = features, residual.abs()
    now, length = _Fit.of(weight, size, features), features.new_ones(len(features), 1)
    for k in range(_STEPS):
        curvature = information[open_] if k < _SCORING else now.curvature(some)
        tried = _Fit.of(now.weight + length * now.rise(some, curvature), size, some)
        change = tried.value - now.value
        better, moves = (change > 0)[:, None], change.abs() > _ENOUGH
        weight[open_] = torch.where(better, tried.weight, now.weight)
        if not bool(moves.any()):
            break
        length = torch.where(better, 1.0, 0.3 * length)
        now = tried.where(better, now)
        if not bool(moves.all()):
            parts = (open_, some, size, length)
            (open_, some, size, length), now = (part[moves] for part in parts), now.take(moves)
    volume = information.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    volume = volume - 0.5 * features.shape[1] * math.log(_PRECISION)
    log_size = (weight.unsqueeze(1) @ features)[:, 0]
    scaled = residual * torch.exp(-log_size)
    change = residual.var(-1).log() - scaled.var(-1).log() - 2 * log_size.mean(-1)
    gain = 0.5 * residual.shape[-1] * change - volume - _prior(weight)
    return Sizes(weight, scaled, gain)


def _factor(information: Tensor) -> Tensor:  # (b, m, m)
    """Of what rows and the prior say of coefficients."""
    eye = torch.eye(information.shape[-1], dtype=information.dtype, device=information.device)
    return torch.linalg.cholesky_ex(information + _PRECISION * eye).L


def standardised(residual: Tensor) -> Tensor:  # (b, rows)
    """Of mean zero and variance one."""
    centred = residual - residual.mean(-1, keepdim=True)
    return centred / centred.std(-1, correction=0, keepdim=True).clamp_min(1e-12)


def _prior(weight: Tensor) -> Tensor:  # (b, m) -> (b,)
    return 0.5 * _PRECISION * weight.square().sum(-1)
