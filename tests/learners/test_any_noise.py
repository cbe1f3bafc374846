"""DAGPosterior where noise has any shape, or a size that depends on the parents."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import dpdag
from dpdag import DAGPosterior, Knowledge, datasets, metrics
from dpdag.ops.graphs import is_acyclic

MECHANISMS = ["additive", "auto"]
kinds = pytest.mark.parametrize("mechanism", MECHANISMS)


def table(rows: int = 300, seed: int = 0) -> pd.DataFrame:
    """cause → middle → effect ← other, on very different scales, the last noise of any size."""
    rng = np.random.default_rng(seed)
    cause, other = rng.uniform(-1, 1, size=(2, rows))
    middle = cause + rng.uniform(-0.5, 0.5, size=rows)
    effect = middle - other + np.exp(1.5 * other) * rng.laplace(scale=0.3, size=rows)
    columns = {"effect": 1e4 * effect, "cause": cause, "other": other + 7}
    return pd.DataFrame({**columns, "middle": 1e-3 * middle})


@cache
def fitted(mechanism: str) -> DAGPosterior:
    return DAGPosterior(mechanism=mechanism, random_state=0, verbose=False).fit(table())


@kinds
def test_a_loaded_model_gives_the_same_answers(mechanism: str, tmp_path: Path) -> None:
    model, X = fitted(mechanism), table()
    model.save(tmp_path / "model")
    loaded = dpdag.load(tmp_path / "model")
    holes = X.mask(np.random.default_rng(0).random(X.shape) < 0.2)
    for answer in (
        lambda one: one.predict(X),
        lambda one: one.impute(holes),
        lambda one: one.sample(50, random_state=0),
        lambda one: one.sample(50, do={"cause": 0.5}, random_state=0),
        lambda one: one.counterfactual(X, do={"other": 7.5}),
    ):
        assert np.isfinite(answer(model)).all(axis=None)
        pd.testing.assert_frame_equal(answer(loaded), answer(model), check_exact=True)
    assert loaded.score(X) == model.score(X)
    np.testing.assert_array_equal(loaded.sample_dags(20, 0), model.sample_dags(20, 0))
    np.testing.assert_array_equal(loaded.edge_probabilities_, model.edge_probabilities_)


@kinds
def test_answers_fit_together(mechanism: str) -> None:
    model, X = fitted(mechanism), table()
    holes = X.mask(np.random.default_rng(0).random(X.shape) < 0.2)
    pd.testing.assert_frame_equal(model.impute(holes)[holes.notna()], holes)
    np.testing.assert_allclose(model.sample(50, do={"cause": 0.5})["cause"], 0.5)
    pd.testing.assert_frame_equal(model.counterfactual(X, do={}), X, rtol=1e-9)
    row = X.iloc[[3]]
    same = model.counterfactual(row, do={"other": float(row["other"].iloc[0])})
    pd.testing.assert_frame_equal(same, row, rtol=1e-9)
    samples = model.sample_dags(500, random_state=0)
    assert bool(is_acyclic(torch.from_numpy(samples)).all())
    np.testing.assert_allclose(samples.mean(0), model.edge_probabilities_, atol=0.08)


def test_noise_of_a_size_that_varies_is_learned() -> None:
    model = fitted("auto")
    assert set(model.graph_.edges) == {
        ("cause", "middle"),
        ("middle", "effect"),
        ("other", "effect"),
    }
    low, high = (
        model.sample(2000, do={"other": value, "cause": 0.0}, random_state=0)["effect"].std()
        for value in (6.3, 7.7)
    )
    assert high > 2 * low


@kinds
def test_the_same_seed_gives_the_same_model(mechanism: str) -> None:
    again = DAGPosterior(mechanism=mechanism, random_state=0, verbose=False).fit(table())
    model = fitted(mechanism)
    np.testing.assert_array_equal(again.edge_probabilities_, model.edge_probabilities_)
    np.testing.assert_array_equal(again.edge_scores_, model.edge_scores_)
    pd.testing.assert_frame_equal(again.predict(table()), model.predict(table()))


@kinds
def test_column_order_does_not_matter(mechanism: str) -> None:
    columns = ["middle", "other", "effect", "cause"]
    moved = DAGPosterior(mechanism=mechanism, random_state=0, verbose=False).fit(table()[columns])
    order = [list(table()).index(name) for name in columns]
    assert set(moved.graph_.edges) == set(fitted(mechanism).graph_.edges)
    np.testing.assert_allclose(
        moved.edge_probabilities_,
        fitted(mechanism).edge_probabilities_[np.ix_(order, order)],
        atol=0.01,
    )


@kinds
def test_knowledge_holds_everywhere(mechanism: str) -> None:
    known = Knowledge(
        required=[("effect", "other")],
        forbidden=[("cause", "middle")],
        tiers=[["middle"], ["cause"]],
    )
    X = table(150)
    model = DAGPosterior(mechanism=mechanism, knowledge=known, random_state=0, verbose=False).fit(X)
    name = {column: k for k, column in enumerate(X)}
    edge, gone = (name["effect"], name["other"]), (name["cause"], name["middle"])
    samples = model.sample_dags(200, 0)
    assert (samples[:, *edge] == 1).all()
    assert (samples[:, *gone] == 0).all()
    assert model.adjacency_[edge] == 1
    assert model.edge_scores_[gone] == 0
    assert model.edge_probabilities_[edge] == pytest.approx(1)
    order = model.causal_order_.tolist()
    assert order.index(name["middle"]) < order.index(name["cause"])
    assert order.index(name["effect"]) < order.index(name["other"])


@kinds
def test_scores_are_probabilities_less_where_edges_carry_little(mechanism: str) -> None:
    model = fitted(mechanism)
    present = model.adjacency_ == 1
    assert model.edge_scores_[present].min() > model.edge_scores_[~present].max()
    share = model.edge_scores_[present] / model.edge_probabilities_[present]
    assert (share > 0.9).all()  # all carry nats enough
    assert (model.edge_scores_ >= 0).all()
    assert (model.edge_scores_ <= model.edge_probabilities_ + 0.01).all()  # room for what has none


def straight(noise: str, *, n: int = 8, seed: int = 1) -> datasets.Dataset:
    """Straight lines between nodes, with noise as large as the signal."""
    truth = datasets.erdos_renyi(n, n, random_state=seed)
    size = datasets.Noise(noise, variance=1.0)
    return datasets.simulate(
        truth, 500, mechanism="linear", noise=size, root_noise=size, random_state=seed
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_the_shape_of_noise_reveals_a_linear_graph(seed: int) -> None:
    data = straight("uniform", seed=seed)
    model = DAGPosterior(random_state=0, verbose=False).fit(data.frame)
    assert metrics.shd(model.adjacency_, data.adjacency) <= 1
    assert np.mean([record["noise"]["any shape"] for record in model.choice_]) > 0.5


@pytest.mark.parametrize("seed", [0, 2])
def test_the_shape_of_noise_is_seen_in_dense_graphs_too(seed: int) -> None:
    truth = datasets.erdos_renyi(7, 18, random_state=seed)
    noise = datasets.Noise("laplace")
    data = datasets.simulate(truth, 400, mechanism="linear", noise=noise, random_state=seed)
    model = DAGPosterior(random_state=0, verbose=False).fit(data.frame)
    assert metrics.shd(model.adjacency_, truth) <= 2


def test_gaussian_noise_stays_linear_and_open() -> None:
    data = straight("gaussian")
    model = DAGPosterior(random_state=0, verbose=False).fit(data.frame)
    for record in model.choice_:
        assert record["noise"]["Gaussian"] > 0.5
        assert not record["parents"] or record["functions"]["linear"] > 0.5
    rng = np.random.default_rng(1)
    cause = rng.normal(size=500)
    pair = DAGPosterior(random_state=0, verbose=False).fit(
        np.stack([cause, cause + rng.normal(size=500)], axis=1)
    )
    p = pair.edge_probabilities_
    assert p[0, 1] + p[1, 0] > 0.95
    assert abs(p[0, 1] - p[1, 0]) < 0.1
