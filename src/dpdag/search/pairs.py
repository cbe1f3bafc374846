"""Few of the many pairs of nodes, so that a step of a search need not look at all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Pairs"]


@dataclass(frozen=True)
class Pairs:
    """Pairs i → j of n nodes, in the order of the rows of a matrix.

    Attributes:
        index: (m,) i n + j, ascending.
        n: Nodes.

    Example:
        >>> pairs = Pairs.of(np.array([[False, True], [True, False]]))
        >>> pairs.edges(), pairs.read(np.array([[0, 1], [2, 3]]))
        ([(0, 1), (1, 0)], array([1, 2]))
    """

    index: np.ndarray
    n: int

    @classmethod
    def of(cls, mask: np.ndarray) -> Pairs:  # (n, n) bool
        """Those that are marked."""
        return cls(np.flatnonzero(mask), len(mask))

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, which: np.ndarray) -> Pairs:  # (m,) bool or (k,)
        return Pairs(self.index[which], self.n)

    @property
    def source(self) -> np.ndarray:  # (m,)
        return self.index // self.n

    @property
    def child(self) -> np.ndarray:  # (m,)
        return self.index % self.n

    def read(self, matrix: np.ndarray) -> np.ndarray:  # (n, n) -> (m,)
        """The entries of a matrix."""
        return matrix.reshape(-1)[self.index]

    def edge(self, k: int) -> tuple[int, int]:
        """One of them."""
        return divmod(int(self.index[k]), self.n)

    def edges(self) -> list[tuple[int, int]]:
        """All of them."""
        return list(zip(self.source.tolist(), self.child.tolist()))
