"""The baselines find what their assumptions allow, and say when they did not get there."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone

from dpdag import (
    DAGGNN,
    DAGNF,
    NOTEARS,
    DAGPosterior,
    GraNDAG,
    GroundTruthDAG,
    Knowledge,
    MaskedDAG,
    NotConvergedWarning,
    SortRegress,
    fit_many,
)
from dpdag.learners import dag_gnn
from dpdag.metrics import edge_auc, shd

BRIEFLY = {"max_epochs": 2, "random_state": 0}


def curved(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    """a → b → c, far from straight lines."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=rows)
    b = np.sin(2 * a) + 0.3 * rng.normal(size=rows)
    c = b**2 + 0.3 * rng.normal(size=rows)
    return pd.DataFrame({"c": c, "a": a, "b": b})


def straight(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A linear model with noise of one variance, columns shuffled."""
    rng = np.random.default_rng(seed)
    size = rng.uniform(0.5, 1.5, (n, n)) * rng.choice([-1, 1], (n, n))
    weight = np.triu(rng.random((n, n)) < 0.3, 1) * size
    order = rng.permutation(n)
    x = rng.normal(size=(1000, n)) @ np.linalg.inv(np.eye(n) - weight)
    return x[:, order], (weight != 0)[np.ix_(order, order)].astype(int)


@pytest.mark.parametrize(
    "learner",
    [GraNDAG(), MaskedDAG(patience=3), NOTEARS(mechanism="mlp"), DAGNF(patience=2)],
    ids=str,
)
def test_networks_recover_three_nodes(learner) -> None:
    model = clone(learner).set_params(random_state=0).fit(curved(600))
    assert model.converged_
    truth = pd.DataFrame(0, index=list("cab"), columns=list("cab"))
    truth.loc["a", "b"] = truth.loc["b", "c"] = 1
    scores = pd.DataFrame(model.edge_scores_, index=list("cab"), columns=list("cab"))
    assert edge_auc(scores, truth)["Dir-AUC-PR"] == 1.0
    assert set(model.graph_.edges) >= {("a", "b"), ("b", "c")}
    history = model.history_
    assert {"total", "score", "h", "multiplier", "penalty", "validation"} <= set(history)
    assert history["h"].iloc[-1] < 1e-6 < history["h"].max()


def test_the_autoencoder_recovers_three_nodes_on_their_own_scale() -> None:
    rng = np.random.default_rng(0)
    a, b, noise = rng.normal(size=(3, 800))
    X = np.stack([2 * a - 2 * b + noise, a, b], axis=1)
    truth = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 0]])
    model = DAGGNN(standardise=False, random_state=0).fit(X)
    assert edge_auc(model.edge_scores_, truth)["Dir-AUC-PR"] == 1.0


def test_linear_notears_recovers_a_linear_model_of_ten_nodes() -> None:
    tables = [straight(10, seed) for seed in range(3)]
    fits = fit_many([x for x, _ in tables], estimator=NOTEARS(standardise=False, l1=0.005))
    distances = [shd(truth, fit.estimator.adjacency_) for fit, (_, truth) in zip(fits, tables)]
    assert all(fit.estimator.converged_ for fit in fits)
    assert np.median(distances) == 0
    assert max(distances) <= 2


@pytest.mark.parametrize(
    "learner", [GraNDAG(), MaskedDAG(), NOTEARS(mechanism="mlp"), DAGGNN(), DAGNF()], ids=str
)
def test_fits_side_by_side_equal_fits_alone(learner) -> None:
    learner = clone(learner).set_params(max_epochs=6, patience=1, verbose=False)
    tables = [curved(seed=0), curved(seed=1)]
    with pytest.warns(NotConvergedWarning):
        together = fit_many(tables, seeds=[3, 4], estimator=learner)
    assert [(fit.dataset, fit.seed) for fit in together] == [(0, 3), (0, 4), (1, 3), (1, 4)]
    for fit in together:
        with pytest.warns(NotConvergedWarning):
            alone = clone(learner).set_params(random_state=fit.seed).fit(tables[fit.dataset])
        np.testing.assert_allclose(
            fit.estimator.edge_scores_, alone.edge_scores_, atol=1e-4, rtol=1e-3
        )


def test_many_fits_take_what_a_fit_takes() -> None:
    gaps = curved(100)
    gaps.loc[:4, "a"] = np.nan
    (fit,) = fit_many([gaps], estimator=DAGPosterior(mechanism="linear", missing="impute"))
    assert fit.estimator.adjacency_.shape == (3, 3)


def test_restarts_are_one_batch_and_the_best_is_kept() -> None:
    model = NOTEARS(n_restarts=3, improvement=1e-2, random_state=0).fit(curved(200))
    assert sorted(model.history_["replica"].unique()) == [0, 1, 2]
    assert model.adjacency_.sum() <= 3


def test_a_fit_that_ends_early_says_so_and_still_gives_a_dag() -> None:
    with pytest.warns(NotConvergedWarning, match=r"in 2 epochs: h is .*Raise 'max_epochs'"):
        model = MaskedDAG(threshold=0.0, **BRIEFLY).fit(curved())
    assert not model.converged_
    assert model.n_removed_ == 3  # of six possible edges, half
    assert nx.is_directed_acyclic_graph(model.graph_)


def test_a_fit_that_diverges_keeps_its_last_good_state() -> None:
    with pytest.warns(NotConvergedWarning, match="lower 'learning_rate' if the loss diverged"):
        model = NOTEARS(learning_rate=3.0, max_epochs=60, random_state=0).fit(curved())
    assert np.isfinite(model.edge_scores_).all()
    assert nx.is_directed_acyclic_graph(model.graph_)


def test_a_diverged_fit_is_not_called_converged_though_it_began_without_edges(monkeypatch) -> None:
    forward, calls = dag_gnn._Score.forward, iter(range(10**6))

    def diverging(self, x, noise):
        return forward(self, x, noise) * (1.0 if next(calls) < 60 else np.nan)

    monkeypatch.setattr(dag_gnn._Score, "forward", diverging)
    with pytest.warns() as caught:
        model = DAGGNN(max_epochs=200, random_state=0).fit(curved())
    said = [str(warning.message) for warning in caught if warning.category is NotConvergedWarning]
    assert len(said) == 1
    assert "the loss became infinite. Its last good state is kept" in said[0]
    assert not model.converged_
    assert np.isfinite(model.edge_scores_).all()


def test_networks_of_a_given_graph_predict_as_well_as_its_noise_allows() -> None:
    X = curved(1500)
    truth = nx.DiGraph([("a", "b"), ("b", "c")])
    for mechanism in ("mlp", "gp", "additive"):
        model = GroundTruthDAG(truth, mechanism=mechanism, random_state=0).fit(X[:1000])
        error = (model.predict(X[1000:]) - X[1000:]).std()
        assert error["b"] < 0.36
        assert error["c"] < 0.36
        assert error["a"] == pytest.approx(X["a"][1000:].std(), rel=1e-6)  # a root
    drawn = model.sample(2000, do={"b": 1.0}, random_state=0)
    assert drawn["c"].mean() == pytest.approx(1.0, abs=0.1)


def test_a_graph_may_be_given_in_many_forms(tmp_path) -> None:
    X = curved()
    matrix = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0]])
    frame = pd.DataFrame(matrix, index=list("cab"), columns=list("cab"))
    first = GroundTruthDAG(matrix, mechanism="linear").fit(X)
    first.to_graphml(tmp_path / "graph.graphml")
    first.to_edges().to_csv(tmp_path / "edges.csv", index=False)
    forms = [
        frame.loc[["a", "b", "c"], ["a", "b", "c"]],
        first.graph_,
        tmp_path / "graph.graphml",
        str(tmp_path / "edges.csv"),
        tmp_path,
    ]
    for form in forms:
        again = GroundTruthDAG(form, mechanism="linear").fit(X)
        np.testing.assert_array_equal(again.adjacency_, matrix)
    unnamed = GroundTruthDAG(matrix, mechanism="linear").fit(X.to_numpy())
    unnamed.to_graphml(tmp_path / "graph.graphml")
    again = GroundTruthDAG(tmp_path / "graph.graphml", mechanism="linear").fit(X.to_numpy())
    np.testing.assert_array_equal(again.adjacency_, matrix)


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (None, "'adjacency' must be given"),
        ([[0, 1], [0, 0]], "must have the same nodes; got 3 and 2"),
        ([[0, 1, 0], [1, 0, 0], [0, 0, 0]], "must be acyclic; it has the cycle"),
        (nx.DiGraph([("a", "b"), ("a", "d")]), "must have the same nodes"),
        ("nowhere.csv", "nowhere.csv, which is no file"),
        ([[0, 0.5, 0], [0, 0, 0], [0, 0, 0]], "0/1 adjacency matrix; it holds 0.5"),
    ],
)
def test_a_graph_that_cannot_be_is_refused(graph, said) -> None:
    with pytest.raises(ValueError, match=said):
        GroundTruthDAG(graph).fit(curved())


def test_a_given_graph_must_agree_with_knowledge() -> None:
    graph = nx.DiGraph([("a", "b"), ("b", "c")])
    with pytest.raises(ValueError, match="has the forbidden edge a → b"):
        GroundTruthDAG(graph, knowledge=Knowledge(forbidden=[("a", "b")])).fit(curved())
    with pytest.raises(ValueError, match="lacks the required edge a → c"):
        GroundTruthDAG(graph, knowledge=Knowledge(required=[("a", "c")])).fit(curved())


def test_sorting_by_variance_sees_the_scales_and_nothing_else_does() -> None:
    x, truth = straight(10, 1)
    by_scale = SortRegress(by="variance").fit(x)
    assert edge_auc(by_scale.edge_scores_, truth)["Dir-AUC-PR"] > 0.8
    blind = SortRegress(by="variance", random_state=0).fit(x / x.std(0))
    assert edge_auc(blind.edge_scores_, truth)["Dir-AUC-PR"] < 0.8
    same = [SortRegress(by="r2").fit(z).edge_scores_ for z in (x, x / x.std(0))]
    np.testing.assert_allclose(*same, atol=1e-6)
    orders = {
        tuple(SortRegress(by="random", random_state=k).fit(x).causal_order_) for k in range(3)
    }
    assert len(orders) == 3


def test_sorting_respects_tiers() -> None:
    x, _ = straight(6, 0)
    for by in ("variance", "r2", "random"):
        known = Knowledge(tiers=[[5], [0, 1, 2, 3, 4]])
        order = SortRegress(by=by, knowledge=known, random_state=0).fit(x).causal_order_
        assert order[0] == 5


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.filterwarnings("ignore::dpdag.NotConvergedWarning")
@pytest.mark.parametrize(
    "learner", [GraNDAG(), MaskedDAG(), NOTEARS(), NOTEARS(mechanism="mlp"), DAGGNN(), DAGNF()]
)
def test_fits_on_a_gpu_end_on_the_cpu(learner) -> None:
    learner = clone(learner).set_params(max_epochs=6, n_restarts=2, random_state=0, device="cuda")
    model = learner.fit(curved(200))
    assert nx.is_directed_acyclic_graph(model.graph_)
    assert np.isfinite(model.edge_scores_).all()
    assert np.isfinite(model.score(curved(200)))
