"""The one signature of trainable mechanisms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from torch import Tensor, nn

from ..registry import Registry


class Mechanism(nn.Module, ABC):
    r"""Functions :math:`\hat x_j = f_j(A_{\cdot j} \circ x)` for all nodes j and all replicas.

    Values are laid out (replica, node, row): nodes are the rows of every matrix product, so that
    no layer needs a transposition. A subclass implements :meth:`forward` and :meth:`freeze`.
    """

    @abstractmethod
    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:  # (r, n, b), (r, n, n) -> (r, n, b)
        """Predict every node from the parents that ``adjacency`` leaves it."""

    @abstractmethod
    def freeze(self, adjacency: Tensor) -> Callable[[Tensor], Tensor]:  # (n, n) bool
        """The first replica's functions on a given graph, (rows, n) -> (rows, n), as plain data."""


MECHANISMS: Registry[type[Mechanism]] = Registry("mechanism")
