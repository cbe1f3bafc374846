"""Cells that are not done yet, in batches, through an engine, into a store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from .cell import Cell
from .store import Outcome, Store
from .work import failure

Batch = Sequence[Cell]


class Engine(Protocol):
    """Where cells run."""

    def __call__(
        self, work: Sequence[Batch], /
    ) -> Iterator[tuple[Batch, list[Outcome] | Exception]]:
        """Run batches in any order; give each back with its outcomes, or why there are none."""


def missing(
    cells: Iterable[Cell], store: Store, *, alone: bool = False, retry: bool = False
) -> list[Cell]:
    """Cells without an outcome, each once.

    Arguments:
        alone: Outcomes of batches do not count.
        retry: Errors do not count.
    """
    known = store.outcomes()
    by_identity = {cell.identity: cell for cell in cells}

    def done(identity: str) -> bool:
        outcome = known.get(identity)
        if outcome is None or (alone and outcome.batch > 1):
            return False
        return not (retry and outcome.error)

    return [cell for identity, cell in by_identity.items() if not done(identity)]


def batches(cells: Sequence[Cell], size: int) -> list[Batch]:
    """At most ``size`` cells of one method and one source together, where the learner can."""
    groups: dict[tuple[str, str, bool], list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[cell.method.name, cell.source.name, cell.held_out].append(cell)
    found: list[Batch] = []
    for group in groups.values():
        together = size if _has_companions(group[0]) else 1
        found += [group[start : start + together] for start in range(0, len(group), together)]
    return found


def run(
    work: Sequence[Batch],
    store: Store,
    engine: Engine,
    *,
    tell: Callable[[Outcome], None] = lambda outcome: None,
) -> None:
    """Run batches and append every outcome as it comes; ``tell`` hears of each.

    The cells of a batch that failed as a whole are run again one by one.
    """
    if not work:
        return
    failed: list[Batch] = []
    for batch, outcomes in engine(work):
        if isinstance(outcomes, Exception):
            if len(batch) > 1:
                failed += [[cell] for cell in batch]
                continue
            outcomes = [failure(batch[0], outcomes)]
        for outcome in outcomes:
            store.append(outcome)
            tell(outcome)
    run(failed, store, engine, tell=tell)


def _has_companions(cell: Cell) -> bool:
    companions = getattr(cell.method.build(), "_companions", None)
    return companions is not None and companions() is not None
