"""Pruning: is each parent's smooth term significant beside the other parents?"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats
from torch import Tensor

from ..evidence.gram import Gram, equal_sets, gram
from ..evidence.splines import fit_splines
from ..ops.columns import standardised
from ..ops.graphs import find_cycle

FUNCTIONS = 8  # per term where there are enough rows


def prune(
    X: Any, adjacency: Any, *, alpha: float = 0.001, keep: Any = None
) -> NDArray[np.int_]:  # (rows, n), (n, n) -> (n, n)
    r"""Drop the edges whose term is not significant at level ``alpha``, as CAM does.

    Arguments:
        X: (rows, n) observations.
        adjacency: (n, n) a DAG.
        alpha: Level of each test.
        keep: (n, n) edges that stay in any case.

    References:
        Bühlmann, Peters & Ernest, *CAM: causal additive models*, 2014, section 4.3.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> a, b, e = rng.normal(size=(3, 300))
        >>> X = np.stack([a, b, np.sin(2 * a) + 0.5 * e], axis=1)
        >>> prune(X, [[0, 0, 1], [0, 0, 1], [0, 0, 0]]).tolist()
        [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    """
    if not 0 < alpha <= 1:
        raise ValueError(f"'alpha' must be in (0, 1]; got {alpha!r}.")
    significant = edge_p_values(X, adjacency) <= alpha  # NaN compares false
    if keep is not None:
        significant |= (np.asarray(keep) != 0) & (np.asarray(adjacency) != 0)
    return significant.astype(int)


def edge_p_values(X: Any, adjacency: Any) -> NDArray[np.float64]:  # (rows, n), (n, n) -> (n, n)
    r"""The p-value of every edge, NaN where there is none.

    Each child is regressed on spline functions of its parents; for parent j with k functions

    .. math:: F = \frac{(R_{-j} - R) / k}{R / (N - 1 - \sum_i k_i)}

    compares the residual sums of squares with and without it, all from one factorisation. The
    splines are not penalised, so under Gaussian noise the level is exact; where rows are few,
    each term keeps only its smoothest functions.
    """
    values = torch.from_numpy(standardised(X))
    edges = _graph(adjacency, values.shape[1])
    rows = len(values)
    if (most := int(edges.sum(0).max())) > rows - 3:
        raise ValueError(f"'adjacency' has a node with {most} parents; {rows} rows are too few.")
    basis = fit_splines(values, n_functions=FUNCTIONS)
    moments = gram(basis(values), values)
    p_values = torch.full(edges.shape, torch.nan, dtype=torch.float64)
    for child, index in equal_sets(edges.T, numbers=FUNCTIONS**2):
        if (parents := index.shape[1]) == 0:
            continue
        size = max(1, min(FUNCTIONS, rows // (3 * parents)))
        p_values[index.T, child] = _f_tests(moments, basis.used, child, index, size).T
    return p_values.numpy()


def _f_tests(
    moments: Gram, used: Tensor, child: Tensor, index: Tensor, size: int
) -> Tensor:  # (n, k), (b,), (b, p) -> (b, p)
    """p-values of dropping each parent's term of ``size`` functions."""
    narrow = Gram(moments.features[:, :size, :, :size], moments.cross[:, :size], moments.n_rows)
    matrix, right = narrow.normal_equations(child, index)
    present = used[index, :size]  # (b, p, k)
    # Functions that do not exist get a one on the diagonal; the rest a touch against collinearity.
    ridge = torch.where(present, 1e-9 * moments.n_rows, 1.0).flatten(1)
    inverse = torch.linalg.inv(matrix + torch.diag_embed(ridge))
    coefficient = (inverse @ right.unsqueeze(-1)).squeeze(-1)
    residual = moments.n_rows - (coefficient * right).sum(-1)
    residual = residual.clamp_min(1e-12 * moments.n_rows)
    blocks = inverse.unflatten(1, present.shape[1:]).unflatten(3, present.shape[1:])
    own = blocks.diagonal(dim1=1, dim2=3).permute(0, 3, 1, 2)  # (b, p, k, k)
    term = coefficient.unflatten(1, present.shape[1:]).unsqueeze(-1)
    worth = (term.mT @ torch.linalg.solve(own, term)).flatten(2)[..., 0]
    freedom = present.sum(-1).double()
    left = moments.n_rows - 1 - freedom.sum(-1, keepdim=True)
    statistic = (worth / freedom) / (residual.unsqueeze(-1) / left)
    p_values = stats.f.sf(statistic.numpy(), freedom.numpy(), left.numpy())
    return torch.from_numpy(np.asarray(p_values))


def _graph(adjacency: Any, n: int) -> Tensor:  # -> (n, n) bool
    edges = torch.from_numpy(np.asarray(adjacency) != 0)
    if edges.shape != (n, n):
        raise ValueError(
            f"'adjacency' must be ({n}, {n}), as X has {n} columns; got {tuple(edges.shape)}."
        )
    if cycle := find_cycle(edges):
        raise ValueError(f"'adjacency' must be acyclic; it has the cycle {cycle}.")
    return edges
