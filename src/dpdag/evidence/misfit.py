r"""What a graph and its functions leave unexplained, from the data themselves.

Where a graph is right, what its functions leave of a column has nothing to do with the columns
that are not its effects, and rows say nothing about the rows after them.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

_OF_CAUSES, _OF_RESIDUALS = 5, 4  # polynomials of ranks
_MOST = 2**25  # products at once
_SERIES = 0.9  # of the rows, beneath which it is looked at why they do not count
_LEVELS = 20  # up to which a column has means of its own


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
    of_residuals = _polynomials(residual, m, seed=1)  # (b, m, N)
    totals = [
        (some.flatten(0, 1) @ of_causes.T / rows).square().reshape(-1, m, n, k).sum((1, 3))
        for some in of_residuals.split(max(1, _MOST // (m * n * k)))
    ]
    return 0.5 * (rows * torch.cat(totals) - k * m)


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
    next to nothing between random walks. A cause hands its own order on to its effects, that of
    arms of a trial that take turns, say: where what the one leaves of the other has no order, rows
    count as that says. A table that is sorted by one of its columns is no series, so that all of
    its rows count.
    """
    step = x.diff(dim=0)
    if bool(((step >= 0).all(0) | (step <= 0).all(0)).any()):
        return torch.ones(x.shape[1], x.shape[1], dtype=torch.float64)
    rho = _autocorrelations(x.T.double())
    share = _bartlett(rho @ rho.T)
    series = (share < _SERIES) & ~torch.eye(len(share), dtype=torch.bool)
    for i in series.any(-1).nonzero()[:, 0].tolist():
        others = series[i].nonzero()[:, 0]
        beyond = math.sqrt(2 * math.log(len(x)))  # the largest of so many by chance
        left = _autocorrelations(_left_by(x[:, i].double(), x[:, others].T.double()), beyond)
        explained = _bartlett(left @ rho[i])
        share[i, others] = torch.where(explained > _SERIES, explained, share[i, others])
    return torch.maximum(share, share.mT)


def _bartlett(products: Tensor) -> Tensor:  # (*) -> (*)
    return 1 / (1 + 2 * products).clamp_min(1.0)


def _autocorrelations(x: Tensor, beyond: float = 2.0) -> Tensor:  # (n, N) -> (n, N / 2 - 1)
    """Of rows after each other, without what chance, in its deviations, may make of them."""
    centred, rows = x - x.mean(-1, keepdim=True), x.shape[-1]
    spectrum = torch.fft.rfft(centred, 2 * rows).abs().square()
    covariance = torch.fft.irfft(spectrum, 2 * rows)[:, : max(rows // 2, 2)]
    rho = covariance[:, 1:] / covariance[:, :1].clamp_min(1e-12)
    return rho * (rho.abs() > beyond / math.sqrt(rows))


def _left_by(cause: Tensor, effects: Tensor) -> Tensor:  # (N,), (m, N) -> (m, N)
    """What means of levels, or where these are many polynomials of ranks, leave of columns."""
    level = cause.unique(return_inverse=True)[1]
    few = int(level.max()) < _LEVELS
    curves = torch.cat([cause[None], _polynomials(cause[None], _OF_CAUSES, seed=0)[0]]).T
    basis = torch.nn.functional.one_hot(level).to(effects) if few else curves
    basis = torch.linalg.qr(basis)[0]
    centred = effects - effects.mean(-1, keepdim=True)
    return centred - centred @ basis @ basis.T


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
