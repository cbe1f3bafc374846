r"""What a graph and its functions leave unexplained, from the data themselves.

Where a graph is right, what its functions leave of a column has nothing to do with the columns
that are not its effects, and rows say nothing about the rows after them.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = ["beyond_chance", "dependence", "independent_share", "likeness"]

_OF_CAUSES, _OF_RESIDUALS = 5, 4  # polynomials of ranks


def dependence(
    residual: Tensor,  # (b, N)
    x: Tensor,  # (N, n)
    degrees: tuple[int, int] = (_OF_RESIDUALS, _OF_CAUSES),
) -> Tensor:  # -> (b, n)
    r"""Nats by which residuals depend on columns, zero on average where they do not.

    .. math:: \tfrac12 \Bigl(N \sum_{kl} \bigl(\tfrac1N \phi_k(x)^\top \psi_l(u)\bigr)^2 - K L\Bigr)

    with Legendre polynomials of ranks φ and ψ, so that a mean, a size or a shape that follows a
    column is seen, and outliers are not.

    Example:
        >>> x, noise = torch.randn(2, 500, generator=torch.Generator().manual_seed(0)).double()
        >>> nats = dependence(torch.stack([noise, x * noise]), x[:, None])[:, 0]
        >>> bool(nats[0].abs() < 10), bool(nats[1] > 50)
        (True, True)
    """
    (rows, n), (m, k) = x.shape, degrees
    of_causes = _polynomials(x.T.contiguous(), k, seed=0).flatten(0, 1)  # (n k, N)
    of_residuals = _polynomials(residual, m, seed=1).flatten(0, 1)  # (b m, N)
    product = (of_residuals @ of_causes.T / rows).square()
    total = product.reshape(len(residual), m, n, k).sum((1, 3))
    return 0.5 * (rows * total - k * m)


def likeness(x: Tensor) -> Tensor:  # (N, n) -> (n, n)
    r"""How much columns have to do with each other, in [0, 1) and whatever the number of rows.

    .. math:: \frac{d}{N + d}

    with d the nats by which one depends on the other.

    Example:
        >>> x = torch.randn(500, 1, generator=torch.Generator().manual_seed(0)).double()
        >>> same = torch.cat([x, x.exp(), x.flip(0)], 1)
        >>> likeness(same)[0].round(decimals=1)
        tensor([0.7000, 0.7000, 0.0000], dtype=torch.float64)
    """
    nats = dependence(x.T.contiguous(), x).clamp_min(0)
    nats = (nats + nats.mT) / 2
    return nats / (len(x) + nats)


def beyond_chance(nats: Tensor, tests: Tensor) -> Tensor:  # (*), (*) -> (*)
    """The largest of several :func:`dependence`, less what chance makes of it."""
    spread = math.sqrt(_OF_CAUSES * _OF_RESIDUALS / 2)
    return (nats - spread * (2 * tests.clamp_min(1).double().log()).sqrt()).clamp_min(0.0)


def independent_share(x: Tensor) -> Tensor:  # (N, n) -> (n, n)
    r"""The share of the rows that count between two columns, rows in the order of the table.

    .. math:: \Bigl(1 + 2 \sum_{k > 0} \rho_i(k)\, \rho_j(k)\Bigr)^{-1}

    with autocorrelations ρ along the table (Bartlett): one where rows are in an order of chance,
    next to nothing between random walks. A table that is sorted by one of its columns is no
    series, so that all of its rows count.

    Example:
        >>> noise = torch.randn(400, 2, generator=torch.Generator().manual_seed(0)).double()
        >>> bool(independent_share(noise)[0, 1] > 0.8)
        True
        >>> bool(independent_share(noise.cumsum(0))[0, 1] < 0.05)
        True
    """
    step = x.diff(dim=0)
    if bool(((step >= 0).all(0) | (step <= 0).all(0)).any()):
        return torch.ones(x.shape[1], x.shape[1], dtype=torch.float64)
    centred = x.T.double() - x.T.double().mean(-1, keepdim=True)
    rows = len(x)
    spectrum = torch.fft.rfft(centred, 2 * rows).abs().square()
    covariance = torch.fft.irfft(spectrum, 2 * rows)[:, : max(rows // 2, 2)]
    rho = covariance[:, 1:] / covariance[:, :1].clamp_min(1e-12)
    rho = rho * (rho.abs() > 2 / math.sqrt(rows))  # beneath, chance may be all
    return 1 / (1 + 2 * (rho @ rho.T)).clamp_min(1.0)


def _polynomials(x: Tensor, degree: int, *, seed: int) -> Tensor:  # (b, N) -> (b, degree, N)
    """Legendre polynomials of ranks, of mean zero and variance one."""
    # Ties in an order that has nothing to do with that of the rows, nor of the other side's.
    shuffle = torch.randperm(x.shape[-1], generator=torch.Generator().manual_seed(seed))
    mixed = x[:, shuffle]
    rank = torch.empty_like(mixed)
    place = torch.arange(x.shape[-1], dtype=x.dtype).expand_as(x)
    rank.scatter_(-1, mixed.argsort(stable=True, dim=-1), place)
    u = torch.empty_like(x)
    u[:, shuffle] = 2 * (rank + 0.5) / x.shape[-1] - 1
    found = [torch.ones_like(u), u]
    for k in range(1, degree):
        found.append(((2 * k + 1) * u * found[k] - k * found[k - 1]) / (k + 1))
    stacked = torch.stack(found[1:], -2)
    stacked = stacked - stacked.mean(-1, keepdim=True)
    return stacked / stacked.square().mean(-1, keepdim=True).sqrt()
