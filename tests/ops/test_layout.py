"""Drawings lead down, keep nodes apart and reduce crossings."""

import itertools

import numpy as np
import pytest

from dpdag.ops.layout import bends, layered


def random_dag(n: int, density: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    graph = np.zeros((n, n), dtype=int)
    graph[np.ix_(order, order)] = np.triu(rng.random((n, n)) < density, k=1)
    return graph, order


CASES = [(5, 0.5, 0), (12, 0.2, 1), (30, 0.1, 2), (30, 0.9, 3), (80, 0.03, 4), (6, 0.0, 5)]


@pytest.mark.parametrize("case", CASES)
def test_every_edge_leads_down(case: tuple[int, float, int]) -> None:
    graph, order = random_dag(*case)
    row = layered(graph, order)[:, 1]
    for i, j in np.argwhere(graph):
        assert row[i] < row[j]


@pytest.mark.parametrize("case", CASES)
def test_nodes_of_a_row_are_apart_and_few(case: tuple[int, float, int]) -> None:
    graph, order = random_dag(*case)
    places = layered(graph, order, width=7)
    assert np.isfinite(places).all()
    for row in np.unique(places[:, 1]):
        columns = np.sort(places[places[:, 1] == row, 0])
        assert len(columns) <= 7
        assert (np.diff(columns) >= 1 - 1e-9).all()


def test_nodes_without_edges_stand_below_all_others() -> None:
    graph = np.zeros((5, 5), dtype=int)
    graph[3, 1] = 1
    row = layered(graph, [0, 3, 1, 2, 4])[:, 1]
    assert min(row[[0, 2, 4]]) > max(row[[1, 3]])


def crossings(graph: np.ndarray, places: np.ndarray) -> int:
    """Pairs of edges between the same two rows that cross, counted one by one."""
    count = 0
    for (a, b), (c, d) in itertools.combinations(np.argwhere(graph).tolist(), 2):
        if places[a, 1] == places[c, 1] and places[b, 1] == places[d, 1]:
            count += (places[a, 0] - places[c, 0]) * (places[b, 0] - places[d, 0]) < 0
    return count


def test_a_tangled_matching_is_untangled() -> None:
    n = 6
    graph = np.zeros((2 * n, 2 * n), dtype=int)
    for k, partner in enumerate([3, 5, 0, 4, 1, 2]):
        graph[k, n + partner] = 1
    assert crossings(graph, layered(graph, range(2 * n), width=n)) == 0


def test_layout_does_not_depend_on_numbering_of_a_chain() -> None:
    graph = np.zeros((4, 4), dtype=int)
    for i, j in [(2, 0), (0, 3), (3, 1)]:
        graph[i, j] = 1
    places = layered(graph, [2, 0, 3, 1])
    assert places[[2, 0, 3, 1], 1].tolist() == [0, 1, 2, 3]
    assert np.ptp(places[:, 0]) == 0


def test_order_must_hold_each_node_once() -> None:
    with pytest.raises(ValueError, match="'order' must hold each of the 2 nodes once"):
        layered([[0, 1], [0, 0]], [0, 0])


def test_a_bow_passes_beside_the_node_in_between() -> None:
    points = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    ((bow, _),) = bends(points, [(0, 2)], radius=0.25)
    middle = np.array([0.0, 1.0]) + bow * np.array([-2.0, 0.0])
    assert abs(middle[0]) >= 0.25


def test_opposite_edges_do_not_cover_each_other() -> None:
    points = np.array([[0.0, 0.0], [0.0, 1.0]])
    there, back = bends(points, [(0, 1), (1, 0)], radius=0.1)
    assert there[0] != -back[0]
