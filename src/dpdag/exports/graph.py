"""What every export needs to know of a learned graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..ops.labels import label_texts


class Edge(NamedTuple):
    """One edge by the names of its ends; probabilities are None where only scores are known.

    Attributes:
        probability: That the edge exists and points this way.
        reverse_probability: That it points the other way.
        linked: That there is one at all.
    """

    source: Any
    target: Any
    score: float
    probability: float | None = None
    reverse_probability: float | None = None
    linked: float | None = None


@dataclass(frozen=True, eq=False)
class LearnedGraph:
    """A DAG with names and certainties; ``[i, j]`` is i → j.

    Arguments:
        names: One per node.
        adjacency: (n, n) 0/1, a DAG.
        scores: (n, n) larger = more certain.
        probabilities: (n, n), or None where the learner has only scores.
    """

    names: list[Any]
    adjacency: NDArray[np.int64]
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64] | None = None

    def in_text(self) -> LearnedGraph:
        """The same graph with text for names, each its own, as files need them."""
        return replace(self, names=label_texts(self.names))

    def edges(self, *, learned: bool = True) -> Iterator[Edge]:
        """Edges, the most certain first; all pairs of nodes where ``learned`` is False.

        Of probabilities that are equal to three digits, scores decide.
        """
        wanted = self.adjacency != 0 if learned else ~np.eye(len(self.names), dtype=bool)
        strengths = self.scores if self.probabilities is None else self.probabilities
        pairs = np.argwhere(wanted)
        certain_first = np.lexsort((-self.scores[wanted], -strengths[wanted].round(3)))
        for i, j in pairs[certain_first].tolist():
            known: tuple[float, ...] = ()
            if self.probabilities is not None:
                there, back = float(self.probabilities[i, j]), float(self.probabilities[j, i])
                known = (there, back, there + back)
            yield Edge(self.names[i], self.names[j], float(self.scores[i, j]), *known)
