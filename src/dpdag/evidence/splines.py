"""Smooth functions of one variable: natural cubic splines, sorted from smooth to rough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

# Knots are at least this far apart, in standard deviations: finer detail is noise.
SPACING = 0.05
_VARIABLES = 8  # evaluated at once by a CPU, so that what is between stays in its cache


@dataclass(frozen=True)
class SplineBasis:
    r"""A Demmler–Reinsch basis per variable: uncorrelated in the data, ordered by roughness.

    .. math:: \tfrac{1}{N}\sum_r u_k(x_r)\,u_l(x_r) = \delta_{kl}, \qquad
              \int u_k''\,u_l'' = d_k\,\delta_{kl}, \qquad \sum_r u_k(x_r) = 0

    so :math:`u_1` is the standardised variable itself, with :math:`d_1 = 0`. A variable with few
    distinct values has fewer functions; the missing ones are zero everywhere and not ``used``.

    Attributes:
        knots: (n, m) strictly increasing, at quantiles of each variable.
        value: (n, m, k) the functions at the knots.
        second: (n, m, k) their second derivatives there.
        centre: (n, k) their means over the data, subtracted.
        roughness: (n, k) :math:`d`, ascending.
        used: (n, k) which functions exist.

    References:
        Demmler & Reinsch, *Oscillation matrices with spline smoothing*, 1975.
        Wood, *Generalized Additive Models*, 2017, section 5.3.1.
    """

    knots: Tensor
    value: Tensor
    second: Tensor
    centre: Tensor
    roughness: Tensor
    used: Tensor

    @property
    def size(self) -> int:
        """Functions per variable."""
        return self.value.shape[-1]

    def to(self, device: torch.device | str) -> SplineBasis:
        """The same on a device."""
        return SplineBasis(**{name: part.to(device) for name, part in vars(self).items()})

    def __call__(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n, k)
        """Values of every variable's functions; linear beyond the outermost knots."""
        return _natural_spline(x, self.knots, self.value, self.second) - self.centre


def fit_splines(x: Tensor, *, n_functions: int, n_knots: int = 20) -> SplineBasis:  # (rows, n)
    r"""The ``n_functions`` smoothest spline functions of every column of ``x``.

    Arguments:
        x: (rows, n) standardised columns.
        n_functions: Functions kept per variable.
        n_knots: Knots of the cubic splines they are taken from.

    Example:
        >>> x = torch.linspace(-1.0, 1.0, 101, dtype=torch.float64)[:, None]
        >>> u = fit_splines(x, n_functions=4)(x)[:, 0]
        >>> (u.T @ u / 101).round(decimals=6).abs().tolist() == torch.eye(4).tolist()
        True
    """
    knots = _knots(x, max(n_knots, n_functions + 1))
    curvature, penalty = _curvature(knots)
    identity = torch.eye(knots.shape[1], dtype=x.dtype, device=x.device).expand_as(curvature)
    cardinal = _natural_spline(x, knots, identity, curvature)
    mean = cardinal.mean(0)
    centred = cardinal - mean
    gram = torch.einsum("rnm,rnl->nml", centred, centred) / len(x)
    weight, roughness, used = _demmler_reinsch(gram, penalty)
    weight, roughness, used = (part[..., :n_functions] for part in (weight, roughness, used))
    centre = torch.einsum("nm,nmk->nk", mean, weight)
    return SplineBasis(knots, weight, curvature @ weight, centre, roughness, used)


def smoothness_grid(
    used: Tensor,  # (n, k) bool
    points: Sequence[tuple[float, float]],
) -> Tensor:  # (g, n, k)
    r"""Prior precisions of spline functions, from wiggly to nearly linear and from large to small.

    .. math:: \lambda_k = a + s\,(k (k - 1))^2, \qquad k = 1, 2, \dots

    for every pair (a, s) of ``points``. The second factor is how fast curvature grows along the
    functions of an evenly spread variable. The functions' own curvature is not used: in a
    heavy-tailed variable it is dominated by the tail and would smooth away everything where the
    data is.
    """
    k = torch.arange(1.0, used.shape[1] + 1, dtype=torch.float64)
    rough = (k * (k - 1)).square()
    grid = torch.stack([a + s * rough for a, s in points])
    return torch.where(used, grid.unsqueeze(1), 1.0)


def _knots(x: Tensor, count: int) -> Tensor:  # (rows, n) -> (n, count)
    """Quantiles of each column, pushed apart where they tie or crowd."""
    levels = torch.linspace(0, len(x) - 1, count, dtype=torch.float64).round().long()
    quantiles = x.sort(0).values[levels].T
    steps = SPACING * torch.arange(count, dtype=x.dtype, device=x.device)
    return (quantiles - steps).cummax(-1).values + steps


