"""The log marginal likelihood of a Gaussian process and its gradient, batched."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ..noise import expected_precision, log_gaussian
from .kernels import Covariance, Kernel, SmoothKernel

_FEATURES = 10  # per column in the score test
_SMOOTH = SmoothKernel()


def gp_evidence(
    y: Tensor,  # (*, N, c)
    x: Tensor,  # (*, N, d)
    parameters: Tensor,  # (*, d + 2)
    kernel: Kernel = _SMOOTH,
) -> Tensor:  # (*, c) float64
    r"""Log evidence of the columns of ``y`` under a GP over ``x``, amplitude integrated out.

    .. math:: \log \int N(y \mid 0, \sigma^2 M)\, d P(\sigma^2), \qquad M = K + \rho I

    Arguments:
        parameters: Logarithms of the d length scales, of the noise ratio ρ and of the kernel's
            other parameter.

    Reference:
        Rasmussen and Williams, *Gaussian Processes for Machine Learning* (2006), section 5.4.
    """
    factor, _, _ = _factor(x, parameters, kernel)
    white = torch.linalg.solve_triangular(factor, y, upper=False)
    return _value(_pieces(factor, white).cpu(), factor.shape[-1])


def gp_evidence_and_gradient(
    y: Tensor,  # (*, N)
    x: Tensor,  # (*, N, d)
    parameters: Tensor,  # (*, d + 2)
    kernel: Kernel = _SMOOTH,
) -> tuple[Tensor, Tensor, Tensor]:  # (*), (*, d + 2), (*, N) float64
    r"""The evidence of one child per parent set, its gradient in ``parameters``, and residuals.

    .. math:: \partial_\theta = \tfrac12 \sum_{ab} G_{ab} \, \partial_\theta M_{ab}, \qquad
              G = E[\sigma^{-2}]\, \alpha \alpha^\top - M^{-1}, \quad \alpha = M^{-1} y

    Residuals are those of rows left out one by one over their deviations, up to one factor for all
    rows: :math:`\alpha_r / \sqrt{(M^{-1})_{rr}}`.

    Reference:
        Rasmussen and Williams, section 5.4.2.
    """
    pieces, covariance, pull, extra, residual = _pull(y, x, parameters, kernel)
    trace = pull.diagonal(dim1=-2, dim2=-1).double().sum(-1, keepdim=True)
    slopes = kernel.slopes(pull, covariance, x, extra).double()
    told = torch.cat([pieces, trace, slopes], -1).cpu()  # all at once: the host waits for it
    by_noise = parameters[..., -2:-1].exp() / 2 * told[..., 2:3]
    slopes = torch.cat([told[..., 3:-1], by_noise, told[..., -1:]], -1)
    return _value(told[..., :2], x.shape[-2])[..., 0], slopes, residual


def additions_score(
    y: Tensor,  # (*, N)
    x: Tensor,  # (*, N, d)
    parameters: Tensor,  # (*, d + 2)
    features: Tensor,  # (N, n, r)
    kernel: Kernel = _SMOOTH,
) -> Tensor:  # (*, n)
    r"""First-order gain of letting each candidate modulate the kernel, all rows, one inverse.

    .. math:: \partial_\theta \log p \,\big|_{\theta=0} \quad \text{for} \quad
              K_\theta = (1 - \theta) K + \theta\, K \circ \Phi_j \Phi_j^\top

    Arguments:
        features: Per candidate, r features Φ whose products approximate its own kernel.
    """
    _, covariance, pull, _, _ = _pull(y, x, parameters, kernel)
    weighted = pull.mul_(kernel.modulated(covariance))
    moved = (weighted @ features.flatten(1)).mul_(features.flatten(1)).sum(-2)  # (*, n r)
    gained = moved.unflatten(-1, features.shape[1:]).sum(-1)
    return (gained - weighted.sum((-2, -1)).unsqueeze(-1)).double().cpu() / 2


def gp_residual(
    y: Tensor,  # (*, N)
    x: Tensor,  # (*, N, d)
    parameters: Tensor,  # (*, d + 2)
    kernel: Kernel = _SMOOTH,
) -> Tensor:  # (*, N)
    r"""What the posterior mean leaves of ``y``, up to its scale: :math:`M^{-1} y`."""
    factor, _, _ = _factor(x, parameters, kernel)
    return torch.cholesky_solve(y.unsqueeze(-1), factor)[..., 0]


def gp_weights(
    y: Tensor,  # (*, N)
    x: Tensor,  # (*, N, d)
    parameters: Tensor,  # (*, d + 2)
    kernel: Kernel = _SMOOTH,
) -> tuple[Tensor, Tensor]:  # (*, N), (*, N)
    r"""Weights α of the posterior mean, and residuals of rows left out one by one.

    .. math:: \alpha = M^{-1} y, \qquad \alpha_r / \sqrt{(M^{-1})_{rr}}
    """
    factor, _, _ = _factor(x, parameters, kernel)
    inverse = _inverse(factor)
    alpha = inverse @ y.unsqueeze(-1)
    return alpha[..., 0], _left_out(inverse, alpha)


def column_features(x: Tensor) -> Tensor:  # (N, n) -> (N, n, r)
    """Nyström features of every column's own unit-length kernel, from its quantiles."""
    quantiles = torch.linspace(0.005, 0.995, _FEATURES).to(x)
    centre = torch.quantile(x, quantiles, dim=0).T.unsqueeze(-1)  # (n, r, 1)
    inner = torch.exp(-(centre - centre.mT).square() / 2)
    inner = inner + 1e-3 * torch.eye(_FEATURES).to(inner)
    outer = torch.exp(-(centre - x.T.unsqueeze(-2)).square() / 2)
    white = torch.linalg.solve_triangular(torch.linalg.cholesky(inner), outer, upper=False)
    return white.permute(2, 0, 1).contiguous()


