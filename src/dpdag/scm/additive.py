"""Linear and additive mechanisms on a given graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..evidence.additive import AdditiveEvidence
from ..evidence.categories import FunctionBasis
from ..evidence.gram import equal_sets
from ..evidence.splines import SplineBasis

_RIDGE = 1e-6  # per row, for parents that are nearly the same


@dataclass(frozen=True)
class LinearMechanisms:
    r"""Every node as a weighted sum of its parents, :math:`f_j(x) = \sum_i w_{ij} x_i`.

    Arguments:
        weight: (n, n) zero where there is no edge.
    """

    weight: Tensor

    def __call__(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        return x @ self.weight


def fit_linear(x: Tensor, adjacency: Tensor) -> LinearMechanisms:
    r"""Least squares of every node on its parents.

    Arguments:
        x: (rows, n) standardised.
        adjacency: (n, n) bool.

    Example:
        >>> x = torch.tensor([[1.0, 2.0], [-1.0, -2.0]], dtype=torch.float64)
        >>> fit_linear(x, torch.tensor([[False, True], [False, False]])).weight.round().tolist()
        [[0.0, 2.0], [0.0, 0.0]]
    """
    gram = x.T @ x / len(x)
    weight = torch.zeros_like(gram)
    for child, index in equal_sets(adjacency.T, numbers=1):
        matrix = gram[index[:, :, None], index[:, None]]
        matrix = matrix + _RIDGE * torch.eye(index.shape[1], dtype=x.dtype)
        right = gram[index, child[:, None]].unsqueeze(-1)
        weight[index, child[:, None]] = torch.linalg.solve(matrix, right)[..., 0]
    return LinearMechanisms(weight)


@dataclass(frozen=True)
class AdditiveMechanisms:
    r"""Every node as a sum of functions of its parents, smooth ones of numbers, any of categories.

    .. math:: f_j(x) = \sum_{i \in \mathrm{pa}(j)} \sum_k w_{ikj}\, u_{ik}(x_i)

    Arguments:
        basis: The functions :math:`u` of standardised columns.
        weight: (n, k, n) parent, function, child; zero where there is no edge.
    """

    basis: FunctionBasis | SplineBasis
    weight: Tensor

    def __call__(self, x: Tensor) -> Tensor:  # (rows, n) -> (rows, n)
        return torch.einsum("rik,ikj->rj", self.basis(x), self.weight)


def fit_additive(
    x: Tensor,  # (rows, n) standardised
    adjacency: Tensor,  # (n, n) bool
    *,
    n_functions: int = 8,
    categories: Sequence[int] = (),
) -> AdditiveMechanisms:
    r"""Posterior mean functions given a graph, as smooth as the evidence of each node wants.

    Arguments:
        n_functions: Spline functions of every number; one is a straight line.
        categories: Columns whose functions are means of their values, shrunk towards zero.

    Example:
        >>> x = torch.linspace(-1.7, 1.7, 200, dtype=torch.float64)
        >>> x = torch.stack([x, (2 * x).sin() / 0.7], dim=1)
        >>> model = fit_additive(x, torch.tensor([[False, True], [False, False]]))
        >>> bool((model(x)[:, 1] - x[:, 1]).abs().max() < 0.05)
        True
    """
    evidence = AdditiveEvidence(x, n_functions=n_functions, categories=categories)
    n, size = evidence.n_nodes, evidence.basis.size
    precision = evidence.best(torch.arange(n), adjacency.T)
    weight = x.new_zeros(n, size, n)
    for child, index in equal_sets(adjacency.T, numbers=size**2):
        matrix, right = evidence.moments.normal_equations(child, index)
        own = precision[child[:, None], index].flatten(1)
        solved = torch.linalg.solve(matrix + torch.diag_embed(own), right.unsqueeze(-1))
        weight[index, :, child[:, None]] = solved[..., 0].unflatten(1, (index.shape[1], size))
    return AdditiveMechanisms(evidence.basis, weight)
