"""Columns that arithmetic ties together: a total and its parts, shares of a whole, classes."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor

# Nats a row by which columns are known from others when that is arithmetic rather than nature: what
# is left of a column has e^-5 of its spread.
EXACT = 5.0

_ROUNDING = 1e-12  # of a column's variance, in floating point
_TOGETHER = 0.1  # partial correlation of two columns of one relation; one, where there is no other
_MEMBERS = 5  # rows of every class, fewer may lie in order by chance
_CLASSES = 50  # of a column, at most
_LOOK = 100  # rows of a first look


class Relations(NamedTuple):
    """Groups of columns, each tied by exact linear relations.

    Attributes:
        groups: Columns of each.
        linked: (n, n) in (0, 1] for two columns of one group, the share of pairs of which one was
            computed from the other; zero for all other pairs.
    """

    groups: list[list[int]]
    linked: Tensor


def exact_relations(x: Tensor) -> Relations:  # (rows, n)
    r"""Which columns are exact linear functions of others.

    Of k columns with r relations among them, r were computed from the rest, and nothing in the
    table tells which. Two that were not computed are linked by nothing that the relation shows, so
    of a group

    .. math:: 1 - \binom{k - r}{2} \Big/ \binom{k}{2}

    of the pairs are linked: all where a column is a copy of another one, two thirds among a total
    and its two parts, a fifth among ten shares of a whole.

    Example:
        >>> parts = torch.rand(200, 3, generator=torch.Generator().manual_seed(0)).double()
        >>> found = exact_relations(torch.cat([parts, parts[:, :2].sum(1, keepdim=True)], 1))
        >>> found.groups, round(float(found.linked[0, 3]), 2), float(found.linked[2, 3])
        ([[0, 1, 3]], 0.67, 0.0)
    """
    rows, n = x.shape
    centred = x.double() - x.double().mean(0)
    size = centred.square().mean(0).sqrt()
    z = centred[:, size > 0] / size[size > 0]
    linked = torch.zeros(n, n, dtype=torch.float64)
    groups: list[list[int]] = []
    if rows <= n + 1 or not z.shape[1]:  # any column is known from as many others as rows
        return Relations(groups, linked)
    values, vectors = torch.linalg.eigh(z.T @ z / (rows - n))
    exact = values < math.exp(-2 * EXACT)
    if not bool(exact.any()):
        return Relations(groups, linked)
    tied = vectors[:, exact] / values[exact].clamp_min(_ROUNDING).sqrt()  # (m, r)
    precision = tied @ tied.T
    unexplained = precision.diagonal().clamp_min(_ROUNDING).reciprocal()
    own = unexplained < math.exp(-2 * EXACT)
    near = precision.square() * unexplained * unexplained[:, None] > _TOGETHER**2
    near &= own & own[:, None]
    columns = torch.arange(n)[size > 0]
    projection = vectors[:, exact] @ vectors[:, exact].T
    label = torch.from_numpy(connected_components(near.numpy())[1])
    for one in label[own].unique().tolist():
        group = label == one
        count, relations = int(group.sum()), float(projection.diagonal()[group].sum())
        rest = count - max(1, round(relations))
        share = 1 - rest * (rest - 1) / (count * (count - 1)) if count > 1 else 0.0
        members = columns[group]
        linked[members[:, None], members] = share
        groups.append(members.tolist())
    return Relations(groups, linked.fill_diagonal_(0.0))


def classes(x: Tensor) -> Tensor:  # (rows, n) -> (n, n) bool
    r"""Whether column j is column i cut into classes: a stage, an age group, a grade.

    .. math:: x_{rj} = c \bigl(\#\{t \in T : t \le x_{ri}\}\bigr)

    What such a column adds to the other one is nothing but where it was cut, which no density of
    either holds, and directions beside it turn as that makes them.

    Example:
        >>> age = torch.rand(200, generator=torch.Generator().manual_seed(0)) * 60 + 20
        >>> table = torch.stack([age, (age / 20).floor(), age.flip(0)], -1)
        >>> classes(table).nonzero().tolist()
        [[0, 1]]
    """
    found = torch.zeros(x.shape[1], x.shape[1], dtype=torch.bool)
    codes = [column.unique(return_inverse=True, return_counts=True)[1:] for column in x.T]
    level, counts = torch.stack([one for one, _ in codes]), [own for _, own in codes]
    values = torch.tensor([len(own) for own in counts])
    smallest = torch.tensor([int(own.min()) for own in counts])
    some = level[:, :: max(1, len(x) // _LOOK)]  # rows that tell most pairs apart
    for j in ((smallest >= _MEMBERS) & (values > 1) & (values <= _CLASSES)).nonzero()[:, 0]:
        finer = (values > values[j]).nonzero()[:, 0]
        finer = finer[_changes(some[finer], some[j]) < values[j]]
        found[finer, j] = _changes(level[finer], level[j]) == values[j] - 1
    return found


def _changes(fine: Tensor, coarse: Tensor) -> Tensor:  # (m, N), (N,) -> (m,)
    """How often the one column changes along the order of others."""
    order = (fine * (int(coarse.max()) + 1) + coarse).argsort(-1)
    return (coarse[order].diff(dim=-1) != 0).sum(-1)
