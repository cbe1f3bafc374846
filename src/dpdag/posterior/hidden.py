r"""Columns that move together beyond what a graph explains: signs of causes that nobody measured.

Where a graph is right and no cause is hidden, what is left of one column has nothing to do with
what is left of another. A hidden cause of two columns shows where the search found no link that
could stand for it; most do get a link, and those are not seen here.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ..evidence.misfit import dependence
from ..evidence.mixture import MixtureEvidence

__all__ = ["MovingTogether", "moving_together"]

LEVEL = 0.01  # of tables without hidden causes, in which a pair may be named by chance
_DEGREE = 2  # of polynomials of ranks: higher ones saw fewer hidden causes


class MovingTogether(NamedTuple):
    """Two columns without a link, by number, and the nats by which they depend on each other."""

    source: int
    target: int
    nats: float


def moving_together(
    evidence: MixtureEvidence,
    graph: Tensor,  # (n, n) bool
    share: Tensor,  # (n, n)
    continuous: Tensor,  # (n,) bool
) -> list[MovingTogether]:
    r"""Pairs without a link whose residuals depend on each other, the clearest first.

    .. math:: P\Bigl(\chi^2_4 > N \sum_{k, l \le 2} \bigl(\tfrac1N \phi_k(u_i)^\top
        \phi_l(u_j)\bigr)^2\Bigr) < \frac{0.01}{\text{pairs}}

    with Legendre polynomials φ of the ranks of what is left of two columns.

    Arguments:
        evidence: That the graph was found with.
        share: Of the rows that count between two columns.
        continuous: Columns whose residuals mean something.
    """
    nats = torch.full(graph.shape, -torch.inf, dtype=torch.float64)
    parents = graph.T.contiguous()
    own = [id(evidence.part(v)) for v in range(len(graph))]
    for k in dict.fromkeys(own):  # columns read on the same rows
        columns = torch.tensor([v for v, one in enumerate(own) if one == k and continuous[v]])
        if len(columns) > 1:
            part = evidence.part(int(columns[0]))
            left = part.likely_residuals(columns, parents[columns])
            found = dependence(left, left.T, (_DEGREE, _DEGREE))
            nats[columns[:, None], columns] = (found + found.mT) / 2
    pairs = (~(graph | graph.mT) & nats.isfinite()).triu(1)
    half = 0.5 * _DEGREE**2
    counted = share * (nats + half)
    chance = torch.special.gammaincc(torch.full_like(counted, half), counted.clamp_min(0.0))
    named = (pairs & (chance * pairs.sum() < LEVEL)).nonzero().tolist()
    found_pairs = [MovingTogether(i, j, float(counted[i, j] - half)) for i, j in named]
    return sorted(found_pairs, key=lambda pair: -pair.nats)
