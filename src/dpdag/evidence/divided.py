"""Evidence of rows under intervention: of every column on the rows in which it was not set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

from ..columns import standardise
from ..ops.rows import row_groups
from .additive import AdditiveEvidence
from .base import Evidence
from .interactions import ClearPairs
from .mixture import MixtureEvidence, Weights

Part = TypeVar("Part", bound=Evidence)


class DividedEvidence(Evidence):
    r"""Evidence of every child by a part of its own, that on the rows in which it was not set.

    .. math:: \log p(x_v \mid x_S) = \log p\big((x_v)_R \mid (x_S)_R\big), \qquad
        R = \{r : x_{rv} \text{ was not set}\}

    A value that was set says nothing of its column's causes; as a cause it counts as it is.

    Arguments:
        parts: Evidences of all columns on different rows.
        part_of: (n,) which of them each child has.
    """

    def __init__(self, parts: Sequence[Evidence], part_of: Tensor) -> None:
        self.parts, self.part_of = parts, part_of
        self.n_nodes = len(part_of)

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        return _each(self.parts, self.part_of, "log_evidence", child, parents)

    def toggles(self, child: Tensor, parents: Tensor, which: Tensor) -> Tensor:  # -> (b, n)
        return _each(self.parts, self.part_of, "toggles", child, parents, which)


class DividedMixture(MixtureEvidence):
    """The same of mixtures of all families: what searches and fits of functions ask for.

    Arguments:
        parts: Mixtures of the same families on different rows.
        part_of: (n,) which of them each child has.
    """

    def __init__(self, parts: Sequence[MixtureEvidence], part_of: Tensor) -> None:
        self.parts, self.part_of = parts, part_of
        largest = max(parts, key=lambda part: part.n_rows)
        self.n_nodes, self.n_rows = len(part_of), largest.n_rows
        self.table, self.functions = largest.table, largest.functions
        self.deadline = largest.deadline
        self.processes, self.lookahead = largest.processes, largest.lookahead
        self.sees_pairs = largest.sees_pairs
        self.lines: Any = DividedEvidence([part.lines for part in parts], part_of)
        own = torch.arange(self.n_nodes)
        self._roots = torch.stack([part._roots for part in parts])[part_of, own]

    def part(self, child: int) -> MixtureEvidence:
        return self.parts[int(self.part_of[child])]

    def terms(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, f, k)
        return _each(self.parts, self.part_of, "terms", child, parents)

    def misfits(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, n)
        return _each(self.parts, self.part_of, "misfits", child, parents)

    def reach(
        self, child: Tensor, parents: Tensor, target: Tensor, afresh: Tensor | None = None
    ) -> Tensor:
        afresh = torch.zeros_like(child).bool() if afresh is None else afresh
        return _each(self.parts, self.part_of, "reach", child, parents, target, afresh)

    def screens(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b, n)
        return _each(self.parts, self.part_of, "screens", child, parents)

    def probes(self, child: Tensor, parents: Tensor) -> Tensor | None:  # (b,), (b, n) -> (b, n)
        return _each(self.parts, self.part_of, "probes", child, parents) if self.processes else None

    def joint_screens(
        self, child: Tensor, parents: Tensor
    ) -> Tensor | None:  # (b,), (b, n) -> (b, n)
        own = self.part_of, "joint_screens", child, parents
        return _each(self.parts, *own) if self.processes else None

    def pair_probes(
        self, child: Tensor, parents: Tensor, least: float, like: Tensor | None = None
    ) -> ClearPairs:
        like = parents if like is None else like
        which = self.part_of[child]
        rows = [(which == k).nonzero()[:, 0] for k in which.unique().tolist()]
        parts = [self.part(int(child[own[0]])) for own in rows]
        return ClearPairs.merged(
            [
                (own, part.pair_probes(child[own], parents[own], least, like[own]))
                for own, part in zip(rows, parts)
            ]
        )

    def weights(self, child: int, parents: Tensor) -> Weights:  # (n,) bool
        return self.part(child).weights(child, parents)

    def without_processes(self) -> MixtureEvidence | None:
        parts = [part.without_processes() for part in self.parts]
        if not self.processes and parts[0] is not None:
            return self
        cheap = [part for part in parts if part is not None]
        return DividedMixture(cheap, self.part_of) if cheap else None

    def by_curves(self) -> MixtureEvidence:
        return DividedMixture([part.by_curves() for part in self.parts], self.part_of)

    def relabelled(self, order: Tensor) -> MixtureEvidence:  # (n,)
        return DividedMixture([part.relabelled(order) for part in self.parts], self.part_of[order])


def divided(was_set: Tensor, make: Callable[[Tensor], Evidence]) -> Evidence:  # (rows, n) bool
    """The evidence that ``make`` gives of the numbers of some rows, for every column of its own.

    Example:
        >>> from .linear import LinearEvidence
        >>> x = torch.randn(60, 2, generator=torch.Generator().manual_seed(0)).double()
        >>> was_set = torch.zeros(60, 2).bool()
        >>> was_set[:20, 1] = True
        >>> own = divided(was_set, lambda rows: LinearEvidence(x[rows]))
        >>> asked = torch.tensor([1]), torch.tensor([[True, False]])
        >>> bool(own.log_evidence(*asked) == LinearEvidence(x[20:]).log_evidence(*asked))
        True
    """
    parts, part_of = _divide(was_set, make)
    return parts[0] if len(parts) == 1 else DividedEvidence(parts, part_of)


def divided_mixture(
    was_set: Tensor, make: Callable[[Tensor], MixtureEvidence]
) -> MixtureEvidence:  # (rows, n) bool
    """The same of mixtures."""
    parts, part_of = _divide(was_set, make)
    return parts[0] if len(parts) == 1 else DividedMixture(parts, part_of)


def divided_sums(
    x: Tensor,  # (rows, n) standardised
    was_set: Tensor,  # (rows, n) bool
    **options: Any,
) -> Evidence:
    """Sums of curves, :class:`AdditiveEvidence`, on the rows of each column."""
    return divided(was_set, lambda rows: AdditiveEvidence(standardise(x[rows])[0], **options))


def _divide(was_set: Tensor, make: Callable[[Tensor], Part]) -> tuple[list[Part], Tensor]:
    groups = row_groups(was_set)
    part_of = torch.empty(was_set.shape[1], dtype=torch.long)
    for k, group in enumerate(groups):
        part_of[group.columns] = k
    return [make(group.rows) for group in groups], part_of


def _each(
    parts: Sequence[Evidence], part_of: Tensor, method: str, child: Tensor, *given: Tensor
) -> Tensor:  # (n,), (b,), (b, ...) -> (b, ...)
    """What a method of every child's own part answers."""
    which = part_of[child]
    answers = [
        (rows, getattr(parts[k], method)(child[rows], *(part[rows] for part in given)))
        for k in which.unique().tolist()
        for rows in [(which == k).nonzero()[:, 0]]
    ]
    if not answers:
        return torch.as_tensor(getattr(parts[0], method)(child, *given))
    value = answers[0][1].new_empty(len(child), *answers[0][1].shape[1:])
    for rows, answer in answers:
        value[rows] = answer
    return value
