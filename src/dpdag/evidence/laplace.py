"""Functions and levels of discrete columns integrated out by Laplace's method, batched."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from .likelihoods import Expansion, Likelihood

_STEPS = 25
_NEAR = 0.02  # nats that a Newton step still promises where the search ends


class Mode(NamedTuple):
    """Where a probability times its prior is highest.

    Attributes:
        value: (b, h, g) log of its integral.
        levels: (b, h, g, q).
        weight: (b, h, g, c, m).
    """

    value: Tensor
    levels: Tensor
    weight: Tensor


def laplace(
    likelihood: Likelihood,
    column: Tensor,  # (b,)
    features: Tensor,  # (b, N, m)
    precision: Tensor,  # (b, g, m)
) -> Mode:
    r"""Log probability of columns whose functions are combinations of features.

    .. math:: \log \int p(y \mid t, \Phi w)\, p(t)\, N(w \mid 0, \Lambda^{-1})\, dt\, dw \approx
        \log p(y, \hat t, \hat w) + \tfrac{q + m}2 \log 2\pi - \tfrac12 \log |H|

    with the mode by damped Newton steps, all batches at once, and H the negative curvature there.
    What the last step promised is added, so that few steps are enough.

    Arguments:
        likelihood: Of several columns.
        column: Which of them.
        features: Φ, of the causes.
        precision: Λ, on a grid g.

    Example:
        >>> from dpdag.evidence.likelihoods import Ordered
        >>> x = torch.linspace(-2, 2, 100, dtype=torch.float64)
        >>> coins = Ordered((x > 0.3 * (40 * x).sin()).long()[None], 2)
        >>> one, flat = torch.zeros(1).long(), torch.ones(1, 1, 1).double()
        >>> bool(laplace(coins, one, x[None, :, None], flat).value > coins.log_root() + 20)
        True
    """
    start, c = likelihood.start()[column], likelihood.n_functions
    (batch, q), (_, grid, m) = start.shape, precision.shape
    settings = batch, likelihood.n_shapes, grid
    prior = precision.repeat(1, 1, c)[:, None]  # (b, 1, g, cm), functions one after the other
    point = torch.cat(
        [start[:, None, None].expand(*settings, q), start.new_zeros(*settings, c * m)], -1
    )
    base, best = point, start.new_full(settings, -math.inf)
    found, design = best, _Design(features, likelihood.n_shapes * grid * c * c)
    for _ in range(_STEPS):
        levels, weight = point.split([q, c * m], -1)
        functions = design.functions(weight.unflatten(-1, (c, m)))
        at = likelihood.expand(column, levels, functions)
        value = at.value - 0.5 * (prior * weight.square()).sum(-1)
        better = value > best - 1e-9  # not where it is NaN
        slope = torch.cat([at.level_slope, design.slopes(at.slope) - prior * weight], -1)
        factor, _ = torch.linalg.cholesky_ex(_bend(at, design, prior))
        step = torch.cholesky_solve(slope.unsqueeze(-1), factor)[..., 0]
        promise = 0.5 * (slope * step).sum(-1)
        volume = factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        found = torch.where(better, value + promise - volume, found)
        base = torch.where(better.unsqueeze(-1), point, base)
        best = torch.where(better, value, best)
        if bool((better & (promise < _NEAR)).all()):
            base = base + step
            break
        point = torch.where(better.unsqueeze(-1), base + step, 0.5 * (base + point))
    levels, weight = base.split([q, c * m], -1)
    found = found + 0.5 * q * math.log(2 * math.pi) + 0.5 * prior.log().sum(-1)
    return Mode(found, levels, weight.unflatten(-1, (c, m)))


class _Design:
    """Features that all settings share, and their products where settings are many.

    Arguments:
        features: (b, N, m).
        settings: How many weights each product gets.
    """

    def __init__(self, features: Tensor, settings: int) -> None:
        self.features, m = features, features.shape[-1]
        self.transposed = features.mT.contiguous()
        self.first, self.second = torch.triu_indices(m, m)
        self.products: Tensor | None = None
        if m < 2 * settings:
            self.products = features[..., self.first] * features[..., self.second]  # (b, N, pairs)

    def functions(self, weight: Tensor) -> Tensor:  # (b, h, g, c, m) -> (b, h, g, c, N)
        """Combinations of features."""
        flat = weight.flatten(1, 3) @ self.transposed
        return flat.unflatten(1, weight.shape[1:4])

    def slopes(self, each: Tensor) -> Tensor:  # (b, h, g, *, N) -> (b, h, g, * · m)
        """What slopes by row are in the weights."""
        flat = each.flatten(1, -2) @ self.features
        return flat.unflatten(1, each.shape[1:-1]).flatten(3)

    def squares(self, each: Tensor) -> Tensor:  # (b, h, g, c, c, N) -> (b, h, g, cm, cm)
        """What curvatures by row are in the weights."""
        c, m = each.shape[-2], self.features.shape[-1]
        flat = each.flatten(1, -2)  # (b, s, N)
        if self.products is None:
            weighted = self.transposed.unsqueeze(1) * flat.unsqueeze(2)  # (b, s, m, N)
            blocks = weighted.flatten(1, 2) @ self.features
        else:
            blocks = flat.new_empty(*flat.shape[:2], m, m)
            pairs = flat @ self.products
            blocks[..., self.first, self.second] = pairs
            blocks[..., self.second, self.first] = pairs
        blocks = blocks.reshape(*each.shape[:-1], m, m)
        return blocks.transpose(-3, -2).reshape(*each.shape[:3], c * m, c * m)


def _bend(at: Expansion, design: _Design, prior: Tensor) -> Tensor:  # -> (b, h, g, p, p)
    """Negative curvature in levels and weights together."""
    q = at.level_bend.shape[-1]
    side = design.slopes(at.cross).unflatten(-1, (q, -1))  # (b, h, g, q, cm)
    square = design.squares(at.bend) + torch.diag_embed(prior)
    upper = torch.cat([at.level_bend, side], -1)
    return torch.cat([upper, torch.cat([side.mT, square], -1)], -2)
