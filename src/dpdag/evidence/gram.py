"""Sufficient statistics of additive regressions: every fit is linear algebra on one Gram matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ..ops.memory import require_memory

__all__ = ["Gram", "equal_sets", "gram"]

WORKSPACE = 2**23  # numbers held at once, 64 MiB


@dataclass(frozen=True)
class Gram:
    r"""Inner products of all features of all variables, and of features with the variables.

    .. math:: G = \Phi^\top W \Phi, \qquad c_v = \Phi^\top W x_v, \qquad t_v = x_v^\top W x_v

    Attributes:
        features: (r, n, k, n, k) :math:`G`, one per replica r.
        cross: (r, n, k, n) :math:`c`, the child last.
        total: (r, n) :math:`t`.
        n_rows: Sum of the weights of any one replica.
    """

    features: Tensor
    cross: Tensor
    total: Tensor
    n_rows: float

    @property
    def n_nodes(self) -> int:
        return self.cross.shape[1]

    @property
    def size(self) -> int:
        """Features per variable."""
        return self.cross.shape[2]

    def normal_equations(
        self,
        child: Tensor,  # (b,) replica · n + node
        index: Tensor,  # (b, p) parents
    ) -> tuple[Tensor, Tensor, Tensor]:  # (b, pk, pk), (b, pk), (b,)
        """Gram matrix of the parents' features, their products with the child, and its norm."""
        replica, node = child // self.n_nodes, child % self.n_nodes
        block = self.features[replica[:, None, None], index[:, :, None], :, index[:, None, :], :]
        matrix = block.transpose(2, 3).flatten(3, 4).flatten(1, 2)
        right = self.cross[replica[:, None], index, :, node[:, None]].flatten(1)
        return matrix, right, self.total[replica, node]


def gram(features: Tensor, x: Tensor, weights: Tensor | None = None) -> Gram:
    """Moments of ``features`` (rows, n, k) and ``x`` (rows, n) under ``weights`` (r, rows).

    Both are centred, and ``x`` is scaled to unit variance, within each replica.
    """
    rows, n, k = features.shape
    weight = x.new_ones(1, rows) if weights is None else weights.to(x)
    require_memory(
        1.2 * x.element_size() * len(weight) * (n * k) * (n * k + n),
        what=f"Comparing {n} columns",
        way_out="use fewer columns or fewer resamples",
        device=str(x.device),
    )
    flat = features.reshape(rows, n * k)
    grams, crosses = x.new_empty(len(weight), n * k, n * k), x.new_empty(len(weight), n * k, n)
    for replica, w in enumerate(weight):
        phi, y = _centred(flat, w), _centred(x, w)
        y = y / (y.square().sum(0) / w.sum()).sqrt()
        torch.mm(phi.T, phi, out=grams[replica])
        torch.mm(phi.T, y, out=crosses[replica])
    count = weight.sum(-1)
    total = count[:, None].expand(-1, n)
    return Gram(grams.reshape(-1, n, k, n, k), crosses.reshape(-1, n, k, n), total, float(count[0]))


def _centred(values: Tensor, weight: Tensor) -> Tensor:  # (rows, m), (rows,) -> (rows, m)
    mean = weight @ values / weight.sum()
    return (values - mean) * weight.sqrt()[:, None]


def equal_sets(
    parents: Tensor,  # (b, n) bool
    *,
    numbers: int,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Split sets into batches of equal size: rows (c,) of ``parents`` and their members (c, p).

    Arguments:
        parents: (b, n) bool.
        numbers: How many numbers are needed for each pair of parents of a set.
    """
    counts = parents.sum(-1)
    for size in counts.unique().tolist():
        rows = (counts == size).nonzero()[:, 0]
        step = max(1, WORKSPACE // (numbers * max(size, 1) ** 2))
        for part in rows.split(step):
            yield part, parents[part].nonzero()[:, 1].reshape(len(part), size)
