"""Every metric takes any form of graph, aligns by name, and refuses what does not fit."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch

from dpdag import metrics

NAMES = ["a", "b", "c", "d"]
TRUTH = np.array([[0, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
SCORES = np.array(
    [[0, 0.9, 0.4, 0.1], [0.2, 0, 0.7, 0.3], [0.1, 0.5, 0, 0.35], [0.05, 0.2, 0.6, 0]]
)
ESTIMATE = np.triu((SCORES > 0.3).astype(int))
SAMPLES = np.stack([TRUTH, ESTIMATE])

# Each metric as a function of (prediction, truth, names).
OF_SCORES = {
    "edge_auc": metrics.edge_auc,
    "shd_over_thresholds": metrics.shd_over_thresholds,
    "brier": metrics.brier,
    "expected_calibration_error": metrics.expected_calibration_error,
    "reliability_curve": metrics.reliability_curve,
    "relative_confidence": lambda s, t, names=None: metrics.relative_confidence(
        s, t, 1, names=names
    ),
}
OF_GRAPHS = {
    "shd": metrics.shd,
    "sid": lambda e, t, names=None: metrics.sid(t, e, names=names),
    "parent_aid": lambda e, t, names=None: metrics.parent_aid(t, e, names=names),
    "ancestor_aid": lambda e, t, names=None: metrics.ancestor_aid(t, e, names=names),
    "edge_report": lambda e, t, names=None: metrics.edge_report(t, e, names=names),
    "expected_shd": lambda e, t, names=None: metrics.expected_shd([e], t, names=names),
}
ALL = OF_SCORES | OF_GRAPHS


def prediction(metric):
    return SCORES if metric in OF_SCORES else ESTIMATE


def frame(matrix, order=(0, 1, 2, 3)):
    names = [NAMES[k] for k in order]
    return pd.DataFrame(matrix[np.ix_(order, order)], index=names, columns=names)


def graph(matrix, order=(2, 0, 3, 1)):
    result = nx.DiGraph()
    result.add_nodes_from(NAMES[k] for k in order)
    for i, j in np.argwhere(matrix):
        result.add_edge(NAMES[i], NAMES[j], score=float(matrix[i, j]))
    return result


def numbers(result):
    """All numbers of a result, whatever its form."""
    parts = result if isinstance(result, tuple) else [result]
    parts = list(result.values()) if isinstance(result, dict) else parts
    return np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in parts])


def same(first, second):
    return np.allclose(numbers(first), numbers(second), rtol=1e-12, atol=1e-12, equal_nan=True)


@pytest.mark.parametrize("metric", ALL)
def test_all_forms_give_the_same_result(metric):
    expected = ALL[metric](prediction(metric), TRUTH)
    given = prediction(metric)
    for predicted, truth in [
        (given.tolist(), TRUTH.tolist()),
        (torch.tensor(given), torch.tensor(TRUTH)),
        (torch.tensor(given, requires_grad=True) if given is SCORES else given, TRUTH == 1),
        (frame(given), frame(TRUTH)),
        (frame(given), TRUTH),
        (given, frame(TRUTH)),
        (pd.DataFrame(given), TRUTH),
        (nx.from_numpy_array(given, create_using=nx.DiGraph), TRUTH),
    ]:
        assert same(ALL[metric](predicted, truth), expected)


@pytest.mark.parametrize("metric", ALL)
def test_named_graphs_are_aligned_whatever_their_order(metric):
    expected = ALL[metric](prediction(metric), TRUTH)
    given = prediction(metric)
    for predicted, truth in [
        (frame(given, (3, 1, 0, 2)), frame(TRUTH)),
        (graph(given), frame(TRUTH)),
        (frame(given), graph(TRUTH)),
        (graph(given), graph(TRUTH, (1, 0, 2, 3))),
    ]:
        result = ALL[metric](predicted, truth)
        if metric != "relative_confidence":  # there the order decides which edges are moved
            assert same(result, expected)


@pytest.mark.parametrize("metric", ALL)
def test_names_lend_an_order_to_bare_matrices(metric):
    expected = ALL[metric](prediction(metric), TRUTH)
    assert same(ALL[metric](graph(prediction(metric)), TRUTH, names=NAMES), expected)
    with pytest.raises(ValueError, match=r"cannot be aligned: .* pass names=\[…\]"):
        ALL[metric](graph(prediction(metric)), TRUTH)


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (TRUTH[:3, :3], r"must have the same nodes; got \d and \d nodes"),
        (TRUTH[:3], r"must be a square \(n, n\) matrix; got shape \(3, 4\)"),
        (2 * TRUTH, r"must be a 0/1 adjacency matrix; it holds 2"),
        (TRUTH * 0.5, r"must be a 0/1 adjacency matrix; it holds 0.5"),
        (TRUTH + np.eye(4), r"must have no self-loops; it has one at 0"),
        (TRUTH * np.nan, r"must be finite"),
        (TRUTH.astype(str), r"must hold numbers"),
        (nx.Graph([(0, 1), (2, 3)]), r"must be a networkx.DiGraph; got Graph"),
        (nx.DiGraph(), r"must be a square"),
    ],
)
def test_bad_truths_are_refused_in_one_line(metric, truth, message):
    with pytest.raises(ValueError, match=message) as caught:
        ALL[metric](prediction(metric), truth)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("metric", [name for name in ALL if name != "shd"])
def test_a_cyclic_truth_is_refused_and_its_cycle_named(metric):
    cyclic = TRUTH + np.eye(4, k=-3, dtype=int)
    with pytest.raises(ValueError, match=r"'truth' must be acyclic; it has the cycle .*3 → 0"):
        ALL[metric](prediction(metric), cyclic)
    with pytest.raises(ValueError, match=r"it has the cycle .*d → a"):
        ALL[metric](frame(prediction(metric)), frame(cyclic))


@pytest.mark.parametrize("metric", ALL)
def test_different_node_sets_are_refused_and_named(metric):
    other = frame(TRUTH).rename(index={"d": "z"}, columns={"d": "z"})
    with pytest.raises(ValueError, match=r"must have the same nodes; only one of them has d, z"):
        ALL[metric](frame(prediction(metric)), other)


def test_tables_with_inconsistent_names_are_refused():
    with pytest.raises(ValueError, match=r"same names in rows and columns, in the same order"):
        metrics.shd(frame(TRUTH).loc[["b", "a", "c", "d"]], TRUTH)
    twice = pd.DataFrame(TRUTH, index=list("aabc"), columns=list("aabc"))
    with pytest.raises(ValueError, match=r"must name every node differently"):
        metrics.shd(twice, TRUTH)
    with pytest.raises(ValueError, match=r"'names' must be 4 different names"):
        metrics.shd(TRUTH, TRUTH, names=["a", "b", "c"])


@pytest.mark.parametrize("metric", ALL)
def test_inputs_are_not_modified(metric):
    given, truth = prediction(metric).copy(), TRUTH.copy()
    ALL[metric](given, truth)
    assert (given == prediction(metric)).all()
    assert (truth == TRUTH).all()


@pytest.mark.parametrize("metric", [name for name in ALL if name != "relative_confidence"])
def test_metrics_do_not_depend_on_the_numbering_of_nodes(metric):
    order = np.array([2, 0, 3, 1])
    relabelled = np.ix_(order, order)
    expected = ALL[metric](prediction(metric), TRUTH)
    result = ALL[metric](prediction(metric)[relabelled], TRUTH[relabelled])
    assert same(result, expected)
