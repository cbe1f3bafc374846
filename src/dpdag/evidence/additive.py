"""Evidence of additive models: one smooth function per parent, integrated out in closed form."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from .base import Evidence
from .splines import SplineBasis, fit_splines

__all__ = ["AdditiveEvidence"]

# Prior precision of the functions' linear part, and of their roughness: the grid searched.
RIDGE = (1.0,)
SMOOTHNESS = (1e-3, 1e-2, 1e-1, 1.0)
WORKSPACE = 2**23  # numbers held at once, 64 MiB


class AdditiveEvidence(Evidence):
    def __init__(
        self,
        x: Tensor,  # (rows, n) standardised
        *,
        n_functions: int = 10,
        weights: Tensor | None = None,  # (replicas, rows)
        ridge=RIDGE, smoothness=SMOOTHNESS,
    ) -> None:
        self.basis = fit_splines(x, n_functions=n_functions)
        rows, n = x.shape
        self.n_nodes, self.n_rows, self.size = n, rows, n_functions
        self.n_replicas = None if weights is None else len(weights)
        weights = x.new_ones(1, rows) if weights is None else weights
        features = self.basis(x).reshape(rows, -1)
        self.gram, self.cross, self.total = _moments(features, x, weights)
        self.gram = self.gram.reshape(-1, n, n_functions, n, n_functions)
        self.cross = self.cross.reshape(-1, n, n_functions, n)
        s = torch.tensor(smoothness, dtype=x.dtype)[:, None, None]
        a = torch.tensor(ridge, dtype=x.dtype)[:, None, None, None]
        precision = (a * 1.0 + s * self.basis.roughness).flatten(0, 1)
        self.precision = torch.where(self.basis.used, precision, 1.0)

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b,)
        value = torch.empty(len(child), dtype=torch.float64)
        for rows, parts in self._factored(child, parents, width=1):
            value[rows] = self._profile(parts.quad, parts.logdet)
        return value

    def toggles(self, child: Tensor, parents: Tensor, which) -> Tensor:
        out = torch.full(which.shape, torch.nan, dtype=torch.float64)
        rem = (which & parents)
        if rem.any():
            out = super().toggles(child, parents, rem)
        add = which & ~parents
        rows = add.any(-1).nonzero()[:, 0]
        if len(rows):
            out[rows] = torch.where(add[rows], self._additions(child[rows], parents[rows]), out[rows])
        return out

    def _additions(self, child: Tensor, parents: Tensor) -> Tensor:
        n, k = self.n_nodes, self.size
        value = torch.empty(len(child), n, dtype=torch.float64)
        for rows, parts in self._factored(child, parents, width=n * k):
            replica, node = child[rows] // n, child[rows] % n
            own = self.gram.diagonal(dim1=1, dim2=3).permute(0, 3, 1, 2)[replica]  # (b, n, k, k)
            schur = own + torch.diag_embed(self.precision)[:, None]
            right = self.cross[replica, :, :, node].expand(len(self.precision), -1, -1, -1)
            if parts.factor is not None:
                all_ = self.gram[replica[:, None], parts.index]  # (b, p, k, n, k)
                half = torch.linalg.solve_triangular(
                    parts.factor, all_.flatten(1, 2).flatten(2).expand(len(self.precision), -1, -1, -1),
                    upper=False)  # (g, b, pk, nk)
                schur = schur - torch.einsum('gbpnk,gbpnl->gbnkl', *(2*[half.unflatten(-1, (n, k))]))
                right = right - (half.mT @ parts.solved.unsqueeze(-1)).squeeze(-1).unflatten(-1, (n, k))
            factor = torch.linalg.cholesky_ex(schur).L
            gain = torch.linalg.solve_triangular(factor, right.unsqueeze(-1), upper=False).square().sum((-2, -1))
            quad = parts.quad.unsqueeze(-1) - gain
            logdet = parts.logdet.unsqueeze(-1) + 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1) - self.precision.log().sum(-1)[:, None]
            now = self._profile(parts.quad, parts.logdet)
            taken = parents[rows] | torch.nn.functional.one_hot(node, n).bool()
            value[rows] = torch.where(taken, now.unsqueeze(-1), self._profile(quad, logdet))
        return value

    def _factored(self, child, parents, *, width):
        counts = parents.sum(-1)
        for p in counts.unique().tolist():
            members = (counts == p).nonzero()[:, 0]
            chunk = max(1, WORKSPACE // (len(self.precision) * max(p, self.size) * self.size * max(width, p * self.size)))
            for rows in members.split(chunk):
                yield rows, self._factor(child[rows], parents[rows], p)

    def _factor(self, child, parents, p):
        n, g = self.n_nodes, len(self.precision)
        replica, node = child // n, child % n
        total = self.total[replica, node].expand(g, -1)
        if p == 0:
            return Parts(None, None, None, total, torch.zeros_like(total))
        index = parents.nonzero()[:, 1].reshape(-1, p)
        gram = self.gram[replica[:, None, None], index[:, :, None], :, index[:, None, :], :]
        gram = gram.transpose(2, 3).flatten(1, 2).flatten(2)
        precision = self.precision[:, index].flatten(2)
        right = self.cross[replica[:, None], index, :, node[:, None]].flatten(1)
        factor = torch.linalg.cholesky_ex(gram + torch.diag_embed(precision)).L
        solved = torch.linalg.solve_triangular(factor, right.expand(g, -1, -1).unsqueeze(-1), upper=False).squeeze(-1)
        logdet = 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1) - precision.log().sum(-1)
        return Parts(index, factor, solved, total - solved.square().sum(-1), logdet)

    def _profile(self, quad, logdet):
        N = self.n_rows
        quad = quad.clamp_min(1e-6 * N)
        return (-0.5 * N * ((quad / N).log() + 1 + math.log(2 * math.pi)) - 0.5 * logdet).amax(0)

from typing import NamedTuple
class Parts(NamedTuple):
    index: Tensor
    factor: Tensor
    solved: Tensor
    quad: Tensor
    logdet: Tensor

def _moments(features, x, weights):
    mean_f, mean_x = weights @ features / weights.sum(-1, keepdim=True), weights @ x / weights.sum(-1, keepdim=True)
    gs, cs, ts = [], [], []
    for w, mf, mx in zip(weights, mean_f, mean_x):
        f = (features - mf) * w[:, None].sqrt(); y = (x - mx) * w[:, None].sqrt()
        sd = (y.square().sum(0) / w.sum()).sqrt()
        y = y / sd
        gs.append(f.T @ f); cs.append(f.T @ y); ts.append(y.square().sum(0))
    return torch.stack(gs), torch.stack(cs), torch.stack(ts)
