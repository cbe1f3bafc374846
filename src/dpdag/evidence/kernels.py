"""The log marginal likelihood of a Gaussian process and its gradient, batched."""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = [
    "additions_score",
    "column_features",
    "gp_evidence",
    "gp_evidence_and_gradient",
    "rbf",
]

_FEATURES = 10  # per column in the score test


def rbf(z: Tensor, other: Tensor | None = None) -> Tensor:  # (*, N, d), (*, M, d) -> (*, N, M)
    r"""The Gaussian kernel of rows already divided by their length scales, with ``z`` or others.

    .. math:: K_{ab} = \exp(-\tfrac12 \lVert z_a - z_b \rVert^2)

    One matrix product gives all exponents, because :math:`-\tfrac12 \lVert z_a - z_b \rVert^2
    = z_a^\top z_b - \tfrac12 \lVert z_a \rVert^2 - \tfrac12 \lVert z_b \rVert^2`.

    Example:
        >>> rbf(torch.tensor([[0.0], [2.0]])).round(decimals=3)
        tensor([[1.0000, 0.1350],
                [0.1350, 1.0000]])
    """
    half = _half_square(z)
    others, theirs = (z, half) if other is None else (other, _half_square(other))
    left = torch.cat([z, half, torch.ones_like(half)], -1)
    right = torch.cat([others, torch.ones_like(theirs), theirs], -1)
    return (left @ right.mT).exp_()


def _half_square(z: Tensor) -> Tensor:  # (*, N, d) -> (*, N, 1)
    return (z * z).sum(-1, keepdim=True) / -2


def gp_evidence(
    y: Tensor,  # (*, N, c)
    x: Tensor,  # (*, N, d)
    parameters: Tensor,  # (*, d + 2)
) -> Tensor:  # (*, c) float64
    r"""Log evidence of the columns of ``y`` under a GP over ``x``, amplitude profiled out.

    .. math:: -\tfrac{N}{2} \log \tfrac1N y^\top M^{-1} y - \tfrac12 \log |M|, \qquad
              M = K_\ell + \tau x x^\top + \rho I

    up to the constant :math:`-\tfrac N2 (1 + \log 2\pi)`. The kernel is an RBF with one length
    scale per parent plus a linear one. Columns of ``x`` that are zero change nothing, so parent
    sets of different sizes share a batch by padding.

    Arguments:
        parameters: Logarithms of the d length scales, of the noise ratio ρ and of the linear
            weight τ.

    Reference:
        Rasmussen and Williams, *Gaussian Processes for Machine Learning* (2006), section 5.4.
    """
    factor, _, _ = _factor(x, parameters)
    white = torch.linalg.solve_triangular(factor, y, upper=False)
    return _evidence(factor, white)


def gp_evidence_and_gradient(
    y: Tensor,  # (*, N)
    x: Tensor,  # (*, N, d)
    parameters: Tensor,  # (*, d + 2)
) -> tuple[Tensor, Tensor]:  # (*), (*, d + 2) float64
    r"""The evidence of one child per parent set, with its gradient in ``parameters``.

    .. math:: \partial_\theta = \tfrac12 \sum_{ab} G_{ab} \, \partial_\theta M_{ab}, \qquad
              G = \frac{\alpha \alpha^\top}{s^2} - M^{-1}, \quad \alpha = M^{-1} y
    """
    value, kernel, pull, z = _pull(y, x, parameters)
    noise = parameters[..., -2].exp()
    linear = parameters[..., -1].exp()
    by_noise = noise / 2 * pull.diagonal(dim1=-2, dim2=-1).double().sum(-1).cpu()
    by_linear = linear / 2 * (x * (pull @ x)).sum((-2, -1)).double().cpu()
    weighted = pull.mul_(kernel)
    squares = (weighted.sum(-1).unsqueeze(-1) * z * z).sum(-2) - (z * (weighted @ z)).sum(-2)
    by_scale = squares.double().cpu()
    return value, torch.cat([by_scale, by_noise.unsqueeze(-1), by_linear.unsqueeze(-1)], -1)


def additions_score(
    y: Tensor,  # (N,)
    x: Tensor,  # (N, d)
    parameters: Tensor,  # (d + 2,)
    features: Tensor,  # (N, n, r)
) -> Tensor:  # (n,)
    r"""First-order gain of letting each candidate modulate the kernel, all rows, one inverse.

    .. math:: \partial_\theta \log p \,\big|_{\theta=0} \quad \text{for} \quad
              K_\theta = (1 - \theta) K + \theta\, K \circ \Phi_j \Phi_j^\top

    Arguments:
        features: Per candidate, r features Φ whose products approximate its own kernel.
    """
    _, kernel, pull, _ = _pull(y, x, parameters)
    weighted = pull.mul_(kernel)
    rows, n, r = features.shape
    moved = (weighted @ features.reshape(rows, n * r)).reshape(rows, n, r)
    return ((features * moved).sum((0, 2)) - weighted.sum()).double().cpu() / 2


def column_features(x: Tensor) -> Tensor:  # (N, n) -> (N, n, r)
    """Nyström features of every column's own unit-length kernel, from its quantiles."""
    quantiles = torch.linspace(0.005, 0.995, _FEATURES).to(x)
    centre = torch.quantile(x, quantiles, dim=0).T.unsqueeze(-1)  # (n, r, 1)
    inner = torch.exp(-(centre - centre.mT).square() / 2)
    inner = inner + 1e-3 * torch.eye(_FEATURES).to(inner)
    outer = torch.exp(-(centre - x.T.unsqueeze(-2)).square() / 2)
    white = torch.linalg.solve_triangular(torch.linalg.cholesky(inner), outer, upper=False)
    return white.permute(2, 0, 1).contiguous()


def _factor(x: Tensor, parameters: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Cholesky factor of M, the RBF kernel alone and the scaled inputs."""
    scale, noise, linear = parameters.to(x).exp().split([x.shape[-1], 1, 1], -1)
    z = x / scale.unsqueeze(-2)
    kernel = rbf(z)
    matrix = torch.baddbmm(
        kernel.reshape(-1, *kernel.shape[-2:]),
        (x * linear.unsqueeze(-2)).reshape(-1, *x.shape[-2:]),
        x.mT.reshape(-1, x.shape[-1], x.shape[-2]),
    ).reshape(kernel.shape)
    matrix.diagonal(dim1=-2, dim2=-1).add_(noise)
    factor, failed = torch.linalg.cholesky_ex(matrix)
    if bool(failed.any()):
        factor = torch.where((failed > 0)[..., None, None], math.nan, factor)
    return factor, kernel, z


def _evidence(factor: Tensor, white: Tensor) -> Tensor:  # (*, N, N), (*, N, c) -> (*, c)
    variance = white.double().square().mean(-2)
    half_logdet = factor.diagonal(dim1=-2, dim2=-1).double().log().sum(-1, keepdim=True)
    value = -factor.shape[-1] / 2 * variance.log() - half_logdet
    return value.nan_to_num(nan=-math.inf).cpu()


def _pull(y: Tensor, x: Tensor, parameters: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Evidence, RBF kernel, the matrix G of the gradient and the scaled inputs."""
    factor, kernel, z = _factor(x, parameters)
    white = torch.linalg.solve_triangular(factor, y.unsqueeze(-1), upper=False)
    value = _evidence(factor, white)[..., 0]
    inverse = torch.cholesky_inverse(factor)
    alpha = inverse @ y.unsqueeze(-1)
    variance = white.square().mean(-2, keepdim=True)
    return value, kernel, (alpha / variance) @ alpha.mT - inverse, z
