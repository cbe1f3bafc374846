"""Gaussian process evidence averaged over a small grid of kernels, for very many parent sets."""

from __future__ import annotations

import math
from itertools import product

import torch
from torch import Tensor

from ...columns import standardise
from ...seeding import torch_generator
from ..base import Evidence
from ..linear import LinearEvidence
from ..noise import log_root
from .kernels import KERNELS
from .marginal import gp_evidence

_NOISE = (0.06, 0.25, 1.0)


class GridGPEvidence(Evidence):
    r"""Evidence under a Gaussian process with one length scale, kernels averaged over a grid.

    .. math:: \log \frac1{|G|} \sum_{(\ell, \rho) \in G} p(y \mid x_S, \ell, \rho)

    and averaged with a line, so that directions that cannot be known are left open. One Cholesky
    factor per parent set and kernel serves all children, so asking for all children of all sets,
    as an exact posterior does, costs little more than asking for one. No parameter is fitted: the
    value of a set does not depend on what was asked before.

    Arguments:
        x: Observations; columns are standardised.
        rows: Rows used at most; a seeded random subset is drawn beyond.
        kernel: "rbf" for smooth functions, "network" for infinitely wide networks.
        device: Where the matrices live.
        dtype: Of the matrices; sums are always float64.
        random_state: Seed of the subset.

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> cause, noise = torch.randn(2, 100, generator=generator)
        >>> evidence = GridGPEvidence(torch.stack([cause, torch.sin(2 * cause) + noise / 4], -1))
        >>> forward, backward = evidence.log_evidence(
        ...     torch.tensor([1, 0]), torch.tensor([[True, False], [False, True]]))
        >>> bool(forward > backward + 10)
        True
    """

    def __init__(
        self,
        x: Tensor,  # (N, n)
        *,
        rows: int = 300,
        kernel: str = "rbf",
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        random_state: int = 0,
    ) -> None:
        generator = torch_generator(random_state, "gp rows")
        chosen = torch.randperm(len(x), generator=generator)[:rows]
        table, _ = standardise(x.double().cpu()[chosen])
        self.n_rows, self.n_nodes = table.shape
        self.kernel = KERNELS[kernel]
        self._x = table.to(device, dtype)
        self._empty = log_root(table)
        self._lines = LinearEvidence(table)
        self._chunk = 64 if self._x.is_cuda else 1

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        distinct, which = parents.unique(dim=0, return_inverse=True)
        size = distinct.sum(-1)
        table = self._empty.expand(len(distinct), -1).clone()  # (sets, n)
        for width in size.unique().tolist():
            if width:
                rows = (size == width).nonzero()[:, 0]
                for part in rows.split(self._chunk):
                    table[part] = self._all_children(distinct[part], width)
        line = self._lines.log_evidence(child, parents)
        return torch.logaddexp(table[which, child], line) - math.log(2)

    def _all_children(self, parents: Tensor, width: int) -> Tensor:  # (k, n), |S| -> (k, n)
        grid = torch.tensor(
            [
                [scale] * width + [noise, extra]
                for (scale, extra), noise in product(self.kernel.typical, _NOISE)
            ]
        )
        index = parents.nonzero()[:, 1].reshape(-1, width).to(self._x.device)
        x = self._x[:, index].movedim(0, 1).unsqueeze(1)  # (k, 1, N, |S|)
        shape = (len(parents), len(grid))
        values = gp_evidence(
            self._x.expand(*shape, -1, -1),
            x.expand(*shape, -1, -1),
            grid.double().log().expand(*shape, -1),
            self.kernel,
        )
        return values.logsumexp(1) - math.log(len(grid))
