"""CAM and what every learner built on DAGLearner shares."""

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpdag import CAM, Knowledge, datasets, metrics


@parametrize_with_checks(
    [CAM(n_bootstrap=0), CAM(n_bootstrap=3, random_state=0, pns="additive")],
    expected_failed_checks=lambda _: {},
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def chain(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    """z → y → x → w, in other units, columns against the causal order."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=rows)
    y = np.sin(2 * z) + 0.3 * rng.normal(size=rows)
    x = np.tanh(2 * y) * 2 + 0.3 * rng.normal(size=rows)
    w = np.square(x) / 2 + 0.3 * rng.normal(size=rows)
    return pd.DataFrame({"w": w * 1e4, "x": x * 1e-3 + 5, "y": y, "z": z - 100})


TRUTH = {("z", "y"), ("y", "x"), ("x", "w")}


@pytest.mark.parametrize("settings", [{"n_bootstrap": 0}, {"n_bootstrap": 5, "random_state": 0}])
def test_a_nonlinear_chain_is_found_with_names(settings):
    model = CAM(**settings).fit(chain())
    assert set(model.graph_.edges) == TRUTH
    assert nx.is_directed_acyclic_graph(model.graph_)
    assert [model.feature_names_in_[k] for k in model.causal_order_] == ["z", "y", "x", "w"]
    assert model.adjacency_.dtype.kind == "i"
    scores = [data["score"] for _, _, data in model.graph_.edges(data=True)]
    assert min(scores) > model.edge_scores_[model.adjacency_ == 0].max()
    assert (model.history_["log_posterior"].diff().dropna() > 0).all()


def test_known_order_of_gp_data_is_recovered():
    data = datasets.load("ER-10-40", index=100)
    order = CAM(n_bootstrap=5, random_state=0).fit(data.X).causal_order_
    place = np.argsort(order)
    right = [place[i] < place[j] for i, j in np.argwhere(data.adjacency)]
    assert np.mean(right) > 0.9


def test_results_do_not_depend_on_column_order_or_units():
    X = chain()
    model = CAM(n_bootstrap=0).fit(X)
    moved = CAM(n_bootstrap=0).fit(X[["y", "w", "z", "x"]] * 3.5 - 20)
    assert set(moved.graph_.edges) == set(model.graph_.edges)
    place = [X.columns.get_loc(name) for name in moved.feature_names_in_]
    np.testing.assert_allclose(
        moved.edge_scores_, model.edge_scores_[np.ix_(place, place)], rtol=1e-6, atol=1e-9
    )


def test_same_seed_same_result_and_global_state_untouched():
    X = chain(rows=200)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (CAM(n_bootstrap=4, random_state=1).fit(X).edge_scores_ for _ in range(2))
    assert (first == second).all()
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


def test_knowledge_by_name_is_enforced_everywhere():
    known = Knowledge(forbidden=[("z", "y")], required=[("w", "z")], tiers=[["w"], ["y"]])
    for settings in ({"n_bootstrap": 0}, {"n_bootstrap": 4, "random_state": 0}):
        model = CAM(knowledge=known, **settings).fit(chain())
        assert model.graph_.has_edge("w", "z")
        assert not model.graph_.has_edge("z", "y")
        assert model.edge_scores_[3, 2] == 0
        order = [model.feature_names_in_[k] for k in model.causal_order_]
        assert order.index("w") < order.index("y")


def test_neighbour_selection_and_masks_limit_the_edges():
    mask = np.zeros((4, 4), dtype=bool)
    mask[3, 2] = True  # z → y only
    model = CAM(pns=mask, n_bootstrap=0).fit(chain())
    assert set(model.graph_.edges) == {("z", "y")}
    assert set(CAM(pns="additive", n_bootstrap=0).fit(chain()).graph_.edges) == TRUTH


def test_pruning_drops_edges_and_ranks_the_rest_below():
    X = datasets.load("ER-10-40", index=101).X[:200]
    loose, strict = (CAM(n_bootstrap=0, penalty=-5, prune=p).fit(X) for p in (False, 1e-6))
    kept = strict.adjacency_ == 1
    assert kept.sum() < loose.adjacency_.sum()
    assert (loose.adjacency_[kept] == 1).all()
    assert strict.edge_scores_[kept].min() > strict.edge_scores_[~kept].max()


def test_predictions_are_in_original_units_and_better_than_means():
    X = chain()
    model = CAM(n_bootstrap=0).fit(X)
    predicted = model.predict(X)
    error = np.square(predicted - X).mean() / X.var()
    assert (error[["w", "x", "y"]] < 0.4).all()
    np.testing.assert_allclose(predicted["z"], X["z"].mean())


def test_interventions_move_descendants_only():
    model = CAM(n_bootstrap=0).fit(chain())
    free = model.sample(4000, random_state=0)
    done = model.sample(4000, do={"x": 5.002}, random_state=0)
    assert (done["x"] == 5.002).all()
    pd.testing.assert_frame_equal(done[["y", "z"]], free[["y", "z"]])
    assert done["w"].mean() == pytest.approx(2e4, rel=0.1)  # w = 1e4 · (2)² / 2


def test_counterfactuals_and_imputation_by_name():
    X = chain()
    model = CAM(n_bootstrap=0).fit(X)
    same = model.counterfactual(X, do={})
    np.testing.assert_allclose(same, X, rtol=1e-9)
    holes = X.copy()
    holes.loc[:50, "y"] = np.nan
    filled = model.impute(holes)
    pd.testing.assert_frame_equal(filled[51:], X[51:])
    np.testing.assert_allclose(filled["y"][:51], model.predict(X)["y"][:51])
    with pytest.raises(ValueError, match="Unknown column 'Y' in 'do'"):
        model.sample(1, do={"Y": 1.0})


def test_score_prefers_the_model_that_fits():
    train, test = chain(seed=0), chain(seed=1)
    fitted = CAM(n_bootstrap=0).fit(train).score(test)
    empty = CAM(n_bootstrap=0, pns=np.zeros((4, 4))).fit(train).score(test)
    assert fitted > empty + 0.1


def test_cloning_pickling_and_grid_search_work():
    X = chain(rows=150)
    search = GridSearchCV(CAM(n_bootstrap=0), {"penalty": [1.0, 1e6]}, cv=2).fit(X)
    assert search.best_params_ == {"penalty": 1.0}
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), search.best_estimator_.predict(X))
    assert clone(again).get_params()["penalty"] == 1.0


def test_ties_binary_columns_and_few_rows_are_handled():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 4))
    X[:, 1] = X[:, 0] > 0
    X[:, 2] = np.round(X[:, 2])
    model = CAM(n_functions=12, n_bootstrap=2, random_state=0).fit(X)
    assert np.isfinite(model.edge_scores_).all()
    assert np.isfinite(model.predict(X)).all()


def _bad(column: str, value: object) -> pd.DataFrame:
    X = chain(rows=50).astype(object)
    X.loc[3, column] = value
    return X


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (_bad("y", np.nan), r"X contains NaN in columns \['y'\]; impute first or drop the rows"),
        (_bad("x", -np.inf), r"X contains infinity in columns \['x'\]"),
        (_bad("z", "high"), "'z' holds numbers but for 'high': put NaN"),
        (chain(50).assign(k=1.0), r"X is constant in columns \['k'\]; drop them"),
        (chain(50).assign(k=lambda f: 3 - f["w"]), r"copies.*\[\('w', 'k'\)\]; keep one"),
        (chain(4), "minimum of 5 is required"),
        (chain(50)[["w"]], "minimum of 2 is required"),
    ],
)
def test_bad_data_is_refused_by_name(X, message):
    with pytest.raises(ValueError, match=message) as error:
        CAM(n_bootstrap=0).fit(X)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_functions": 0}, "'n_functions' must be an integer at least 1; got 0"),
        ({"n_bootstrap": -1}, "'n_bootstrap' must be an integer at least 0; got -1"),
        ({"moves": ("adds",)}, "'moves' must be 'add' or 'delete' or 'reverse'; got 'adds'"),
        ({"pns": "forest"}, "Unknown neighbour selection 'forest'"),
        ({"pns": np.ones((2, 2))}, r"'pns' must be a method or a \(4, 4\) mask; got \(2, 2\)"),
        ({"knowledge": [("a", "b")]}, "'knowledge' must be a dpdag.Knowledge or None"),
        ({"knowledge": Knowledge(required=[("a", "z")])}, "Unknown node 'a' in 'knowledge'"),
        ({"random_state": "today"}, "'random_state' must be"),
    ],
)
def test_bad_parameters_are_refused_by_name(settings, message):
    with pytest.raises(ValueError, match=message):
        CAM(**{"n_bootstrap": 2, **settings}).fit(chain(rows=50))


def test_benchmark_sets_are_learned(data_folder):
    floors = {"ER-10-10": 0.9, "ER-10-40": 0.85, "SF-10-10": 0.85}
    for name, floor in floors.items():
        scores = []
        for index in range(3):
            data = datasets.load(name, index=index, source="original")
            model = CAM(n_bootstrap=4, random_state=0).fit(data.X)
            scores.append(metrics.edge_auc(model.edge_scores_, data.adjacency)["Dir-AUC-PR"])
        assert np.mean(scores) > floor, name
