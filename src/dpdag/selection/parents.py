"""Preliminary neighbour selection (PNS): for every node, the nodes worth considering as parents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..evidence.additive import AdditiveEvidence
from ..ops.columns import standardised
from ..registry import Registry
from ..seeding import derive_seed, numpy_generator

Mask = NDArray[np.bool_]
METHODS = Registry[Callable[..., Mask]]("neighbour selection")


def neighbours(
    X: Any,
    method: str = "trees",
    *,
    max_neighbours: int | None = None,
    threshold: float = 0.75,
    n_trees: int = 500,
    random_state: Any = None,
) -> Mask:  # (rows, n) -> (n, n)
    r"""A mask of possible edges: entry (i, j) is true when i helps to predict j.

    Arguments:
        X: (rows, n) observations.
        method: "trees", as in GraN-DAG: importance in extremely randomised trees, kept where it is
            at least ``threshold`` times the mean; or "additive": forward selection of smooth
            functions while the evidence grows, which takes seconds.
        max_neighbours: At most so many possible parents per node; by default 20.
        threshold, n_trees, random_state: For "trees".

    References:
        Bühlmann, Peters & Ernest, *CAM: causal additive models*, 2014.
        Lachapelle et al., *Gradient-based neural DAG learning*, 2020, appendix A.1.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> a, b, e = rng.normal(size=(3, 200))
        >>> X = np.stack([a, np.sin(2 * a) + 0.1 * e, b], axis=1)
        >>> neighbours(X, "additive").astype(int).tolist()
        [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    """
    select, values = METHODS[method], standardised(X)
    most = 20 if max_neighbours is None else max_neighbours
    if most < 1:
        raise ValueError(f"'max_neighbours' must be at least 1; got {max_neighbours}.")
    return select(values, most, threshold=threshold, n_trees=n_trees, random_state=random_state)


@METHODS.register("trees")
def _by_trees(values: Any, most: int, *, threshold: float, n_trees: int, random_state: Any) -> Mask:
    from sklearn.ensemble import ExtraTreesRegressor

    n = values.shape[1]
    seed = derive_seed(numpy_generator(random_state, "neighbours").integers(2**31))
    importance = np.zeros((n, n))
    for node in range(n):
        others = np.delete(np.arange(n), node)
        forest = ExtraTreesRegressor(n_trees, random_state=derive_seed(seed, node) % 2**32)
        forest.fit(values[:, others], values[:, node])
        importance[others, node] = forest.feature_importances_
    # The mean is over all n columns, the node itself with importance zero, as in GraN-DAG.
    strong = importance >= threshold / n
    rank = (-importance).argsort(0, kind="stable").argsort(0, kind="stable")
    return strong & (rank < most) & (importance > 0)


@METHODS.register("additive")
def _by_evidence(values: Any, most: int, **unused: Any) -> Mask:
    evidence = AdditiveEvidence(torch.from_numpy(values), n_functions=6)
    n = evidence.n_nodes
    child = torch.arange(n)
    chosen = torch.zeros(n, n, dtype=torch.bool)  # (child, parent)
    value = evidence.log_evidence(child, chosen)
    growing = child
    for _ in range(min(most, n - 1)):
        possible = ~chosen[growing] & (child != growing[:, None])
        extended = evidence.toggles(growing, chosen[growing], possible)
        best, parent = extended.nan_to_num(nan=-torch.inf).max(-1)
        better = best > value[growing]
        growing, parent = growing[better], parent[better]
        if not len(growing):
            break
        chosen[growing, parent] = True
        value[growing] = best[better]
    return chosen.T.numpy()
