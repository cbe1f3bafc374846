"""A learned graph beside the one that is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..metrics import edge_report, shd


class Comparison(NamedTuple):
    """How far a learned graph is the known one.

    Attributes:
        edges: Edges of the known graph.
        found: Of these, how many were learned.
        reversed: Of these, how many were learned the other way round.
        other: Learned edges that are none of them in either direction.
        shd: Edges to add, delete or reverse.
    """

    edges: int
    found: int
    reversed: int
    other: int
    shd: int

    @property
    def sentence(self) -> str:
        """The same for people."""
        return (
            f"of the {self.edges} edges of the reference graph {self.found} were found, "
            f"{self.reversed} reversed; {self.other} of the learned are not in it"
        )


def compare(learned: Any, truth: Any, names: Sequence[str] | None = None) -> Comparison:
    """Count what a learned graph shares with the known one.

    Arguments:
        learned: Directed graph.
        truth: The known DAG over the same nodes, aligned by name where it has names.
        names: Names of the nodes of matrices that have none.

    Example:
        >>> found = compare([[0, 1, 1], [0, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 0], [1, 0, 0]])
        >>> found.found, found.reversed, found.shd
        (1, 1, 1)
    """
    counts = edge_report(truth, learned, names=names)
    return Comparison(
        edges=counts.true_positives + counts.false_negatives,
        found=counts.true_positives,
        reversed=counts.reversed,
        other=counts.false_positives - counts.reversed,
        shd=shd(truth, learned, names=names),
    )
