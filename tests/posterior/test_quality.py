"""What a graph explains over no graph and over graphs of chance."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import dpdag
from dpdag import DAGPosterior
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.posterior import quality
from dpdag.posterior.quality import found_again, nats_per_row


def chain(rows: int = 300, n: int = 5) -> pd.DataFrame:
    noise = np.random.default_rng(0).normal(size=(rows, n))
    for k in range(1, n):
        noise[:, k] = np.sin(2 * noise[:, k - 1]) + 0.3 * noise[:, k]
    return pd.DataFrame(noise, columns=[f"x{k}" for k in range(n)])


@pytest.fixture(scope="module")
def learner() -> DAGPosterior:
    model = DAGPosterior(mechanism="additive", resamples=2, random_state=0, verbose=False)
    return model.fit(chain())


def test_a_graph_explains_what_its_columns_do(learner: DAGPosterior) -> None:
    found = learner.quality_
    by_column = sum(one["nats_over_root"] / one["rows"] for one in learner.choice_)
    assert found["nats_per_row"] == pytest.approx(by_column)
    assert found["by_curves"] == pytest.approx(by_column)  # there are no other functions
    assert len(found["random_graphs"]) == 20
    assert max(found["random_graphs"]) < found["nats_per_row"]
    assert min(found["random_graphs"]) < 0.5 * found["nats_per_row"]


def test_links_are_found_again_on_halves(learner: DAGPosterior) -> None:
    assert learner.quality_["found_again"]["links"] == 1
    graph = torch.tensor([[0, 1, 1], [0, 0, 0], [0, 0, 0]]).bool()
    other = torch.tensor([[0, 0, 1], [1, 0, 0], [0, 0, 0]]).bool()
    bare = torch.zeros(3, 3).bool()
    assert found_again(graph, [other, bare]) == {"links": 0.5, "arrows": 0.25}


def test_random_graphs_do_not_follow_the_order_of_columns(learner: DAGPosterior) -> None:
    moved = DAGPosterior(mechanism="additive", random_state=0, verbose=False)
    moved.fit(chain()[["x3", "x0", "x4", "x1", "x2"]])
    assert moved.quality_["random_graphs"] == pytest.approx(learner.quality_["random_graphs"])


def test_graphs_of_chance_are_other_graphs() -> None:
    model = DAGPosterior(mechanism="additive", random_state=0, verbose=False).fit(chain(n=4))
    assert model.adjacency_.sum() == 3
    assert 10 < len(model.quality_["random_graphs"]) < 20
    assert max(model.quality_["random_graphs"]) < model.quality_["by_curves"]


def test_a_table_of_noise_explains_nothing() -> None:
    noise = np.random.default_rng(0).normal(size=(100, 6))
    found = DAGPosterior(mechanism="additive", random_state=0, verbose=False).fit(noise).quality_
    nothing = {"nats_per_row": 0.0, "by_curves": 0.0, "random_graphs": [], "found_again": None}
    assert found == nothing


def test_useless_edges_cost() -> None:
    x = torch.randn(200, 5, generator=torch.Generator().manual_seed(0)).double()
    evidence = MixtureEvidence(x, functions=("linear",))
    graph = torch.ones(5, 5).triu(1).bool()
    assert float(nats_per_row(evidence, graph[None])) < 0
    assert quality(evidence, graph)["by_curves"] < 0


def test_what_was_measured_is_saved_with_the_model(learner: DAGPosterior, tmp_path: Path) -> None:
    learner.save(tmp_path / "model")
    again = dpdag.load(tmp_path / "model")
    assert again.quality_ == learner.quality_
    assert again.hidden_causes_ == learner.hidden_causes_


def test_experiments_are_measured_on_their_own_rows() -> None:
    frame = chain()
    was_set = np.zeros(frame.shape, dtype=bool)
    was_set[:100, 2] = True
    frame.loc[:99, "x2"] = np.random.default_rng(1).normal(size=100)
    model = DAGPosterior(mechanism="additive", random_state=0, verbose=False)
    model.fit(frame, interventions=was_set)
    by_column = sum(one["nats_over_root"] / one["rows"] for one in model.choice_)
    assert model.quality_["nats_per_row"] == pytest.approx(by_column)
    assert model.hidden_causes_ == []