def _factor(x: Tensor, parameters: Tensor, kernel: Kernel) -> tuple[Tensor, Covariance, Tensor]:
    """Cholesky factor of M, the covariance and the kernel's other parameter."""
    scale, noise, extra = parameters.to(x).exp().split([x.shape[-1], 1, 1], -1)
    covariance = kernel.covariance(x, scale, extra)
    covariance.matrix.diagonal(dim1=-2, dim2=-1).add_(noise)
    factor, failed = torch.linalg.cholesky_ex(covariance.matrix)
    factor[..., 0, 0].masked_fill_(failed > 0, math.nan)  # which then all that follows is
    return factor, covariance, extra


def _pieces(factor: Tensor, white: Tensor) -> Tensor:  # (*, N, N), (*, N, c) -> (*, c + 1)
    """Quadratic forms and the log determinant."""
    log_det = 2 * factor.diagonal(dim1=-2, dim2=-1).double().log().sum(-1, keepdim=True)
    return torch.cat([white.double().square().sum(-2), log_det], -1)


def _value(pieces: Tensor, rows: int) -> Tensor:  # (*, c + 1) -> (*, c)
    """Log evidence of these."""
    quadratic, log_det = pieces[..., :-1], pieces[..., -1:]
    return log_gaussian(quadratic, log_det, rows).nan_to_num(nan=-math.inf)


def _pull(
    y: Tensor, x: Tensor, parameters: Tensor, kernel: Kernel
) -> tuple[Tensor, Covariance, Tensor, Tensor, Tensor]:
    """Pieces of the evidence, covariance, the gradient's G, the other parameter, residuals."""
    factor, covariance, extra = _factor(x, parameters, kernel)
    white = torch.linalg.solve_triangular(factor, y.unsqueeze(-1), upper=False)
    pieces = _pieces(factor, white)
    inverse = _inverse(factor)
    alpha = inverse @ y.unsqueeze(-1)
    precision = expected_precision(pieces[..., :1].unsqueeze(-1), x.shape[-2])
    residual = _left_out(inverse, alpha)
    pull = inverse.neg_().addcmul_(alpha * precision.to(alpha), alpha.mT)  # in place: of N² numbers
    return pieces, covariance, pull, extra, residual


def _inverse(factor: Tensor) -> Tensor:  # (*, N, N) -> (*, N, N)
    """Of what the factor is one of; where products cost little, by way of its own inverse."""
    if not factor.is_cuda:
        return torch.cholesky_inverse(factor)
    eye = torch.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
    half = torch.linalg.solve_triangular(factor, eye.expand_as(factor), upper=False)
    return half.mT @ half


def _left_out(inverse: Tensor, alpha: Tensor) -> Tensor:  # (*, N, N), (*, N, 1) -> (*, N)
    own = inverse.diagonal(dim1=-2, dim2=-1).clamp_min(1e-12)
    return (alpha[..., 0] / own.sqrt()).double()