def _curvature(knots: Tensor) -> tuple[Tensor, Tensor]:  # (n, m) -> (n, m, m), (n, m, m)
    r"""Second derivatives at the knots of the natural spline through given values, and
    :math:`\int f''^2`, both as matrices acting on those values."""
    h = knots.diff()
    inner = h.shape[1] - 1
    second = torch.diag_embed(1 / h[:, :-1], dim1=1, dim2=2)
    difference = h.new_zeros(*h.shape[:1], inner, inner + 2)
    difference[:, :, :-2] += second
    difference[:, :, 1:-1] -= torch.diag_embed(1 / h[:, :-1] + 1 / h[:, 1:])
    difference[:, :, 2:] += torch.diag_embed(1 / h[:, 1:])
    mass = torch.diag_embed((h[:, :-1] + h[:, 1:]) / 3)
    off = h[:, 1:-1] / 6
    mass[:, :-1, 1:] += torch.diag_embed(off)
    mass[:, 1:, :-1] += torch.diag_embed(off)
    solved = torch.linalg.solve(mass, difference)
    curvature = torch.nn.functional.pad(solved, (0, 0, 1, 1))
    return curvature, difference.mT @ solved


def _natural_spline(
    x: Tensor,  # (rows, n)
    knots: Tensor,  # (n, m)
    value: Tensor,  # (n, m, k)
    second: Tensor,  # (n, m, k)
) -> Tensor:  # (rows, n, k)
    """Cubics through values and second derivatives at the knots; straight lines outside."""
    some = len(knots) if x.is_cuda else _VARIABLES
    parts = zip(*(part.split(some) for part in (x.T, knots, value, second)))
    return torch.cat([_cubics(*part) for part in parts]).transpose(0, 1)


def _cubics(
    x: Tensor,  # (n, rows)
    knots: Tensor,  # (n, m)
    value: Tensor,  # (n, m, k)
    second: Tensor,  # (n, m, k)
) -> Tensor:  # (n, rows, k)
    inside = x.clamp(knots[:, :1], knots[:, -1:]).contiguous()
    left = (torch.searchsorted(knots, inside, right=True) - 1).clamp(0, knots.shape[1] - 2)
    low, high = knots.gather(1, left), knots.gather(1, left + 1)
    h = high - low
    b, a = (inside - low) / h, (high - inside) / h
    own = torch.arange(len(knots), device=x.device)[:, None]
    at = (left + knots.shape[1] * own).flatten()
    ends = [
        part.flatten(0, 1)[at + k].unflatten(0, x.shape) for part in (value, second) for k in (0, 1)
    ]
    weights = [a, b, (a**3 - a) * h**2 / 6, (b**3 - b) * h**2 / 6]
    result = _combined(weights, ends)
    if not torch.equal(inside, x):
        slopes = [-1 / h, 1 / h, (1 - 3 * a**2) * h / 6, (3 * b**2 - 1) * h / 6]
        result += (x - inside).unsqueeze(-1) * _combined(slopes, ends)
    return result


def _combined(weights: list[Tensor], ends: list[Tensor]) -> Tensor:
    """Sum of (n, rows, k) ends, each times its (n, rows) weights."""
    total = weights[0].unsqueeze(-1) * ends[0]
    for weight, end in zip(weights[1:], ends[1:]):
        total += weight.unsqueeze(-1) * end
    return total


def _demmler_reinsch(
    gram: Tensor, penalty: Tensor
) -> tuple[Tensor, Tensor, Tensor]:  # (n, m, m) twice -> (n, m, m), (n, m), (n, m)
    r"""Diagonalise both quadratic forms at once, smooth functions first.

    Solves :math:`Q v = \mu (Q + \Omega) v`, whose right side also fixes the functions where there
    is no data: :math:`d = 1/\mu - 1`. Constants, zero in both forms, are kept out.
    """
    both = gram + penalty + 1.0
    factor = torch.linalg.cholesky(both)
    half = torch.linalg.solve_triangular(factor, gram, upper=False)
    whitened = torch.linalg.solve_triangular(factor, half.mT, upper=False)
    mu, rotation = torch.linalg.eigh((whitened + whitened.mT) / 2)
    mu, rotation = mu.flip(-1), rotation.flip(-1)
    used = mu > 1e-12
    weight = torch.linalg.solve_triangular(factor.mT, rotation, upper=True)
    kept = torch.where(used, mu, 1.0)
    weight = weight * (kept.rsqrt() * used).unsqueeze(1)
    return weight, (1 / kept - 1).clamp_min(0), used
