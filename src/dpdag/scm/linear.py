"""Linear mechanisms on a given graph."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..evidence.gram import equal_sets


@dataclass(frozen=True)
class LinearMechanisms:
    r"""Every node as a weighted sum of its parents, :math:`f_j(x) = \sum_i w_{ij} x_i`.

    Arguments:
        weight: (n, n) zero where there is no edge.
    """

    weight: Tensor

    def __call__(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        return x @ self.weight


def fit_linear(x: Tensor, adjacency: Tensor, *, ridge: float = 1e-6) -> LinearMechanisms:
    r"""Least squares of every node on its parents.

    Arguments:
        x: (rows, n) standardised.
        adjacency: (n, n) bool.
        ridge: Per row, for parents that are nearly the same.

    Example:
        >>> x = torch.tensor([[1.0, 2.0], [-1.0, -2.0]], dtype=torch.float64)
        >>> fit_linear(x, torch.tensor([[False, True], [False, False]])).weight.round().tolist()
        [[0.0, 2.0], [0.0, 0.0]]
    """
    gram = x.T @ x / len(x)
    weight = torch.zeros_like(gram)
    for child, index in equal_sets(adjacency.T, numbers=1):
        matrix = gram[index[:, :, None], index[:, None]]
        matrix = matrix + ridge * torch.eye(index.shape[1], dtype=x.dtype)
        right = gram[index, child[:, None]].unsqueeze(-1)
        weight[index, child[:, None]] = torch.linalg.solve(matrix, right)[..., 0]
    return LinearMechanisms(weight)
