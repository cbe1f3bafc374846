"""Structural distances: by hand, by a naive implementation, by identities."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dpdag import metrics


def random_dag(n, seed, density=0.5):
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    return np.triu(rng.random((n, n)) < density, 1).astype(int)[np.ix_(order, order)]


dags = st.builds(random_dag, st.just(5), st.integers(0, 2**32), st.floats(0, 1))


def naive_shd(a, b):
    """Count pair by pair."""
    n, distance = len(a), 0
    for i in range(n):
        for j in range(i):
            if (a[i, j], a[j, i]) != (b[i, j], b[j, i]):
                distance += 1
    return distance


@settings(max_examples=100, deadline=None)
@given(dags, dags, dags)
def test_shd_is_a_metric_and_agrees_with_counting(a, b, c):
    assert metrics.shd(a, b) == naive_shd(a, b)
    assert metrics.shd(a, a) == 0
    assert metrics.shd(a, b) == metrics.shd(b, a) == metrics.shd(a.T, b.T)
    assert metrics.shd(a, c) <= metrics.shd(a, b) + metrics.shd(b, c)
    twice = metrics.shd(a, b, reversals="twice")
    reversed_edges = int((a & b.T).sum())
    assert twice == np.abs(a - b).sum() == metrics.shd(a, b) + reversed_edges


def test_shd_by_hand():
    truth = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    estimate = np.array([[0, 0, 1, 1], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    # 0 → 1 reversed, 1 → 2 missing, 0 → 3 extra.
    assert metrics.shd(truth, estimate) == 3
    assert metrics.shd(truth, estimate, reversals="twice") == 4
    assert type(metrics.shd(truth, estimate)) is int


def test_shd_takes_cyclic_graphs():
    both = np.array([[0, 1], [1, 0]])
    assert metrics.shd(both, [[0, 1], [0, 0]]) == 1
    assert metrics.shd(both, np.zeros((2, 2))) == 1
    assert metrics.shd(both, np.zeros((2, 2)), reversals="twice") == 2


def test_unknown_variants_are_refused():
    with pytest.raises(ValueError, match=r"'reversals' must be 'once' or 'twice'; got 'half'"):
        metrics.shd(np.zeros((2, 2)), np.zeros((2, 2)), reversals="half")


def test_expected_shd_is_the_mean():
    truth = random_dag(5, 0)
    samples = np.stack([random_dag(5, seed) for seed in range(20)])
    mean = np.mean([metrics.shd(sample, truth) for sample in samples])
    assert metrics.expected_shd(samples, truth) == pytest.approx(mean)
    assert metrics.expected_shd(list(samples), truth) == pytest.approx(mean)
    for kind in (torch.bool, torch.bfloat16, torch.int64):
        tensor = torch.tensor(samples, dtype=kind)
        assert metrics.expected_shd(tensor, truth) == pytest.approx(mean)
    twice = np.mean([metrics.shd(sample, truth, reversals="twice") for sample in samples])
    assert metrics.expected_shd(samples, truth, reversals="twice") == pytest.approx(twice)
    assert metrics.expected_shd(truth[None], truth) == 0
    with pytest.raises(ValueError, match=r"'samples' must hold at least one graph"):
        metrics.expected_shd([], truth)


def test_sampled_matrices_are_aligned_with_a_named_truth():
    truth = random_dag(5, 0, density=0.9)
    samples = np.stack([random_dag(5, seed) for seed in range(4)])
    names = list("abcde")
    shuffled = pd.DataFrame(truth, names, names).loc[list("ecabd"), list("ecabd")]
    expected = metrics.expected_shd(samples, truth)
    assert metrics.expected_shd(samples, shuffled, names=names) == expected
    assert metrics.expected_shd(samples, shuffled) != expected  # taken by position


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (np.full((2, 5, 5), 0.5), r"'samples' must hold 0/1 adjacency matrices"),
        (np.ones((2, 5, 5)), r"'samples' must have no self-loops"),
        (np.zeros((2, 4, 4)), r"must have the same nodes; got 5 and 4 nodes"),
        (np.zeros((2, 5, 4)), r"'samples' must be a square \(n, n\) matrix"),
        (np.zeros((5, 5)), r"'samples' must be a square \(n, n\) matrix"),
    ],
)
def test_bad_samples_are_refused(samples, message):
    with pytest.raises(ValueError, match=message):
        metrics.expected_shd(samples, random_dag(5, 0))


def test_thresholds_go_from_sparse_to_dense_graphs():
    truth = random_dag(6, 1)
    scores = np.random.default_rng(0).random((6, 6))
    curve = metrics.shd_over_thresholds(scores, truth)
    assert len(curve.thresholds) == 19
    assert (np.diff(curve.thresholds) < 0).all()
    assert (np.diff(curve.edges) >= 0).all()
    for t, distance, edges in zip(*curve):
        graph = ((scores > t) & ~np.eye(6, dtype=bool)).astype(int)
        assert distance == metrics.shd(graph, truth)
        assert edges == graph.sum()


def test_perfect_scores_have_distance_zero_at_every_inner_threshold():
    truth = random_dag(6, 1)
    assert (metrics.shd_over_thresholds(truth, truth).shd == 0).all()
    ends = metrics.shd_over_thresholds(truth, truth, thresholds=[1.0, -1.0])
    assert ends.shd.tolist() == [truth.sum(), 15]
    with pytest.raises(ValueError, match=r"'thresholds' must be a list of finite numbers"):
        metrics.shd_over_thresholds(truth, truth, thresholds=[])


def test_edge_report_by_hand():
    truth = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    estimate = np.array([[0, 0, 1, 1], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    report = metrics.edge_report(truth, estimate)
    assert report[:4] == (2, 2, 2, 1)
    assert report.precision == report.recall == report.f1 == report.fdr == 0.5
    assert report.fpr == 2 / 8  # 12 ordered pairs, 4 with an edge
    skeleton = metrics.edge_report(truth, estimate, directed=False)
    assert skeleton[:4] == (3, 1, 1, 0)
    assert skeleton.fpr == 1 / 2  # 6 pairs, 4 joined


@settings(max_examples=100, deadline=None)
@given(dags, dags)
def test_edge_report_identities(truth, estimate):
    report = metrics.edge_report(truth, estimate)
    assert report.true_positives + report.false_negatives == truth.sum()
    assert report.true_positives + report.false_positives == estimate.sum()
    assert report.fdr == pytest.approx(1 - report.precision)
    assert report.false_positives + report.false_negatives - report.reversed == metrics.shd(
        truth, estimate
    )
    swapped = metrics.edge_report(estimate, truth)
    assert (swapped.precision, swapped.recall) == (report.recall, report.precision)
    assert swapped.f1 == report.f1
    if report.true_positives:
        harmonic = 2 / (1 / report.precision + 1 / report.recall)
        assert report.f1 == pytest.approx(harmonic)
    perfect = metrics.edge_report(truth, truth)
    assert (perfect.precision, perfect.recall, perfect.f1, perfect.fdr) == (1, 1, 1, 0)


def test_edge_report_agrees_with_scikit_learn():
    from sklearn.metrics import precision_recall_fscore_support

    truth, estimate = random_dag(8, 3), random_dag(8, 4)
    expected = precision_recall_fscore_support(truth.ravel(), estimate.ravel(), average="binary")
    report = metrics.edge_report(truth, estimate)
    assert (report.precision, report.recall, report.f1) == pytest.approx(expected[:3])


def test_empty_estimates_have_their_conventions():
    truth, nothing = random_dag(4, 0, 1.0), np.zeros((4, 4))
    report = metrics.edge_report(truth, nothing)
    assert (report.precision, report.recall, report.f1, report.fdr) == (1, 0, 0, 0)
    assert metrics.edge_report(nothing, nothing).f1 == 1


def test_order_divergence_counts_edges_that_point_backwards():
    truth = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    assert metrics.order_divergence([0, 1, 2], truth) == 0
    assert metrics.order_divergence([2, 1, 0], truth) == 3
    assert metrics.order_divergence([0, 2, 1], truth) == 1
    assert metrics.order_divergence(["c", "b", "a"], truth, names=["a", "b", "c"]) == 3
    assert metrics.order_divergence(np.array([1, 0, 2]), truth) == 1


@settings(max_examples=50, deadline=None)
@given(dags, st.permutations(range(5)))
def test_order_divergence_agrees_with_counting(truth, order):
    backwards = sum(order.index(i) > order.index(j) for i, j in np.argwhere(truth))
    assert metrics.order_divergence(order, truth) == backwards
    assert metrics.order_divergence(order[::-1], truth) == truth.sum() - backwards


def test_order_divergence_of_named_graphs():
    import networkx as nx

    graph = nx.DiGraph([("b", "a"), ("c", "b")])
    assert metrics.order_divergence(["c", "b", "a"], graph) == 0
    assert metrics.order_divergence(["a", "b", "c"], graph) == 2
    assert metrics.order_divergence([2, 1, 0], graph, names=["a", "b", "c"]) == 0


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 3], ["a", "b", "z"], [0.0, 1.0, 5.0]])
def test_incomplete_orders_are_refused(order):
    with pytest.raises(ValueError, match=r"'order' must hold each of the 3 nodes of 'truth' once"):
        metrics.order_divergence(order, np.zeros((3, 3)), names=["a", "b", "c"])


def test_numbers_mean_nothing_in_a_graph_with_names():
    import networkx as nx

    with pytest.raises(ValueError, match=r"'order' must hold each of the 2 nodes"):
        metrics.order_divergence([0, 1], nx.DiGraph([("b", "a")]))
