"""Steps of single edges, against steps that look at every pair of nodes."""

import math

import numpy as np
import pytest
import torch

from dpdag.distributions.knowledge import Knowledge
from dpdag.evidence.linear import LinearEvidence
from dpdag.evidence.screened import ExactScreen
from dpdag.ops.graphs import is_acyclic, reachability, topological_order
from dpdag.search.climb import Climb
from dpdag.search.cuts import least_tolls
from dpdag.search.edge_changes import change_edge
from dpdag.search.pairs import Pairs
from dpdag.search.prior import EdgePrior

N = 9


def climb_from(seed: int) -> Climb:
    """A random graph in the middle of a search."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(60, N)) @ (np.eye(N) + np.triu(rng.normal(size=(N, N)), 1))
    x = torch.from_numpy((mixed - mixed.mean(0)) / mixed.std(0))
    order = rng.permutation(N)
    graph = np.triu(rng.random((N, N)) < 0.3, 1)[np.ix_(order, order)]
    evidence = ExactScreen(LinearEvidence(x))
    constraints = Knowledge().resolve(N)
    return Climb(evidence, constraints, EdgePrior.priced(2.0), N, torch.from_numpy(graph))


def tolls_of_all(climb: Climb) -> np.ndarray:  # (n, n)
    """The widest paths and the short ways between all nodes, one node after the other."""
    loss = np.where(climb.edges, np.maximum(-climb.change - climb.penalty, 0.0), 0.0)
    width, short = loss.copy(), loss.copy()
    for node in topological_order(torch.from_numpy(climb.edges)).flip(0).tolist():
        for other in np.flatnonzero(climb.edges[node]):
            short[node] += np.minimum(loss[node, other], loss[other])
            width[node] = np.maximum(width[node], np.minimum(loss[node, other], width[other]))
    return np.maximum(width, short).T


@pytest.mark.parametrize("seed", range(8))
def test_tolls_are_those_of_all_pairs_and_no_cut_costs_less(seed: int) -> None:
    climb = climb_from(seed)
    pairs = Pairs.of(climb.reach().T)
    loss = np.maximum(-climb.present.read(climb.change) - climb.penalty, 0.0)
    toll = least_tolls(pairs, np.full(len(pairs), math.inf), climb.present, loss, 0.0)
    np.testing.assert_allclose(toll, pairs.read(tolls_of_all(climb)))
    for edge, least in zip(pairs.edges(), toll):
        cut = climb.cut(*edge)
        assert cut is not None
        cost = sum(max(-climb.change[one] - climb.penalty, 0.0) for one in cut)
        assert cost >= least - 1e-9


@pytest.mark.parametrize("seed", range(8))
def test_a_step_makes_the_best_change_of_all_pairs_and_others_like_it(seed: int) -> None:
    climb = climb_from(seed)
    gains = [float(climb.change[edge]) + climb.penalty for edge in Pairs.of(climb.edges).edges()]
    for edge in Pairs.of(climb.allowed & ~climb.edges).edges():
        cut = climb.cut(*edge) if climb.reach()[edge[::-1]] else []
        assert cut is not None
        gains.append(float(climb.change[edge]) - climb.penalty - climb.loss(cut))
    before, graph, best = climb.total, climb.edges.copy(), max(gains)
    assert change_edge(climb) == (best > 1e-6)
    children = Pairs.of(climb.edges != graph).child
    if len(set(children)) == len(children) > 0:  # else changes of one child do not add up
        assert climb.history[1] == pytest.approx(before + best)
        steps = np.diff(climb.history)
        assert (steps > best / 2).all()
        assert climb.total == climb.history[-1]
        assert bool(is_acyclic(torch.from_numpy(climb.edges)))


@pytest.mark.parametrize("seed", range(6))
def test_paths_and_edges_are_kept_while_a_graph_changes(seed: int) -> None:
    climb = climb_from(seed)
    climb.reach()
    while change_edge(climb):
        graph = torch.from_numpy(climb.edges)
        np.testing.assert_array_equal(climb.present.index, np.flatnonzero(climb.edges))
        for node in range(N):  # without all paths being known
            np.testing.assert_array_equal(climb.descendants(node), reachability(graph)[node])
        np.testing.assert_array_equal(climb.reach(), reachability(graph))
    assert len(climb.history) > 1
