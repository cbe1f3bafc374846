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

    def __init__(self, parts: Sequence[Any], part_of: Tensor) -> None:
        self.parts, self.part_of = parts, part_of
        self.n_nodes = len(part_of)

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b,)
        return self._each("log_evidence", child, parents)

    def toggles(self, child: Tensor, parents: Tensor, which: Tensor) -> Tensor:  # -> (b, n)
        return self._each("toggles", child, parents, which)

    def _each(self, method: str, child: Tensor, *given: Tensor | None) -> Any:  # (b,), (b, ...)
        """What a method of every child's own part answers, (b, ...) or None."""
        value = None
        for k, rows in self._rows(child):
            own = (part if part is None else part[rows] for part in given)
            answer = getattr(self.parts[k], method)(child[rows], *own)
            if answer is None:
                return None
            if value is None:
                value = answer.new_empty(len(child), *answer.shape[1:])
            value[rows] = answer
        return value

    def _rows(self, child: Tensor) -> list[tuple[int, Tensor]]:  # (b,)
        """Parts and whom they are asked of."""
        which = self.part_of[child]
        return [(k, (which == k).nonzero()[:, 0]) for k in which.unique().tolist() or [0]]


class DividedMixture(DividedEvidence, MixtureEvidence):
    """The same of mixtures of the same families: what searches and fits of functions ask for."""

    def __init__(self, parts: Sequence[MixtureEvidence], part_of: Tensor) -> None:
        DividedEvidence.__init__(self, parts, part_of)
        largest = max(parts, key=lambda part: part.n_rows)
        self.n_rows, self.deadline = largest.n_rows, largest.deadline
        self.table, self.functions = largest.table, largest.functions
        self.processes, self.lookahead = largest.processes, largest.lookahead
        self.sees_pairs = largest.sees_pairs
        self.lines = DividedEvidence([part.lines for part in parts], part_of)
        own = torch.arange(self.n_nodes)
        self._roots = torch.stack([part._roots for part in parts])[part_of, own]

    def part(self, child: int) -> MixtureEvidence:
        return self.parts[int(self.part_of[child])]

    def terms(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, f, k)
        return self._each("terms", child, parents)

    def misfits(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) -> (b, n)
        return self._each("misfits", child, parents)

    def reach(
        self, child: Tensor, parents: Tensor, target: Tensor, afresh: Tensor | None = None
    ) -> Tensor:
        return self._each("reach", child, parents, target, afresh)

    def screens(self, child: Tensor, parents: Tensor) -> Tensor:  # (b,), (b, n) bool -> (b, n)
        return self._each("screens", child, parents)

    def probes(self, child: Tensor, parents: Tensor) -> Tensor | None:  # (b,), (b, n) -> (b, n)
        return self._each("probes", child, parents)

    def joint_screens(self, child: Tensor, parents: Tensor) -> Tensor | None:  # -> (b, n)
        return self._each("joint_screens", child, parents)

    def pair_probes(self, child: Tensor, parents: Tensor, least: float, like: Tensor) -> ClearPairs:
        return ClearPairs.merged(
            [
                (rows, self.parts[k].pair_probes(child[rows], parents[rows], least, like[rows]))
                for k, rows in self._rows(child)
            ]
        )

    def weights(self, child: int, parents: Tensor) -> Weights:  # (n,) bool
        return self.part(child).weights(child, parents)

    def relabelled(self, order: Tensor) -> MixtureEvidence:  # (n,)
        return DividedMixture([part.relabelled(order) for part in self.parts], self.part_of[order])

    def _alike(
        self, functions: Sequence[str], order: Tensor | slice, **more: Any
    ) -> MixtureEvidence:
        parts = [part._alike(functions, order, **more) for part in self.parts]
        return DividedMixture(parts, self.part_of[order])


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
    return _divided(was_set, make, DividedEvidence)


def divided_mixture(
    was_set: Tensor, make: Callable[[Tensor], MixtureEvidence]
) -> MixtureEvidence:  # (rows, n) bool
    """The same of mixtures."""
    return _divided(was_set, make, DividedMixture)


def divided_sums(
    x: Tensor,  # (rows, n) standardised
    was_set: Tensor,  # (rows, n) bool
    **options: Any,
) -> Evidence:
    """Sums of curves, :class:`AdditiveEvidence`, on the rows of each column."""
    return divided(was_set, lambda rows: AdditiveEvidence(standardise(x[rows])[0], **options))


def _divided(
    was_set: Tensor,  # (rows, n) bool
    make: Callable[[Tensor], Part],
    together: Callable[[Sequence[Part], Tensor], Part],
) -> Part:
    groups = row_groups(was_set)
    parts = [make(group.rows) for group in groups]
    if len(parts) == 1:
        return parts[0]
    part_of = torch.empty(was_set.shape[1], dtype=torch.long)
    for k, group in enumerate(groups):
        part_of[group.columns] = k
    return together(parts, part_of)
