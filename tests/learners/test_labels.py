"""Labels of columns, whatever they are, keep their identity from the table to every answer."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import dpdag
from dpdag import CAM, VIDPDAG, DAGPosterior, GroundTruthDAG, Knowledge, metrics
from dpdag.learners.validation import fitted_columns
from dpdag.ops.labels import label_index, label_texts
from dpdag.records import describe

LABELS = {
    "numbers": [3, 1, 2],
    "positions of others": [2, 0, 1],
    "tuples": [("a", 1), ("b", 2), ("c", 3)],
    "tuples of any length": [("a", 1), ("b",), ("c", 3)],
    "mixed": ["dose", 1, ("t", 2)],
    "same text": [1, "1", 2.5],
}


@pytest.fixture(params=LABELS.values(), ids=LABELS)
def labels(request):
    return request.param


@pytest.fixture
def X(labels):
    """The first column causes the second, which causes the third."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    b = np.tanh(2 * a) + 0.2 * rng.normal(size=300)
    c = b**2 + 0.3 * rng.normal(size=300)
    return pd.DataFrame(np.stack([a, b, c], axis=1), columns=label_index(labels))


@pytest.fixture
def learner(X):
    return CAM(n_bootstrap=0).fit(X)


def chain(labels):
    return list(pairwise(labels))


@pytest.mark.parametrize("nothing", [None, np.nan])
def test_columns_without_a_name_are_refused_by_place(nothing):
    X = pd.DataFrame(np.eye(30, 3), columns=pd.Index(["a", nothing, 2], dtype=object))
    with pytest.raises(ValueError, match=r"X has no name for the columns in places \[1\]"):
        CAM().fit(X)


def test_edges_and_graphs_have_the_labels(learner, labels):
    assert list(learner.feature_names_in_) == labels
    assert sorted(learner.graph_.edges, key=str) == sorted(chain(labels), key=str)
    table = learner.to_edges()
    assert set(zip(table["source"], table["target"])) == set(chain(labels))


def test_knowledge_is_of_the_labels(X, labels):
    first, second, third = labels
    known = Knowledge(forbidden=[(first, second)], tiers=[[second], [third]])
    fitted = CAM(n_bootstrap=0, knowledge=known).fit(X)
    assert (first, second) not in fitted.graph_.edges
    assert (second, third) in fitted.graph_.edges
    with pytest.raises(ValueError, match=r"Unknown node 'x' in 'knowledge'.* Known: "):
        CAM(knowledge=Knowledge(required=[(first, "x")])).fit(X)


def test_a_position_is_no_label_where_labels_are_numbers():
    with pytest.raises(ValueError, match=r"Unknown node 0 in 'knowledge'\. Known: 3, 1, 2\."):
        Knowledge(forbidden=[(0, 1)]).resolve(3, [3, 1, 2])


def test_columns_are_found_by_label_in_any_order(learner, X, labels):
    shuffled = X[[labels[k] for k in (1, 2, 0)]]
    for answer in (
        learner.predict,
        learner.impute,
        lambda table: learner.counterfactual(table, {labels[0]: 1.0}),
    ):
        straight, reordered = answer(X), answer(shuffled)
        assert list(reordered.columns) == list(shuffled.columns)
        for label in labels:
            assert np.array_equal(straight[label], reordered[label])
    assert learner.score(shuffled) == learner.score(X)


def test_other_labels_are_refused(learner, X):
    with pytest.raises(ValueError, match=r"The feature names should match .* got \['x', 'y', 'z'"):
        learner.predict(X.set_axis(["x", "y", "z"], axis=1))


def test_interventions_are_on_the_labels(learner, X, labels):
    drawn = learner.sample(5, do={labels[1]: 0.5}, random_state=0)
    assert list(drawn.columns) == labels
    assert (drawn[labels[1]] == 0.5).all()
    assert (learner.counterfactual(X, {labels[1]: 0.5})[labels[1]] == 0.5).all()
    with pytest.raises(ValueError, match=r"Unknown column 'x' in 'do'"):
        learner.sample(1, do={"x": 0.5})


