"""Evidence of additive models whose noise has any shape, and perhaps a size that varies."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from ..ops.shape import shape_gain
from .additive import AdditiveEvidence
from .base import Evidence, row_counts
from .gram import equal_sets

__all__ = ["FreeNoiseEvidence"]

# Straight lines of any steepness, nearly exact ones too, and curves.
_SMOOTHNESS = ((0.01, 1e6), (1.0, 1e-3), (1.0, 3e-2), (1.0, 1.0), (30.0, 3e-2), (30.0, 1.0))
_STEPS = 5  # of Fisher scoring
_SIZE_FUNCTIONS = 3  # of each parent, on which the size of the noise may depend
_SIZE_PRECISION = 10.0  # a priori, of their coefficients


class _Sizes(NamedTuple):
    """Sizes of noise that follow the parents: coefficients (b, m), and nats gained (b,)."""

    weight: Tensor
    gain: Tensor


class FreeNoiseEvidence(Evidence):
    r"""Evidence of a sum of smooth functions with noise of any shape.

    .. math:: x_v = \sum_{j \in S} f_j(x_j) + e^{g(x_S)} \epsilon, \qquad
              g = \sum_{j \in S} g_j(x_j) \;\text{ or }\; 0

    The functions are those of :class:`AdditiveEvidence`. To its value is added what the residuals
    gain by their own shape, :func:`~dpdag.ops.shape.shape_gain`, and where ``scaled``, by a size
    that depends on the parents: g is the smooth function of highest quasi-likelihood, as if the
    noise were Laplace distributed, its prior and volume counted; it stays 0 where it does not pay.

    With Gaussian noise both directions of a straight line are equally likely; with any other
    shape they are not.

    Arguments:
        x: (N, n) standardised columns.
        scaled: Whether the size of the noise may depend on the parents.
        replicas: (r, rows) the rows of each replica, where there are several.

    References:
        | A linear non-Gaussian acyclic model for causal discovery (Shimizu et al., 2006)
        | On the identifiability and estimation of causal location-scale noise models (Immer et
          al., 2023)

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> cause, noise = torch.rand(2, 500, generator=generator, dtype=torch.float64)
        >>> x = torch.stack([cause, cause + noise], dim=1)
        >>> evidence = FreeNoiseEvidence((x - x.mean(0)) / x.std(0))
        >>> graphs = torch.tensor([[[0, 0], [1, 0]], [[0, 1], [0, 0]]]).bool()  # parents of each
        >>> right, wrong = (evidence.log_evidence(torch.arange(2), one).sum() for one in graphs)
        >>> bool(right > wrong + 20)
        True
    """

    def __init__(self, x: Tensor, *, scaled: bool = False, replicas: Tensor | None = None) -> None:
        weights = None if replicas is None else row_counts(replicas, len(x))
        self.additive = AdditiveEvidence(x, smoothness=_SMOOTHNESS, weights=weights)
        self.n_nodes, self.n_replicas = x.shape[1], self.additive.n_replicas
        self.scaled = scaled
        rows = torch.arange(len(x))[None] if replicas is None else replicas
        columns = x[rows].mT.flatten(0, 1)  # (r n, rows)
        self._target = _standardised(columns)
        features = self.additive.basis(x)[rows]  # (r, rows, n, k)
        features = features - features.mean(1, keepdim=True)
        self._features = features.permute(0, 2, 3, 1).flatten(0, 1).contiguous()  # (r n, k, rows)

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b,)
        value = self._target.new_empty(len(child))
        for part, index in self._batches(parents):
            residual, gaussian = self._residual(child[part], index)
            gain = shape_gain(_standardised(residual))
            if self.scaled and index.shape[1]:
                column = index + (child[part] // self.n_nodes * self.n_nodes)[:, None]
                gain = torch.maximum(gain, self._sizes(residual, column).gain)
            value[part] = gaussian + gain
        return value

    def size_weights(self, adjacency: Tensor) -> Tensor:  # (n, n) bool -> (n, k, n)
        """Coefficients of g on a graph: parent, function, child; zero where it does not pay."""
        n, k, _ = self._features.shape  # of one replica
        weight = self._target.new_zeros(n, k, n)
        for child, index in self._batches(adjacency.T):
            if not index.shape[1]:
                continue
            residual, _ = self._residual(child, index)
            sizes = self._sizes(residual, index)
            pays = sizes.gain > shape_gain(_standardised(residual))
            kept = torch.where(pays[:, None], sizes.weight, 0.0).unflatten(1, (index.shape[1], -1))
            weight[index, : kept.shape[-1], child[:, None]] = kept
        return weight

    def _batches(self, parents: Tensor) -> Iterator[tuple[Tensor, Tensor]]:  # (b, n) bool
        _, k, rows = self._features.shape
        return equal_sets(parents, numbers=max(k**2, 8 * rows))

    def _residual(
        self, child: Tensor, index: Tensor
    ) -> tuple[Tensor, Tensor]:  # (b,), (b, p) -> (b, rows), (b,)
        """What the functions leave unexplained, and the evidence as if that were Gaussian."""
        weight, gaussian = self.additive.coefficients(child, index)
        explained = torch.empty(len(child), self._target.shape[1], dtype=weight.dtype)
        replica = child // self.n_nodes
        for r in replica.unique().tolist():
            features = self._features[r * self.n_nodes : (r + 1) * self.n_nodes].flatten(0, 1)
            explained[replica == r] = weight[replica == r].flatten(1) @ features
        return self._target[child] - explained, gaussian

    def _sizes(self, residual: Tensor, index: Tensor) -> _Sizes:  # (b, rows), (b, p)
        """Let the size of the residuals follow the parents."""
        features = self._features[index, :_SIZE_FUNCTIONS].flatten(1, 2)  # (b, m, rows)
        weight, log_size, price = _log_size(residual, features)
        scaled = residual * torch.exp(-log_size)
        change = residual.var(-1).log() - scaled.var(-1).log() - 2 * log_size.mean(-1)
        rows = residual.shape[-1]
        gain = shape_gain(_standardised(scaled)) + 0.5 * rows * change - price
        return _Sizes(weight, gain)


def _log_size(
    residual: Tensor,  # (b, rows)
    features: Tensor,  # (b, m, rows)
) -> tuple[Tensor, Tensor, Tensor]:  # (b, m), (b, rows), (b,)
    r"""Coefficients of g, its value at every row, and what its prior and volume cost.

    Fisher scoring of :math:`\sum_r -g_r - |e_r| e^{-g_r} / \bar e`, the level :math:`\bar e` at
    its best value throughout.
    """
    rows = residual.shape[-1]
    eye = torch.eye(features.shape[1], dtype=features.dtype)
    factor = torch.linalg.cholesky(features @ features.mT + _SIZE_PRECISION * eye)
    size = residual.abs()

    def attempt(weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # (b, m)
        log_size = (weight.unsqueeze(1) @ features)[:, 0]
        relative = size * torch.exp(-log_size)
        level = relative.mean(-1, keepdim=True).clamp_min(1e-12)
        value = -rows * level[:, 0].log() - log_size.sum(-1)
        return value - _prior(weight), log_size, relative / level

    weight = features.new_zeros(features.shape[:2])
    length = features.new_ones(len(features), 1)
    value, log_size, relative = attempt(weight)
    for _ in range(_STEPS):
        slope = (features @ (relative - 1).unsqueeze(-1))[..., 0] - _SIZE_PRECISION * weight
        step = torch.cholesky_solve(slope.unsqueeze(-1), factor)[..., 0]
        tried = weight + length * step
        outcome = attempt(tried)
        better = (outcome[0] > value)[:, None]
        weight = torch.where(better, tried, weight)
        value = torch.where(better[:, 0], outcome[0], value)
        log_size = torch.where(better, outcome[1], log_size)
        relative = torch.where(better, outcome[2], relative)
        length = torch.where(better, 1.0, 0.3 * length)
    volume = factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    volume = volume - 0.5 * len(eye) * math.log(_SIZE_PRECISION)
    return weight, log_size, volume + _prior(weight)


def _prior(weight: Tensor) -> Tensor:  # (b, m) -> (b,)
    return 0.5 * _SIZE_PRECISION * weight.square().sum(-1)


def _standardised(residual: Tensor) -> Tensor:  # (b, rows)
    centred = residual - residual.mean(-1, keepdim=True)
    return centred / centred.std(-1, correction=0, keepdim=True).clamp_min(1e-12)
