"""Sufficient statistics of additive regressions: every fit is linear algebra on one Gram matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ..ops.memory import require_memory

WORKSPACE = 2**23  # numbers held at once, 64 MiB
_ON_GPU = 16  # times as many there
_FEW = 2**16  # numbers that cost a CPU no more than a batch by itself


@dataclass(frozen=True)
class Gram:
    r"""Inner products of all features of all variables, and of features with the variables.

    .. math:: G = \Phi^\top \Phi, \qquad c_v = \Phi^\top x_v, \qquad t_v = x_v^\top x_v

    Attributes:
        features: (n, k, n, k) :math:`G`.
        cross: (n, k, n) :math:`c`, the child last.
        n_rows: Also :math:`t` of every variable.
    """

    features: Tensor
    cross: Tensor
    n_rows: int

    def normal_equations(
        self,
        child: Tensor,  # (b,)
        index: Tensor,  # (b, p) parents
    ) -> tuple[Tensor, Tensor]:  # (b, pk, pk), (b, pk)
        """Gram matrix of the parents' features, and their products with the child."""
        block = self.features[index[:, :, None], :, index[:, None, :], :]
        matrix = block.transpose(2, 3).flatten(3, 4).flatten(1, 2)
        return matrix, self.cross[index, :, child[:, None]].flatten(1)


def gram(features: Tensor, x: Tensor) -> Gram:  # (rows, n, k), (rows, n)
    """Moments of features and variables; both are centred, and ``x`` is scaled to unit variance."""
    rows, n, k = features.shape
    require_memory(
        1.2 * x.element_size() * (n * k) * (n * k + n),
        what=f"Comparing {n} columns",
        way_out="use fewer columns",
        device=str(x.device),
    )
    phi, y = (part - part.mean(0) for part in (features.reshape(rows, n * k), x))
    y = y / y.square().mean(0).sqrt().clamp_min(1e-12)
    return Gram((phi.T @ phi).reshape(n, k, n, k), (phi.T @ y).reshape(n, k, n), rows)


def equal_sets(
    parents: Tensor,  # (b, n) bool
    *,
    numbers: int,
) -> Iterator[tuple[Tensor, Tensor]]:
    """Split sets into batches of equal size: rows (c,) of ``parents`` and their members (c, p).

    Arguments:
        numbers: How many numbers are needed for each pair of parents of a set.
    """
    counts = parents.sum(-1)
    for size in counts.unique().tolist():
        rows = (counts == size).nonzero()[:, 0]
        step = max(1, WORKSPACE // (numbers * max(size, 1) ** 2))
        for part in rows.split(step):
            yield part, parents[part].nonzero()[:, 1].reshape(len(part), size)


def sets_for(
    parents: Tensor,  # (b, n) bool
    *,
    numbers: int,
    device: torch.device | str,
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The same with which members (c, p) there are, all but the rows being on a device.

    Sizes are mixed on a GPU, where a batch more costs as much as many sets more, and where all of
    them are few.
    """
    if not len(parents):
        return
    counts = parents.sum(-1)
    held = numbers * max(1, int(counts.max())) ** 2
    if torch.device(device).type == "cpu" and len(parents) * held > _FEW:
        for rows, index in equal_sets(parents, numbers=numbers):
            yield rows, index, torch.ones_like(index, dtype=torch.bool)
        return
    order = counts.argsort(stable=True)
    for rows in order.split(max(1, _ON_GPU * WORKSPACE // held)):
        index, there = padded_members(parents[rows])
        yield rows, index.to(device), there.to(device)


def padded_members(parents: Tensor) -> tuple[Tensor, Tensor]:  # (b, n) bool -> (b, w), (b, w)
    """Members of sets, padded to the widest, and which places hold one.

    Example:
        >>> padded_members(torch.tensor([[False, True, False], [True, False, True]]))[0].tolist()
        [[1, 0], [0, 2]]
    """
    count = parents.sum(-1)
    node = parents.nonzero()[:, 1]
    there = torch.arange(int(count.max())) < count.unsqueeze(-1)
    index = torch.zeros(there.shape, dtype=torch.long)
    index[there] = node
    return index, there
