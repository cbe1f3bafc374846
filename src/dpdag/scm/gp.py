"""Gaussian process mechanisms on a given graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from ..columns import standardise
from ..evidence.categories import Encoding
from ..evidence.gp import KERNELS, Families, GPEvidence, gp_weights
from ..ops.rows import spaced

_BLOCK = 8192  # rows predicted at once
_WORK = 1e10  # rows times squared points with a kernel, where not every row can have one
_FEWEST = 500  # such points
_AT_ONCE = 32  # children solved for in one batch on a GPU
_KEPT = 2**28  # bytes of factors that a model keeps
_JITTER = 1e-8  # relative, that keeps their kernel matrix positive definite


@dataclass(frozen=True)
class GPMechanisms:
    r"""Every node's posterior mean under a Gaussian process over its parents.

    .. math:: f_j(x) = k_j(x, X)\, \alpha_j, \qquad \alpha_j = (K_j + \rho_j I)^{-1} X_j

    Arguments:
        inputs: (N, F) features of the rows the functions were fitted to, standardised.
        weight: (N, n) α; zero for nodes without parents.
        inverse_scale: (F, n) one over the length scale of feature i for child j, the same for all
            features of a category; zero where there is no edge.
        extra: (n,) the kernel's other parameter: for "rbf" the weight of its linear part, for
            "network" the variance of its biases.
        noise: (n,) noise variance over amplitude.
        amplitude: (n,) variance that multiplies the kernel and the noise.
        kernel: "rbf" or "network".
        represents: How many rows each of the inputs stands for.
        encoding: Of columns as features.
    """

    inputs: Tensor
    weight: Tensor
    inverse_scale: Tensor
    extra: Tensor
    noise: Tensor
    amplitude: Tensor
    kernel: str = "rbf"
    represents: float = 1.0
    encoding: Encoding = field(default_factory=Encoding)

    def __call__(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        mean, read = torch.zeros_like(x), self.encoding(x)
        for child in self._children():
            for part, rows in zip(mean.split(_BLOCK), read.split(_BLOCK)):
                part[:, child] = self._cross(rows, child) @ self.weight[:, child]
        return mean

    def variance(self, x: Tensor) -> Tensor:  # (m, n) -> (m, n)
        """Predictive variance of each node given its parents, noise included.

        Where there were more rows than inputs, as if each input had been seen as often as there
        are rows for it; far from all inputs this is more than all rows would leave open.
        """
        variance, read = torch.ones_like(x), self.encoding(x)
        for child in self._children():
            used, *parameters = self._parameters(child)
            factor = self._factor(child)
            for part, rows in zip(variance.split(_BLOCK), read.split(_BLOCK)):
                cross = self._cross(rows, child)
                white = torch.linalg.solve_triangular(factor, cross.T, upper=False)
                own = KERNELS[self.kernel].own(rows[:, used], *parameters) + self.noise[child]
                part[:, child] = self.amplitude[child] * (own - white.square().sum(0))
        return variance

    def _children(self) -> list[int]:
        return self.inverse_scale.any(0).nonzero()[:, 0].tolist()

    def _cross(self, read: Tensor, child: int) -> Tensor:  # (m, F) -> (m, N)
        used, *parameters = self._parameters(child)
        return KERNELS[self.kernel].between(read[:, used], self.inputs[:, used], *parameters)

    def _parameters(self, child: int) -> tuple[Tensor, Tensor, Tensor]:  # (F,) bool, (d,), (1,)
        """Which features the kernel of a child reads, their length scales, its other parameter."""
        used = self.inverse_scale[:, child] > 0
        return used, self.inverse_scale[used, child].reciprocal(), self.extra[child, None]

    @cached_property
    def _factors(self) -> dict[int, Tensor]:
        """Factors of some children that are kept between calls, as many as memory is for."""
        return {}

    def _factor(self, child: int) -> Tensor:  # (N, N) lower triangular
        if child in self._factors:
            return self._factors[child]
        matrix = self._cross(self.inputs, child)
        matrix.diagonal().add_(self.noise[child] / self.represents)
        factor = torch.linalg.cholesky(matrix)
        if (len(self._factors) + 1) * factor.nbytes <= _KEPT:
            self._factors[child] = factor
        return factor

    def __getstate__(self) -> dict[str, Any]:  # factors are found anew
        return {name: value for name, value in vars(self).items() if name != "_factors"}


def fit_gp(
    x: Tensor,  # (N, n) standardised
    adjacency: Tensor,  # (n, n) bool
    *,
    evidence: GPEvidence | None = None,
    rows: int = 1500,
    kernel: str = "rbf",
    categories: Sequence[int] = (),
) -> GPMechanisms:
    r"""Posterior mean functions given a graph, kernels as the evidence of each node wants.

    Beyond ``rows`` rows, the functions are combinations of kernels at as many evenly spaced ones
    (from 4500 rows on fewer, 500 at least), fitted to all:

    .. math:: \alpha_j = (\rho_j K_{ZZ} + K_{ZX} K_{XZ})^{-1} K_{ZX} X_j

    Arguments:
        evidence: One that already knows these parent sets, to save their optimisation.
        rows: Rows with a kernel at each of them, at most.
        kernel: "rbf" or "network"; that of the evidence where there is one.
        categories: Columns whose values are all as far from each other, as the evidence has them.

    References:
        Quiñonero-Candela and Rasmussen, *A Unifying View of Sparse Approximate Gaussian Process
        Regression* (2005), subset of regressors.

    Example:
        >>> x = torch.linspace(-1.7, 1.7, 200, dtype=torch.float64)
        >>> x = torch.stack([x, (2 * x).sin() / 0.7], dim=1)
        >>> model = fit_gp(x, torch.tensor([[False, True], [False, False]]))
        >>> bool((model(x)[:, 1] - x[:, 1]).abs().max() < 0.1)
        True
    """
    known, x = evidence, x.double()
    if known is None:
        some, _ = standardise(spaced(x, rows))
        known = GPEvidence(some, kernel=kernel, categories=categories)
    kernel = known.kernel.name
    encoding, n = Encoding.of(x, categories), x.shape[1]
    read, owner = encoding(x), encoding.owner(n)
    dense = len(x) <= rows
    points = max(_FEWEST, math.isqrt(int(_WORK / len(x))))
    inputs = read if dense else spaced(read, min(rows, points))
    m = len(inputs)
    zero = torch.zeros(n, dtype=torch.float64)
    model = GPMechanisms(
        inputs,
        torch.zeros(m, n, dtype=torch.float64),
        torch.zeros(len(owner), n, dtype=torch.float64),
        zero.clone(),
        zero.clone(),
        torch.ones(n, dtype=torch.float64),
        kernel,
        len(x) / m,
        encoding,
    )
    children = adjacency.any(0).nonzero()[:, 0]
    for child in children.tolist():
        parents = adjacency[:, child] != 0
        parameters = known.kernel_parameters(child, parents)
        inverse = zero.masked_scatter(parents, (-parameters[:-2]).exp())
        model.inverse_scale[:, child] = inverse[owner]
        model.noise[child], model.extra[child] = parameters[-2:].exp()
    together = _AT_ONCE if dense and known.device.type != "cpu" else 1
    for first in range(0, len(children), together):
        known.deadline.check()
        some = children[first : first + together]
        if dense:
            weight, model.amplitude[some] = _exactly(model, x, read, some, known.device)
            model.weight[:, some] = weight.T
        else:
            child = int(some)
            model.weight[:, child], model.amplitude[child] = _by_points(model, x, read, child)
    return model


def _exactly(
    model: GPMechanisms,
    x: Tensor,  # (N, n)
    read: Tensor,  # (N, F)
    children: Tensor,  # (b,)
    device: torch.device,
) -> tuple[Tensor, Tensor]:  # (b, N), (b,)
    """α and the amplitude: that of errors on rows left out one by one, whatever the noise ratio."""
    inverse = model.inverse_scale.T[children]
    some = Families.of(children, inverse > 0)
    scale = inverse.gather(1, some.members).reciprocal().where(some.mask, 1.0)
    ends = torch.stack([model.noise[children], model.extra[children]], -1)
    given = (read.T[some.members] * some.mask.unsqueeze(-1)).mT  # (b, N, w)
    parameters = torch.cat([scale, ends], -1).log()
    y, given, parameters = (part.to(device) for part in (x.T[children], given, parameters))
    alpha, left = gp_weights(y, given, parameters, KERNELS[model.kernel])
    return alpha.cpu(), left.square().mean(-1).cpu()


def _by_points(
    model: GPMechanisms, x: Tensor, read: Tensor, child: int
) -> tuple[Tensor, Tensor]:  # (N, n), (N, F) -> (m,), ()
    """α, with kernels at the model's inputs only, and the amplitude that errors have."""
    own, ratio = model._cross(model.inputs, child), model.noise[child]
    own.diagonal().mul_(1 + _JITTER)
    factor = torch.linalg.cholesky(own)
    inner, right = torch.diag(ratio.expand(len(own))), torch.zeros_like(own[0])
    for y, rows in zip(x[:, child].split(_BLOCK), read.split(_BLOCK)):
        white = torch.linalg.solve_triangular(factor, model._cross(rows, child).T, upper=False)
        inner.addmm_(white, white.T)
        right.addmv_(white, y)
    beta = torch.cholesky_solve(right[:, None], torch.linalg.cholesky(inner))[:, 0]
    alpha = torch.linalg.solve_triangular(factor.T, beta.unsqueeze(-1), upper=True)[:, 0]
    missed = x[:, child].square().sum() - right @ beta - ratio * beta.square().sum()
    return alpha, missed / (ratio * len(x))
