"""Linear mechanisms on a given graph."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["LinearMechanisms", "fit_linear"]


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
    r"""Least squares of every node on its parents, all nodes as one batch.

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
    parents = adjacency.T  # (child, parent)
    both = parents.unsqueeze(-1) & parents.unsqueeze(-2)
    eye = torch.eye(len(gram), dtype=x.dtype)
    # Unit rows stand for nodes that are no parents and get no weight.
    matrix = torch.where(both, gram, 0.0) + torch.diag_embed((~parents).to(x.dtype)) + ridge * eye
    right = torch.where(parents, gram, 0.0)
    return LinearMechanisms(torch.linalg.solve(matrix, right.unsqueeze(-1))[..., 0].T)
