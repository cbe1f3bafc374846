"""Monotone transformations of columns, with what they change of a density counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ..ops.rows import row_groups
from ..ops.shape import left_out_density
from .monotone import MonotoneColumns

PARAMETERS = {
    "identity": 0,
    "logarithm": 2,
    "reflected logarithm": 2,
    "signed logarithm": 2,
    "logit": 3,
    "normal scores": 2,
}  # which curve, and where it begins and ends
TRANSFORMS = tuple(PARAMETERS)
_SHIFTS = (0.002, 0.005, 0.02, 0.05, 0.15, 0.4)  # shares of the rows nearer the end than the shift


class Transformed(NamedTuple):
    r"""Transformed columns, standardised, and the density they give back to the original ones.

    .. math:: \log p(x) = \log p(z) + \sum_a \log |g'(x_a)|, \qquad z = g(x)

    Attributes:
        z: (N, n) columns of mean 0 and variance 1 over the rows in which they were not set.
        log_jacobian: (n,) sums over these rows of the log-derivative, up to the same constant for
            all transformations: that of standardising x.
    """

    z: Tensor
    log_jacobian: Tensor


def transform(
    x: Tensor,  # (N, n)
    kinds: Sequence[str],
    was_set: Tensor | None = None,  # (N, n) bool
) -> Transformed:
    """Apply to each column a transformation of its own, one of ``TRANSFORMS``.

    "logarithm" is of the distance to just below the least value, "reflected logarithm" of that to
    just above the greatest, how far beyond being what makes it most Gaussian; "logit" is the
    difference of the two, for shares and what saturates at both ends; "signed logarithm"
    compresses both tails beyond the interquartile range; "normal scores" turns ranks into normal
    quantiles, ties kept together, its derivative a leave-one-out density estimate over the normal
    density. All increase. Values that were set from outside shape none of them.

    Example:
        >>> x = torch.randn(200, 2, generator=torch.Generator().manual_seed(0)).double().exp()
        >>> transform(x, ["identity", "logarithm"]).log_jacobian.sign().tolist()
        [0.0, 1.0]
    """
    if was_set is not None and bool(was_set.any()):
        return _transform_seen(x, kinds, was_set)
    standard = standardise(x.double())[0]
    z, log_jacobian = standard.clone(), torch.zeros(x.shape[1], dtype=torch.float64)
    for k, kind in enumerate(kinds):
        if kind not in TRANSFORMS:
            raise ValueError(f"Unknown transformation {kind!r}. Known: {', '.join(TRANSFORMS)}.")
        if kind != "identity":
            z[:, k : k + 1], log_jacobian[k : k + 1] = _CURVES[kind](standard[:, k : k + 1])
    return Transformed(z, log_jacobian)


def _transform_seen(x: Tensor, kinds: Sequence[str], was_set: Tensor) -> Transformed:  # (N, n)
    """By the rows in which each column was not set; set values follow the same curves."""
    z, log_jacobian = torch.empty_like(x), x.new_empty(x.shape[1])
    for columns, rows in row_groups(was_set):
        seen = x[rows][:, columns]
        own = transform(seen, [kinds[k] for k in columns.tolist()])
        z[:, columns] = MonotoneColumns.through(seen, own.z)(x[:, columns])
        z[rows[:, None], columns] = own.z
        log_jacobian[columns] = own.log_jacobian
    return Transformed(z, log_jacobian)


def _logarithm(x: Tensor) -> Transformed:  # (N, 1)
    u = _distances(x - x.min())
    return _likeliest(_scaled(u.log(), -u.log()))


def _reflected_logarithm(x: Tensor) -> Transformed:  # (N, 1)
    mirrored = _logarithm(-x)
    return Transformed(-mirrored.z, mirrored.log_jacobian)


def _logit(x: Tensor) -> Transformed:  # (N, 1)
    above, below = _distances(x - x.min()), _distances(x.max() - x)  # (N, s) each
    u, v = above.repeat(1, len(_SHIFTS)), below.repeat_interleave(len(_SHIFTS), 1)
    return _likeliest(_scaled(u.log() - v.log(), (1 / u + 1 / v).log()))


def _distances(spread: Tensor) -> Tensor:  # (N, 1) -> (N, shifts)
    """Of every value from ends further out: as far as twice the rows that are tied at the end."""
    tied = float((spread == 0).double().mean())
    levels = torch.tensor(_SHIFTS, dtype=torch.float64).clamp(min=min(2 * tied, 1.0))
    return spread + spread.quantile(levels)


def _likeliest(tried: Transformed) -> Transformed:  # of (N, k) -> of (N, 1)
    """The column that is most Gaussian with its derivative counted."""
    best = tried.log_jacobian.argmax()
    return Transformed(tried.z[:, best, None], tried.log_jacobian[best, None])


def _asinh(x: Tensor) -> Transformed:  # (N, n)
    quartiles = torch.tensor([0.25, 0.5, 0.75], dtype=torch.float64)
    low, middle, high = x.quantile(quartiles, dim=0)
    width = torch.where(high > low, high - low, 1.0)
    u = (x - middle) / width
    return _scaled(torch.asinh(u), -0.5 * torch.log1p(u * u) - width.log())


def _scaled(curved: Tensor, slope: Tensor) -> Transformed:  # (N, n), (N, n)
    z, deviation = standardise(curved)
    return Transformed(z, slope.sum(0) - len(curved) * deviation.log())


def standardise(x: Tensor) -> tuple[Tensor, Tensor]:  # (N, n) -> (N, n), (n,)
    """Columns of mean zero and variance one, constant ones zero, and their deviations."""
    centred = x - x.mean(0)
    deviation = centred.square().mean(0).sqrt()
    deviation = torch.where(deviation > 0, deviation, 1.0)
    return centred / deviation, deviation


def _to_gaussian(x: Tensor) -> Transformed:  # (N, n)
    rows, columns = len(x), x.T.contiguous()
    ranked = columns.sort().values
    # Ties share the mean of their ranks.
    below, above = (torch.searchsorted(ranked, columns, right=right) for right in (False, True))
    rank = (below + above).double().T / 2
    raw = math.sqrt(2) * torch.erfinv(2 * (rank / rows).clamp(0.5 / rows, 1 - 0.5 / rows) - 1)
    z, _ = standardise(raw)
    log_normal = -0.5 * z.square() - 0.5 * math.log(2 * math.pi)
    return Transformed(z, (_left_out_log_density(x) - log_normal).sum(0))


def _left_out_log_density(x: Tensor) -> Tensor:  # (N, n) -> (N, n)
    """A Gaussian kernel density estimate of every value from all others, robust bandwidth."""
    spread = x.quantile(0.75, dim=0) - x.quantile(0.25, dim=0)
    width = 0.9 * torch.where(spread > 0, spread / 1.34, 1.0).clamp(max=1.0) * len(x) ** -0.2
    near = left_out_density((x - x.median(0).values) / width) / width
    # A wide component keeps far outliers at a finite density.
    return torch.log(0.95 * near + 0.05 / (math.pi * (1 + x.square())))


_CURVES = {
    "logarithm": _logarithm,
    "reflected logarithm": _reflected_logarithm,
    "signed logarithm": _asinh,
    "logit": _logit,
    "normal scores": _to_gaussian,
}
