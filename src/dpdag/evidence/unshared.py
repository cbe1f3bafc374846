"""What one parent more explains if it shares nothing with the parents that are there."""

from __future__ import annotations

import torch
from torch import Tensor

from .gram import Gram

_ROWS = 64  # nodes that are compared with all others at once


class Unshared:
    r"""Bounds of what one parent more explains, from what the others leave and its own block alone.

    .. math:: r_j = c_j - G_{jS}\, \beta, \qquad
        r_j^\top (G_{jj} + \Lambda_j)^{-1} r_j \;\le\; r_j^\top \Sigma_j^{-1} r_j, \qquad
        |G_{jj} + \Lambda_j| \ge |\Sigma_j|

    with the Schur complement :math:`\Sigma_j = G_{jj} + \Lambda_j - G_{jS} (G_S + \Lambda_S)^{-1}
    G_{Sj}`. So both err on the same side, and the less, the less j and S share.

    Arguments:
        moments: Gram matrix of the features.
        precision: (g, n, k) the grid of :math:`\Lambda`.

    Attributes:
        log_det: (g, n) of :math:`(G_{jj} + \Lambda_j) \Lambda_j^{-1}`.
        share: (n, n) what features of two nodes have in common beyond chance: the sum of their
            squared correlations, one for each function of two copies.
    """

    def __init__(self, moments: Gram, precision: Tensor) -> None:
        self._moments, (grid, n, k) = moments, precision.shape
        own = moments.features.diagonal(dim1=0, dim2=2).permute(2, 0, 1)  # (n, k, k)
        factor = torch.linalg.cholesky(own + torch.diag_embed(precision))
        eye = torch.eye(k, dtype=own.dtype, device=own.device).expand(grid, n, k, k)
        self._half = torch.linalg.solve_triangular(factor, eye, upper=False)
        log_det = 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        self.log_det = log_det - precision.log().sum(-1)
        rows = moments.n_rows
        found = [part.square().sum((1, 3)) / rows**2 for part in moments.features.split(_ROWS)]
        self.share = (torch.cat(found) - k * k / rows).clamp_min(0)

    def explained(
        self, coefficient: Tensor, child: Tensor, index: Tensor
    ) -> Tensor:  # (g, b, pk), (b,), (b, p) -> (g, b, n)
        """The quadratic form of every node, at least."""
        grid, n, k, _ = self._half.shape
        right = self._moments.cross[..., child].movedim(-1, 0).expand(grid, -1, -1, -1)
        if index.shape[1]:
            shared = self._moments.features[index].flatten(3).flatten(1, 2)  # (b, pk, nk)
            right = right - (coefficient.unsqueeze(-2) @ shared).reshape(grid, -1, n, k)
        return torch.einsum("gnkl,gbnl->gbnk", self._half, right).square().sum(-1)
