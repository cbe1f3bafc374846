"""Exports keep names, directions and certainties."""

from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch

from dpdag import CAM, DAGPosterior
from dpdag.columns import MonotoneColumns, Units, transform
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.exports import LearnedGraph, to_dagitty, to_dot
from dpdag.exports.dowhy import ScaledNoiseModel
from dpdag.exports.network import write_gml, write_graphml
from dpdag.optional import optional
from dpdag.scm import StructuralModel, fit_mixed

NAMES = ["größe (kg)", 'say "hi"', "1", "a -> b"]
ADJACENCY = np.array([[0, 1, 0, 1], [0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
SCORES = ADJACENCY * np.arange(1.0, 17.0).reshape(4, 4)
EDGES = {(NAMES[0], NAMES[1]), (NAMES[0], NAMES[3]), (NAMES[2], NAMES[0])}
GRAPH = LearnedGraph(NAMES, ADJACENCY, SCORES, SCORES / 20)


@pytest.fixture(scope="module")
def chain() -> CAM:
    """A fitted a → b → c."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=400)
    b = np.tanh(2 * a) + 0.2 * rng.normal(size=400)
    c = np.sin(2 * b) + 0.2 * rng.normal(size=400)
    return CAM().fit(pd.DataFrame({"c": c, "a": a, "b": b}))


def test_files_of_graph_editors_keep_names_directions_and_certainties(tmp_path: Path) -> None:
    write_graphml(GRAPH, tmp_path / "graph.graphml")
    write_gml(GRAPH, tmp_path / "graph.gml")
    for found in (
        nx.read_graphml(tmp_path / "graph.graphml"),
        nx.read_gml(tmp_path / "graph.gml"),
    ):
        assert list(found.nodes) == NAMES
        assert set(found.edges) == EDGES
        assert found.edges[NAMES[2], NAMES[0]] == {"score": 9.0, "probability": 0.45}


def test_text_quotes_awkward_names() -> None:
    for text in (to_dot(GRAPH), to_dagitty(GRAPH)):
        assert '"1" -> "größe (kg)"' in text
        assert '"größe (kg)" -> "say \\"hi\\""' in text
        assert text.count("{") == text.count("}") == 1


def test_the_edge_table_is_sorted_by_certainty(chain: CAM) -> None:
    table = chain.to_edges()
    assert list(table.columns) == ["source", "target", "score"]
    assert {("a", "b"), ("b", "c")} == set(zip(table["source"], table["target"]))
    assert table["score"].is_monotonic_decreasing
    assert len(chain.to_edges(learned=False)) == 6


def test_edges_of_a_posterior_carry_probabilities() -> None:
    X = np.random.default_rng(0).normal(size=(50, 2)) @ [[1.0, 1.0], [0.0, 0.5]]
    learner = DAGPosterior(mechanism="linear", random_state=0, verbose=False).fit(X)
    table = learner.to_edges(learned=False)
    expected = [learner.edge_probabilities_[i, j] for i, j in zip(table["source"], table["target"])]
    assert table["probability"].tolist() == expected
    assert set(learner.graph_.nodes) == {0, 1}


def test_matrices_of_other_packages_turn_as_documented(chain: CAM) -> None:
    c, a, b = range(3)
    lingam, causallearn = chain.to_lingam_matrix(), chain.to_causallearn_matrix()
    assert lingam[b, a] == 1  # row is caused by column
    assert lingam[a, b] == 0
    assert (causallearn[a, b], causallearn[b, a]) == (-1, 1)
    assert causallearn[a, c] == 0
    np.testing.assert_array_equal(lingam.T, chain.adjacency_)


def test_a_missing_package_is_named() -> None:
    with pytest.raises(ImportError, match="pip install nowhere"):
        optional("nowhere.at_all", needed_by="This export", install="nowhere")


@pytest.mark.parametrize("transformed", [False, True])
def test_a_mechanism_with_scaled_noise_undoes_itself(transformed: bool) -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=400)
    values = np.stack([a, 3 + 5 * np.exp(a / 2) * rng.normal(size=400)], axis=1)
    location, scale = values.mean(0), values.std(0)
    x = torch.from_numpy((values - location) / scale)
    columns = (
        MonotoneColumns.through(x, transform(x, ["normal scores"] * x.shape[1]).z)
        if transformed
        else None
    )
    units = Units(location, scale, columns)
    z, graph = units.to_model(values), torch.tensor([[False, True], [False, False]])
    model = StructuralModel.of_data(
        z,
        graph,
        fit_mixed(z, graph, MixtureEvidence(z, functions=["linear", "additive"])),
    )
    sizes = model.scale(z)[:, 1]
    assert sizes.max() > 2 * sizes.min()
    mechanism = ScaledNoiseModel(model, units, 1, [0], noise=None)
    noise = mechanism.estimate_noise(values[:, 1], values[:, [0]])
    np.testing.assert_allclose(noise[:, 0], model.residuals[:, 1], rtol=1e-9, atol=1e-9)
    back = mechanism.evaluate(values[:, [0]], noise)
    np.testing.assert_allclose(back[:, 0], values[:, 1], rtol=1e-9, atol=1e-9)


def test_an_unfitted_learner_exports_nothing() -> None:
    with pytest.raises(ValueError, match="not fitted"):
        CAM().to_dot()


def test_scores_decide_between_equal_probabilities() -> None:
    adjacency = np.triu(np.ones((3, 3), dtype=int), 1)
    scores = np.array([[0, 5, 900], [0, 0, 40], [0, 0, 0]], dtype=float)
    sure = np.array([[0, 0.99995, 0.9999], [0, 0, 0.6], [0, 0, 0]])
    edges = LearnedGraph(["a", "b", "c"], adjacency, scores, sure).edges()
    assert [(edge.source, edge.target) for edge in edges] == [("a", "c"), ("a", "b"), ("b", "c")]
