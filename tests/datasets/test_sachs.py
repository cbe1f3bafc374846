"""The protein data: right rows, right names, truth aligned by name."""

import networkx as nx
import numpy as np

from dpdag.datasets import SACHS_GRAPHS, load, sachs_adjacency


def test_sachs_has_853_rows_and_11_named_proteins():
    data = load("Sachs")
    assert data.X.shape == (853, 11)
    assert " ".join(data.names) == "Raf Mek Plcg PIP2 PIP3 Erk Akt PKA PKC P38 Jnk"
    assert (data.X > 0).all()
    assert "Science" in data.provenance.citation
    assert "cdt 0.6.0" in data.provenance.details


def test_the_first_and_last_rows_are_those_of_the_measurements():
    data = load("Sachs").frame
    assert data.loc[0, ["Raf", "Mek", "Erk", "PKA", "Jnk"]].tolist() == [26.4, 13.2, 6.61, 414, 40]
    assert data.loc[852, ["Raf", "PIP2", "Akt", "Jnk"]].tolist() == [46.6, 120, 20, 9.65]


def test_the_consensus_graph_has_17_edges_and_no_cycle():
    graph = load("Sachs").graph
    assert graph.number_of_edges() == 17
    assert nx.is_directed_acyclic_graph(graph)
    assert set(graph.predecessors("Mek")) == {"Raf", "PKA", "PKC"}
    assert set(graph.predecessors("Akt")) == {"Erk", "PKA"}
    assert set(graph.successors("Plcg")) == {"PIP2", "PIP3"}
    assert set(graph.predecessors("PKC")) == set()


def test_the_truth_follows_the_names_whatever_their_order():
    names = load("Sachs").names
    order = np.random.default_rng(0).permutation(11)
    shuffled = sachs_adjacency([names[k] for k in order])
    assert (shuffled == load("Sachs").adjacency[np.ix_(order, order)]).all()


def test_sachs_agrees_with_the_original_files(data_folder):
    ours, original = load("Sachs"), load("Sachs", source="original")
    assert ours.names == original.names
    np.testing.assert_allclose(ours.X, original.X, rtol=1e-6)
    assert (ours.adjacency == original.adjacency).all()


def test_the_other_graph_in_circulation_has_18_edges_and_a_cycle():
    graph = nx.DiGraph(SACHS_GRAPHS["cdt"])
    assert graph.number_of_edges() == 18
    assert not nx.is_directed_acyclic_graph(graph)
    assert set(graph.nodes) == set(load("Sachs").names)
    assert len(set(SACHS_GRAPHS["cdt"]) & set(SACHS_GRAPHS["consensus"])) == 13
