"""Random graphs are DAGs with the stated distributions."""

import hashlib
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdag.datasets import GRAPHS, bipartite, erdos_renyi, scale_free, small_world
from dpdag.ops.graphs import is_acyclic

FAMILIES = list(GRAPHS)


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=30, deadline=None)
@given(n=st.integers(2, 12), density=st.floats(0, 1), seed=st.integers(0, 2**32))
def test_graphs_are_dags_of_zeros_and_ones(family, n, density, seed):
    most = (n - 1) if family == "BP" else n * (n - 1) // 2
    graph = GRAPHS[family](n, density * most, random_state=seed)
    assert graph.shape == (n, n)
    assert set(np.unique(graph)) <= {0, 1}
    assert bool(is_acyclic(torch.from_numpy(graph)))


@pytest.mark.parametrize("family", FAMILIES)
def test_same_seed_same_graph_and_other_seed_other_graph(family):
    first, again, other = (GRAPHS[family](20, 30, random_state=seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.parametrize(
    ("family", "digest"),
    [
        ("ER", "750f193a168dcd99"),
        ("SF", "6f46edab084fb6c5"),
        ("BP", "65d9e5df77ce06df"),
        ("WS", "60297a5264bfabcf"),
    ],
)
def test_a_seed_means_the_same_graph_on_every_machine(family, digest):
    graph = GRAPHS[family](30, 60, random_state=7).astype("<i1")
    assert hashlib.sha256(graph.tobytes()).hexdigest()[:16] == digest


@pytest.mark.parametrize("family", FAMILIES)
def test_the_callers_random_state_is_untouched(family):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    GRAPHS[family](10, 10, random_state=0)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_erdos_renyi_has_every_ordered_pair_equally_often():
    n, m, draws = 5, 4, 4000
    total = sum(erdos_renyi(n, m, random_state=seed) for seed in range(draws))
    p = m / (n * (n - 1))  # half of the pair's probability: either direction
    z = (total[~np.eye(n, dtype=bool)] - draws * p) / np.sqrt(draws * p * (1 - p))
    assert np.abs(z).max() < 4.5
    assert 1.5 > z.std() > 0.5


def test_erdos_renyi_edge_count_is_binomial():
    counts = np.array([erdos_renyi(10, 40, random_state=seed).sum() for seed in range(2000)])
    assert counts.mean() == pytest.approx(40, abs=4 * np.sqrt(40 * (1 - 40 / 45) / 2000))
    assert counts.var() == pytest.approx(40 * (1 - 40 / 45), rel=0.15)


def test_scale_free_edges_point_into_hubs():
    graphs = [scale_free(50, 200, random_state=seed) for seed in range(20)]
    assert all(graph.sum() == 4 * 50 - 4 * 5 // 2 for graph in graphs)
    assert all(graph.sum(1).max() == 4 for graph in graphs)  # out-degrees are bounded
    assert np.mean([graph.sum(0).max() for graph in graphs]) > 12  # in-degrees are not


def test_scale_free_attachment_probabilities():
    # n = 3, k = 1: the third node joins the first (which has one parent) with weight 2 of 3.
    stars = np.mean([scale_free(3, 3, random_state=s).sum(0).max() == 2 for s in range(3000)])
    assert stars == pytest.approx(2 / 3, abs=4 * np.sqrt(2 / 9 / 3000))


def _in_degrees(parents: tuple[int, ...], new: int, n: int, k: int) -> dict:
    """Exact distribution of sorted in-degrees, by enumeration of all draws."""
    if new == n:
        return {tuple(sorted(parents)): 1.0}
    result: dict = {}
    for chosen in permutations(range(new), min(k, new)):
        weight, left, grown = 1.0, sum(1 + d for d in parents[:new]), list(parents)
        for node in chosen:
            weight *= (1 + parents[node]) / left
            left -= 1 + parents[node]
            grown[node] += 1
        for degrees, p in _in_degrees(tuple(grown), new + 1, n, k).items():
            result[degrees] = result.get(degrees, 0.0) + weight * p
    return result


@pytest.mark.parametrize(("n", "k"), [(5, 1), (5, 2)])
def test_scale_free_in_degrees_have_the_enumerated_distribution(n, k):
    exact = _in_degrees((0,) * n, 1, n, k)
    assert sum(exact.values()) == pytest.approx(1)
    draws = 3000
    seen = Counter(
        tuple(sorted(scale_free(n, k * n, random_state=s).sum(0).tolist())) for s in range(draws)
    )
    assert set(seen) <= set(exact)
    for degrees, p in exact.items():
        assert seen[degrees] == pytest.approx(draws * p, abs=4.5 * np.sqrt(draws * p) + 1)


def test_scale_free_with_fractional_ratio_has_about_the_edges_asked_for():
    counts = [scale_free(100, 30, random_state=seed).sum() for seed in range(200)]
    assert np.mean(counts) == pytest.approx(30 * 0.99, rel=0.05)


def test_bipartite_has_causes_and_effects_only():
    graph = bipartite(30, 60, causes=0.3, random_state=0)
    assert not ((graph.sum(0) > 0) & (graph.sum(1) > 0)).any()
    assert (graph.sum(1) > 0).sum() <= 9
    counts = [bipartite(30, 60, random_state=seed).sum() for seed in range(300)]
    assert np.mean(counts) == pytest.approx(60, abs=4 * np.sqrt(60 * (1 - 60 / 144) / 300))


def test_small_world_without_rewiring_is_a_ring():
    graph = small_world(12, 24, rewiring=0.0, random_state=0)
    assert ((graph + graph.T).sum(0) == 4).all()
    joined = np.argwhere(graph)
    step = np.abs(joined[:, 0] - joined[:, 1])
    assert np.minimum(step, 12 - step).max() == 2


def test_small_world_keeps_the_number_of_edges_when_rewiring():
    for rewiring in (0.0, 0.3, 1.0):
        assert small_world(12, 23, rewiring=rewiring, random_state=0).sum() == 23


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("n", "m"), [(10, 46), (10, -1), (1, 0)])
def test_impossible_sizes_are_refused(family, n, m):
    with pytest.raises(ValueError, match=r"'n_(edges|nodes)' must be"):
        GRAPHS[family](n, m, random_state=0)


def test_bad_fractions_are_refused():
    with pytest.raises(ValueError, match=r"'causes' must be in \(0, 1\); got 1\."):
        bipartite(10, 5, causes=1.0)
    with pytest.raises(ValueError, match=r"'rewiring' must be in \[0, 1\]; got 2\."):
        small_world(10, 5, rewiring=2.0)
