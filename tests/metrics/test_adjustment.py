"""SID against brute force on all small DAGs, and adjustment distances by their definitions."""

import sys
from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest

from dpdag import metrics


def all_dags(n):
    pairs = list(combinations(range(n), 2))
    for states in product((0, 1, 2), repeat=len(pairs)):
        A = np.zeros((n, n), dtype=int)
        for (i, j), state in zip(pairs, states):
            if state:
                A[(i, j) if state == 1 else (j, i)] = 1
        if nx.is_directed_acyclic_graph(nx.DiGraph(A)):
            yield A


def is_valid_adjustment(A, i, j, Z):
    """Whether adjusting for Z gives p(x_j | do(x_i)) in the DAG A, by the adjustment criterion.

    Z must hold no descendant of a node on a directed path from i to j (other than i), and must
    block every path from i to j that is not directed.
    """
    graph = nx.DiGraph(A)
    below = nx.descendants(graph, i)
    on_path = {node for node in below if node == j or j in nx.descendants(graph, node)}
    forbidden = on_path | {d for node in on_path for d in nx.descendants(graph, node)}
    if Z & forbidden:
        return False
    backdoor = graph.copy()
    backdoor.remove_edges_from([(i, child) for child in graph.successors(i) if child in on_path])
    return nx.is_d_separator(backdoor, {i}, {j}, Z)


def brute_force_sid(truth, estimate):
    n, wrong = len(truth), 0
    graph = nx.DiGraph(truth)
    for i in range(n):
        Z = set(np.flatnonzero(estimate[:, i]).tolist())
        for j in set(range(n)) - {i}:
            if j in Z:  # the estimate says that i has no effect on its parent j
                wrong += j in nx.descendants(graph, i)
            else:
                wrong += not is_valid_adjustment(truth, i, j, Z)
    return wrong


def test_sid_agrees_with_brute_force_on_all_dags_of_three_nodes():
    dags = list(all_dags(3))
    assert len(dags) == 25
    for truth in dags:
        for estimate in dags:
            assert metrics.sid(truth, estimate) == brute_force_sid(truth, estimate)


def test_sid_agrees_with_brute_force_on_dags_of_four_nodes():
    dags = list(all_dags(4))
    assert len(dags) == 543
    rng = np.random.default_rng(0)
    for a, b in rng.integers(len(dags), size=(250, 2)):
        assert metrics.sid(dags[a], dags[b]) == brute_force_sid(dags[a], dags[b])


def test_sid_by_hand():
    chain = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert metrics.sid(chain, chain) == 0
    # Reversed chain: no effect of 0 is seen, and those of 1 on 0 and of 2 on all are confounded.
    assert metrics.sid(chain, chain.T) == 6
    # The empty graph adjusts for nothing: right for effects of 0, wrong for the backdoors.
    assert metrics.sid(chain, np.zeros((3, 3))) == 3


def test_sid_is_zero_for_every_graph_that_contains_the_truth():
    truth = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    full = np.triu(np.ones((4, 4), dtype=int), 1)
    assert metrics.sid(truth, full) == 0
    assert metrics.sid(full, truth) > 0  # not symmetric
    assert metrics.ancestor_aid(truth, full) == 0


def naive_ancestor_aid(truth, estimate):
    """Wrong claims of no effect and invalid adjustments for all ancestors, pair by pair."""
    n, wrong = len(truth), 0
    true, guess = nx.DiGraph(truth), nx.DiGraph(estimate)
    for i in range(n):
        for j in set(range(n)) - {i}:
            if j not in nx.descendants(guess, i):
                wrong += j in nx.descendants(true, i)
            else:
                wrong += not is_valid_adjustment(truth, i, j, nx.ancestors(guess, i))
    return wrong


def test_adjustment_distances_agree_with_their_definitions():
    dags = list(all_dags(3))
    for truth in dags:
        for estimate in dags:
            assert metrics.ancestor_aid(truth, estimate) == naive_ancestor_aid(truth, estimate)
            assert metrics.parent_aid(truth, estimate) == metrics.sid(truth, estimate)


@pytest.mark.parametrize("metric", [metrics.sid, metrics.parent_aid, metrics.ancestor_aid])
def test_cyclic_estimates_are_refused(metric):
    with pytest.raises(ValueError, match=r"'estimate' must be acyclic; it has the cycle"):
        metric([[0, 1], [0, 0]], [[0, 1], [1, 0]])


@pytest.mark.parametrize("metric", [metrics.sid, metrics.parent_aid, metrics.ancestor_aid])
def test_one_node_has_no_pairs(metric):
    assert metric([[0]], [[0]]) == 0


def test_without_gadjid_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "gadjid", None)
    with pytest.raises(ImportError, match=r"'sid' needs .* gadjid: pip install 'dpdag\[metrics\]'"):
        metrics.sid([[0, 1], [0, 0]], [[0, 1], [0, 0]])
