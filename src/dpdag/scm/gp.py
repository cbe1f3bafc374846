"""Gaussian process mechanisms on a given graph."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..evidence.gp import GPEvidence
from ..evidence.kernels import rbf
from ..ops.rows import spaced

__all__ = ["GPMechanisms", "fit_gp"]

_BLOCK = 8192  # rows predicted at once


@dataclass(frozen=True)
class GPMechanisms:
    r"""Every node's posterior mean under a Gaussian process over its parents.

    .. math:: f_j(x) = k_j(x, X)\, \alpha_j, \qquad \alpha_j = (K_j + \rho_j I)^{-1} X_j

    Arguments:
        inputs: (N, n) rows the functions were fitted to, standardised.
        weight: (N, n) α; zero for nodes without parents.
        inverse_scale: (n, n) one over the length scale of parent i for child j; zero where there
            is no edge.
        linear: (n,) weight of the linear kernel.
        noise: (n,) noise variance over amplitude.
        amplitude: (n,) variance that multiplies the kernel and the noise.
    """

    inputs: Tensor
    weight: Tensor
    inverse_scale: Tensor
    linear: Tensor
    noise: Tensor
    amplitude: Tensor

    def __call__(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        mean = torch.zeros_like(x)
        for child in self._children():
            for part, rows in zip(mean.split(_BLOCK), x.split(_BLOCK)):
                part[:, child] = self._cross(rows, child) @ self.weight[:, child]
        return mean

    def variance(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """Predictive variance of each node given its parents, noise included."""
        variance = torch.ones_like(x)
        for child in self._children():
            used = self.inverse_scale[:, child] > 0
            cross = self._cross(x, child)
            factor = torch.linalg.cholesky(self._matrix(child))
            white = torch.linalg.solve_triangular(factor, cross.T, upper=False)
            own = 1 + self.linear[child] * x[:, used].square().sum(-1) + self.noise[child]
            variance[:, child] = self.amplitude[child] * (own - white.square().sum(0))
        return variance

    def _children(self) -> list[int]:
        return self.inverse_scale.any(0).nonzero()[:, 0].tolist()

    def _cross(self, x: Tensor, child: int) -> Tensor:  # (m, n) -> (m, N)
        used = self.inverse_scale[:, child] > 0
        scale = self.inverse_scale[used, child]
        given, known, slope = x[:, used], self.inputs[:, used], float(self.linear[child])
        return rbf(given * scale, known * scale).addmm_(given, known.T, alpha=slope)

    def _matrix(self, child: int) -> Tensor:  # (N, N)
        eye = torch.eye(len(self.inputs), dtype=self.inputs.dtype)
        return self._cross(self.inputs, child) + self.noise[child] * eye


def fit_gp(
    x: Tensor,  # (N, n) standardised
    adjacency: Tensor,  # (n, n) bool
    *,
    evidence: GPEvidence | None = None,
    rows: int = 1500,
) -> GPMechanisms:
    r"""Posterior mean functions given a graph, kernels as the evidence of each node wants.

    Arguments:
        evidence: One that already knows these parent sets, to save their optimisation.
        rows: Rows the functions are fitted to at most, evenly spaced.

    Example:
        >>> x = torch.linspace(-1.7, 1.7, 200, dtype=torch.float64)
        >>> x = torch.stack([x, (2 * x).sin() / 0.7], dim=1)
        >>> model = fit_gp(x, torch.tensor([[False, True], [False, False]]))
        >>> bool((model(x)[:, 1] - x[:, 1]).abs().max() < 0.1)
        True
    """
    known = GPEvidence(x, rows=rows) if evidence is None else evidence
    inputs = spaced(x, rows).double()
    rows, n = inputs.shape
    zero = torch.zeros(n, dtype=torch.float64)
    model = GPMechanisms(
        inputs,
        torch.zeros(rows, n, dtype=torch.float64),
        torch.zeros(n, n, dtype=torch.float64),
        zero.clone(),
        zero.clone(),
        torch.ones(n, dtype=torch.float64),
    )
    for child in range(n):
        parents = adjacency[:, child] != 0
        if not bool(parents.any()):
            continue
        parameters = known.kernel_parameters(child, parents)
        model.inverse_scale[parents, child] = (-parameters[:-2]).exp()
        model.noise[child], model.linear[child] = parameters[-2:].exp()
        y = inputs[:, child]
        factor = torch.linalg.cholesky(model._matrix(child))
        alpha = torch.cholesky_solve(y.unsqueeze(-1), factor)[:, 0]
        model.weight[:, child] = alpha
        model.amplitude[child] = y @ alpha / rows
    return model