def test_saved_models_have_the_labels(X, labels, tmp_path):
    known = Knowledge(required=[tuple(labels[:2])])
    learner = CAM(n_bootstrap=0, knowledge=known).fit(X)
    learner.save(tmp_path / "model")
    again = dpdag.load(tmp_path / "model")
    assert list(again.feature_names_in_) == labels
    assert [type(label) for label in again.feature_names_in_] == [type(label) for label in labels]
    assert again.knowledge == known
    pd.testing.assert_frame_equal(again.predict(X), learner.predict(X))


def test_text_for_files_and_people_tells_labels_apart(learner, X, labels, tmp_path):
    texts = label_texts(labels)
    assert len(set(texts)) == len(labels)
    learner.to_graphml(tmp_path / "graph.graphml")
    learner.to_gml(tmp_path / "graph.gml")
    for read in (nx.read_graphml(tmp_path / "graph.graphml"), nx.read_gml(tmp_path / "graph.gml")):
        assert set(read.edges) == set(chain(texts))
    assert all(f'"{a}" -> "{b}"' in learner.to_dot() for a, b in chain(texts))
    assert all(f'"{a}" -> "{b}"' in learner.to_dagitty() for a, b in chain(texts))
    record = describe(learner, X[labels[::-1]])
    assert record.names == texts
    edges = {(texts[i], texts[j]) for i, j in np.argwhere(record.adjacency)}
    assert edges == set(chain(texts))
    assert dpdag.report(learner, X, tmp_path / "report.html").is_file()


def test_graphs_are_aligned_by_label(learner, labels, tmp_path, X):
    truth = pd.DataFrame(np.eye(3, k=1), index=label_index(labels), columns=label_index(labels))
    shuffled = truth.iloc[[2, 0, 1], [2, 0, 1]]
    assert metrics.shd(truth, shuffled) == 0
    assert metrics.shd(learner.graph_, shuffled) == 0
    assert metrics.shd(learner.adjacency_, shuffled, names=labels) == 0
    assert metrics.order_divergence(labels, shuffled) == 0
    assert metrics.order_divergence(labels[::-1], shuffled) == 2
    learner.to_graphml(tmp_path / "graph.graphml")
    for known in (shuffled, learner.graph_, tmp_path / "graph.graphml"):
        fitted = GroundTruthDAG(known, mechanism="linear").fit(X)
        assert set(fitted.graph_.edges) == set(chain(labels))


@pytest.mark.parametrize(
    "kind", [DAGPosterior(mechanism="linear", verbose=False, missing="impute"), VIDPDAG.paper()]
)
def test_posteriors_have_the_labels(kind, X, labels):
    holes = X.mask(X > 2.5) if hasattr(kind, "missing") else X
    if isinstance(kind, VIDPDAG):
        kind.set_params(max_epochs=1, init=labels, verbose=False)
    fitted = kind.fit(holes)
    assert list(fitted.graph_) == labels
    assert list(fitted.sample(2, random_state=0).columns) == labels


def test_counted_columns_are_found_by_number_after_a_fit_without_names():
    """pandas numbers the columns of an array; that is no name, but says which column is which."""
    values = np.random.default_rng(0).normal(size=(60, 3))
    for X in (values, pd.DataFrame(values)):
        learner = CAM(n_bootstrap=0).fit(X)
        assert not hasattr(learner, "feature_names_in_")
        straight = learner.predict(values)
        assert np.array_equal(straight, learner.predict(pd.DataFrame(values)))
        reordered = learner.predict(pd.DataFrame(values)[[2, 0, 1]])
        assert np.array_equal(straight, reordered[[0, 1, 2]])
        with pytest.warns(UserWarning, match="X has feature names, but CAM was fitted without"):
            learner.predict(pd.DataFrame(values, columns=[3, 1, 2]))


def test_a_category_is_known_by_its_label():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({3: rng.choice(list("ABC"), 200), 1: rng.normal(size=200)})
    learner = DAGPosterior(mechanism="linear", verbose=False).fit(table)
    drawn = learner.sample(4, do={3: "A"}, random_state=0)
    assert list(drawn.columns) == [3, 1]
    assert (drawn[3] == "A").all()


def test_columns_that_were_not_fitted_are_ignored(learner, X, labels):
    wider = X.assign(other=1.0)[["other", *labels[::-1]]] if X.columns.nlevels == 1 else X
    assert list(fitted_columns(learner, wider).columns) == labels
