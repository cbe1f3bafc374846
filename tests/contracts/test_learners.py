"""What every learner must do, whatever its method."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpdag import (
    CAM,
    DAGGNN,
    DAGNF,
    NOTEARS,
    VIDPDAG,
    Correlation,
    DAGPosterior,
    ExactPosterior,
    GraNDAG,
    GroundTruthDAG,
    Knowledge,
    MaskedDAG,
    SortRegress,
    load,
    selection,
)
from dpdag.learners import LEARNERS as KINDS
from dpdag.ops.graphs import is_acyclic

# Trained for a moment only: what they find is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::dpdag.NotConvergedWarning")
BRIEFLY = {"max_epochs": 2, "random_state": 0}
TRUTH = [[0, 0, 0], [0, 0, 1], [1, 0, 0]]  # of table(): a → b → c

SURE = [CAM(n_bootstrap=0), ExactPosterior(random_state=0), DAGPosterior(random_state=0)]
FLOORS = [SortRegress(random_state=0), Correlation(random_state=0)]
NETWORKS = [
    VIDPDAG(mechanism="mlp", **BRIEFLY),
    GraNDAG(**BRIEFLY),
    MaskedDAG(**BRIEFLY),
    NOTEARS(**BRIEFLY),
    NOTEARS(mechanism="mlp", **BRIEFLY),
]
DENSITIES = [DAGGNN(**BRIEFLY), DAGNF(**BRIEFLY), DAGNF(normaliser="monotonic", **BRIEFLY)]
ANSWERING = [*SURE, *FLOORS, *NETWORKS, GroundTruthDAG(TRUTH, **BRIEFLY)]
LEARNERS = [*ANSWERING, *DENSITIES]


def test_every_learner_is_under_contract() -> None:
    assert {type(learner) for learner in LEARNERS} == set(KINDS.values())


@parametrize_with_checks(
    # A graph that is given cannot fit the columns of all tables that scikit-learn tries.
    [learner for learner in LEARNERS[1:] if not isinstance(learner, GroundTruthDAG)],
    expected_failed_checks=lambda _: {},
)
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    a = rng.normal(size=150)
    b = np.tanh(2 * a) + 0.2 * rng.normal(size=150)
    c = b**2 + 0.2 * rng.normal(size=150)
    return pd.DataFrame({"c": 100 * c, "a": a, "b": b - 5})


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_learner_is_deterministic_acyclic_and_keeps_names(learner) -> None:
    one, two = learner.fit(table()), learner.fit(table())
    np.testing.assert_array_equal(one.edge_scores_, two.edge_scores_)
    assert bool(is_acyclic(torch.from_numpy(one.adjacency_)))
    assert list(one.graph_.nodes) == ["c", "a", "b"]
    position = np.argsort(one.causal_order_)
    for i, j in np.argwhere(one.adjacency_):
        assert position[i] < position[j]


@pytest.mark.parametrize("learner", ANSWERING, ids=str)
def test_frames_are_answered_with_frames_and_arrays_with_arrays(learner) -> None:
    X = table()
    rows = X.head(7).set_axis(list("stuvwxy"))
    model = learner.fit(X)
    more = rows.assign(site="north", one=1.0)[["site", "c", "one", "a", "b"]]
    other = ["b", "c", "a"]
    for answer in (model.predict, model.impute, lambda R: model.counterfactual(R, {"a": 1.0})):
        pd.testing.assert_frame_equal(answer(more), answer(rows))
        pd.testing.assert_frame_equal(answer(rows[other]), answer(rows)[other])
        with pytest.raises(ValueError, match="yet now missing:\n- b"):
            answer(rows[["c", "a"]])
        assert list(answer(rows).index) == list(rows.index)
        assert list(answer(rows)) == ["c", "a", "b"]
    assert model.score(more) == model.score(rows) == model.score(rows[other])
    assert list(model.sample(2)) == ["c", "a", "b"]
    unnamed = learner.fit(X.to_numpy())
    assert isinstance(unnamed.predict(X.to_numpy()), np.ndarray)
    assert isinstance(unnamed.sample(2), np.ndarray)


@pytest.mark.parametrize("learner", LEARNERS[:1], ids=str)
def test_a_fitted_model_refuses_gaps_and_names_impute(learner) -> None:
    model = clone(learner).fit(table())
    gaps = table().head(3)
    gaps.loc[0, "a"] = np.nan
    for answer in (model.predict, model.score, lambda R: model.counterfactual(R, {"a": 1.0})):
        with pytest.raises(ValueError, match=r"NaN in columns \['a'\]; .* impute\(X\), or drop"):
            answer(gaps)
        answer(model.impute(gaps))


@pytest.mark.parametrize(
    "learner",
    [
        *SURE[:2],
        FLOORS[0],
        DAGPosterior(mechanism="linear"),
        DAGPosterior(mechanism="linear", missing="impute"),
    ],
    ids=str,
)
def test_columns_that_number_the_rows_are_warned_of_once(learner) -> None:
    X = table().assign(
        id=np.random.default_rng(1).permutation(150), year=1990 + np.arange(150) // 2
    )
    X["day"] = pd.array(np.arange(150) + 19_000, dtype="Int64")
    said = r"Columns \['id', 'day'\] number the rows: drop ids, .* a time or an order may stay"
    with pytest.warns(UserWarning, match=said) as caught:
        clone(learner).fit(X)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("path", ["field.csv", Path("field.csv")], ids=type)
def test_a_path_is_no_table(learner, path) -> None:
    with pytest.raises(TypeError, match=r"path 'field.csv': read .* dpdag\.datasets\.read\(path\)"):
        clone(learner).fit(path)


@pytest.mark.parametrize("size", [1e300, 1e160, 1e-160, 1e-300])
def test_values_beyond_arithmetic_are_refused_by_name(size) -> None:
    X = table()
    X["b"] *= size
    said = r"sizes from 1e-100 to 1e\+100; got 'b' \(\de.\d*\): choose another unit"
    for fit in (LEARNERS[0].fit, DAGPosterior(missing="impute").fit, selection.neighbours):
        with pytest.raises(ValueError, match=said):
            fit(X)


def test_a_code_for_missing_values_in_a_table_is_named() -> None:
    X = table().astype(object)
    X.loc[3, "b"] = "?"
    with pytest.raises(
        ValueError, match=r"'b' holds numbers but for '\?': put NaN where they stand"
    ):
        clone(LEARNERS[0]).fit(X)


@pytest.mark.parametrize("learner", [*SURE, FLOORS[0]], ids=str)
def test_learner_commutes_with_relabelling_and_rescaling(learner) -> None:
    X = table()
    edges = set(learner.fit(X).graph_.edges)
    other = X[["b", "c", "a"]] * [3.0, 0.01, -2.0]
    assert set(learner.fit(other).graph_.edges) == edges


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_a_saved_learner_answers_as_before(learner, tmp_path) -> None:
    model = clone(learner).fit(table())
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.edge_scores_, model.edge_scores_)
    np.testing.assert_array_equal(again.adjacency_, model.adjacency_)
    assert again.score(table()) == pytest.approx(model.score(table()), rel=1e-6)
    pd.testing.assert_frame_equal(again.history_, model.history_, check_dtype=False)
    if hasattr(model, "predict"):
        pd.testing.assert_frame_equal(again.predict(table()), model.predict(table()))


@pytest.mark.parametrize("learner", DENSITIES, ids=str)
def test_learners_without_functions_say_so_and_name_the_way_out(learner) -> None:
    model = clone(learner).fit(table())
    for answer in ("predict", "impute", "sample", "counterfactual"):
        assert not hasattr(model, answer)
        with pytest.raises(AttributeError, match=rf"no functions .*GroundTruthDAG.*{answer}\("):
            getattr(model, answer)
    assert np.isfinite(model.score(table()))


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_forbidden_edges_are_in_no_output_and_required_ones_in_it_or_refused(
    learner,
) -> None:
    forbidden = [("b", "a"), ("c", "a"), ("c", "b")]
    model = clone(learner).set_params(knowledge=Knowledge(forbidden=forbidden)).fit(table())
    for source, target in forbidden:
        assert not model.graph_.has_edge(source, target)
        i, j = (list(model.feature_names_in_).index(end) for end in (source, target))
        assert model.edge_scores_[i, j] < 1e-9
    needed = clone(learner).set_params(knowledge=Knowledge(required=[("a", "b"), ("b", "c")]))
    if isinstance(learner, (GraNDAG, NOTEARS, DAGGNN)):
        with pytest.raises(ValueError, match="cannot guarantee 'required' edges"):
            needed.fit(table())
    else:
        assert set(needed.fit(table()).graph_.edges) >= {("a", "b"), ("b", "c")}


@pytest.mark.parametrize("learner", NETWORKS[1:] + DENSITIES, ids=str)
def test_neighbour_selection_and_pruning_are_honoured(learner) -> None:
    possible = np.zeros((3, 3), dtype=bool)
    possible[1, 2] = True  # a → b
    model = clone(learner).set_params(pns=possible, prune=True).fit(table())
    assert set(model.graph_.edges) <= {("a", "b")}


@pytest.mark.parametrize("learner", NETWORKS[1:] + DENSITIES, ids=str)
@pytest.mark.parametrize(
    ("setting", "value"),
    [("learning_rate", 0.0), ("max_epochs", 0), ("constraint", "none"), ("tolerance", -1.0)],
)
def test_bad_settings_are_refused_by_name(learner, setting, value) -> None:
    with pytest.raises(ValueError, match=setting):
        clone(learner).set_params(**{setting: value}).fit(table())
