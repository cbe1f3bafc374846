"""The cheapest edges between two nodes, against every set of edges there is."""

import math
from itertools import pairwise, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdag.search.cuts import Network
from dpdag.search.pairs import Pairs

Edge = tuple[int, int]


def network_of(capacity: np.ndarray) -> Network:  # (n, n)
    edges = Pairs.of(capacity > 0)
    return Network(edges, edges.read(capacity))


def connected(edges: set[Edge], source: int, target: int) -> bool:
    reached = {source}
    while more := {j for i, j in edges if i in reached} - reached:
        reached |= more
    return target in reached


def least(capacity: np.ndarray, source: int, target: int) -> float:
    """The least cost of a set of edges without which nothing leads from source to target."""
    edges = [(int(i), int(j)) for i, j in np.argwhere(capacity > 0)]
    costs = []
    for kept in product([False, True], repeat=len(edges)):
        left = {edge for edge, stays in zip(edges, kept) if stays}
        if not connected(left, source, target):
            costs.append(sum(capacity[edge] for edge in edges if edge not in left))
    return float(min(costs))


def random_dag(seed: int, *, fixed: float = 0.0) -> np.ndarray:  # (5, 5)
    rng = np.random.default_rng(seed)
    capacity = np.triu(rng.uniform(0.01, 5, (5, 5)) * (rng.random((5, 5)) < 0.8), 1)
    capacity[(capacity > 0) & (rng.random((5, 5)) < fixed)] = math.inf
    order = rng.permutation(5)
    return capacity[np.ix_(order, order)]


@pytest.mark.parametrize("fixed", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(12))
def test_cut_disconnects_at_the_least_cost(seed: int, fixed: float) -> None:
    capacity = random_dag(seed, fixed=fixed)
    order = [int(node) for node in np.argsort((capacity > 0).sum(0) - (capacity > 0).sum(1))]
    for source, target in ((order[0], order[-1]), (order[1], order[-1]), (order[-1], order[0])):
        network = network_of(capacity)
        cut = network.cut(source, target)
        assert cut is not None
        edges = {(int(i), int(j)) for i, j in np.argwhere(capacity > 0)}
        assert set(cut) <= edges
        assert not connected(edges - set(cut), source, target)
        cost = sum(capacity[edge] for edge in cut)
        assert cost == pytest.approx(least(capacity, source, target))
        assert network.cut(source, target, most=1.001 * cost + 1e-6) == cut
        if 0 < cost < math.inf:
            assert network.cut(source, target, most=0.999 * cost) is None


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 12), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.2, 0.7]))
def test_cut_of_any_graph_costs_what_another_algorithm_finds(
    n: int, seed: int, fixed: float
) -> None:
    rng = np.random.default_rng(seed)
    capacity = np.triu(rng.exponential(size=(n, n)) * (rng.random((n, n)) < 0.5), 1)
    capacity[(capacity > 0) & (rng.random((n, n)) < fixed)] = math.inf
    cut = set(network_of(capacity).cut(0, n - 1) or [])
    edges = {(int(i), int(j)) for i, j in np.argwhere(capacity > 0)}
    assert not connected(edges - cut, 0, n - 1)
    unavoidable = connected({edge for edge in edges if math.isinf(capacity[edge])}, 0, n - 1)
    assert any(math.isinf(capacity[edge]) for edge in cut) == unavoidable
    if not unavoidable:
        network = nx.DiGraph()
        network.add_nodes_from(range(n))
        network.add_edges_from((i, j, {"capacity": capacity[i, j]}) for i, j in edges)
        cost = sum(capacity[edge] for edge in cut)
        assert cost == pytest.approx(nx.minimum_cut_value(network, 0, n - 1))


def test_flow_is_sent_back_where_the_shortest_path_was_wrong() -> None:
    capacity = np.zeros((7, 7))
    for path in ((0, 1, 4, 6), (0, 2, 3, 4, 6), (0, 1, 5, 6)):
        for edge in pairwise(path):
            capacity[edge] = 1.0
    capacity[1, 5] = capacity[5, 6] = 0.3
    cut = network_of(capacity).cut(0, 6) or []
    assert sum(capacity[edge] for edge in cut) == pytest.approx(1.3)


def test_nothing_is_cut_where_nothing_leads_there() -> None:
    capacity = np.zeros((3, 3))
    capacity[1, 0] = capacity[1, 2] = 1.0
    assert network_of(capacity).cut(0, 2) == []


def test_edges_that_cost_nearly_nothing_are_still_edges() -> None:
    capacity = np.zeros((3, 3))
    capacity[0, 1], capacity[1, 2] = 1e-30, 1.0
    assert network_of(capacity).cut(0, 2) == [(0, 1)]
