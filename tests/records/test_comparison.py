"""Counts of edges beside a known graph."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from dpdag.records import Comparison, compare


def edges(graph: np.ndarray) -> set[tuple[int, int]]:
    return {(int(i), int(j)) for i, j in np.argwhere(graph)}


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_the_sets_of_edges(seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, two = (
        np.triu(rng.integers(2, size=(5, 5)), k=1)[np.ix_(p, p)]
        for p in (rng.permutation(5), rng.permutation(5))
    )
    learned, truth = edges(one), edges(two)
    turned = {(j, i) for i, j in truth}
    differing = {frozenset(edge) for edge in learned ^ truth}
    assert compare(one, two) == Comparison(
        edges=len(truth),
        found=len(learned & truth),
        reversed=len(learned & turned),
        other=len(learned - truth - turned),
        shd=len(differing),
    )


def test_named_graphs_are_aligned() -> None:
    learned = [[0, 1], [0, 0]]
    truth = pd.DataFrame([[0, 0], [1, 0]], index=["b", "a"], columns=["b", "a"])
    assert compare(learned, truth, ["a", "b"]).found == 1
    assert compare(learned, nx.DiGraph([("b", "a")]), ["a", "b"]).reversed == 1
    with pytest.raises(ValueError, match="only one of them has a, c"):
        compare(learned, nx.DiGraph([("b", "c")]), ["a", "b"])
