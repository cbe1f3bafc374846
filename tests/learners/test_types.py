"""DAGPosterior on tables whose columns are of several types."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpdag
from dpdag import DAGPosterior, Knowledge, datasets, metrics
from dpdag.experiments.measures import Fitted
from dpdag.experiments.own.mixed_columns import interventions, mixed_table


def table(rows: int = 600, seed: int = 0) -> pd.DataFrame:
    """age → bmi → diabetes → visits, site → bmi, age → pain; names say nothing of types."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(20, 80, rows)
    site = rng.integers(0, 3, rows)
    bmi = 22 + 6 * np.tanh((age - 50) / 10) + np.array([0.0, 5.0, -3.0])[site]
    bmi = bmi + rng.normal(size=rows)
    diabetes = rng.random(rows) < 1 / (1 + np.exp(-(bmi - 24) / 1.5))
    visits = rng.poisson(np.exp(0.5 + 1.2 * diabetes))
    pain = 1 + (age[:, None] / 15 + rng.logistic(size=(rows, 1)) > [2, 3, 4.5]).sum(1)
    columns = {"visits": visits, "site": site, "diabetes": diabetes, "pain": pain}
    return pd.DataFrame({**columns, "bmi": bmi, "age": age}, dtype=float)


EDGES = {
    ("age", "bmi"),
    ("site", "bmi"),
    ("bmi", "diabetes"),
    ("diabetes", "visits"),
    ("age", "pain"),
}


@cache
def fitted() -> DAGPosterior:
    model = DAGPosterior(types={"site": "category"}, random_state=0, verbose=False)
    return model.fit(table())


def test_causes_of_every_type_are_found() -> None:
    assert set(fitted().graph_.edges) == EDGES


def test_types_are_inferred_and_shown_but_where_they_are_given() -> None:
    found = {str(name): str(own) for name, own in zip(table(), fitted().types_)}
    assert found == {
        "visits": "counts",
        "site": "category of 3: 0, 1, 2",
        "diabetes": "0/1",
        "pain": "ordinal of 4: 1, 2, 3, 4",
        "bmi": "continuous",
        "age": "continuous",
    }
    with pytest.raises(ValueError, match="'types' names the column 'visit'"):
        DAGPosterior(types={"visit": "count"}, verbose=False).fit(table())


def test_answers_respect_types() -> None:
    model, X = fitted(), table()
    holes = X.mask(np.random.default_rng(0).random(X.shape) < 0.2)
    drawn = model.sample(2000, do={"age": 70.0}, random_state=0)
    for rows in (drawn, model.impute(holes), model.counterfactual(X, {"age": 30.0})):
        assert set(rows["diabetes"]) <= {0.0, 1.0}
        assert set(rows["site"]) <= {0.0, 1.0, 2.0}
        assert set(rows["pain"]) <= {1.0, 2.0, 3.0, 4.0}
        assert (rows["visits"] == rows["visits"].round().clip(0)).all()
    pd.testing.assert_frame_equal(model.counterfactual(X, {}), X, rtol=1e-9)
    chance = model.predict(X)["diabetes"]
    assert chance.between(0, 1).all()
    assert chance[X["diabetes"] == 1].mean() > chance[X["diabetes"] == 0].mean() + 0.3


@pytest.mark.parametrize(("bmi", "share"), [(20.0, 0.065), (28.0, 0.935)])
def test_interventions_change_probabilities_by_as_much_as_in_truth(
    bmi: float, share: float
) -> None:
    drawn = fitted().sample(5000, do={"bmi": bmi}, random_state=0)
    assert drawn["diabetes"].mean() == pytest.approx(share, abs=0.04)
    visits = np.exp(0.5) * (1 - share) + np.exp(1.7) * share
    assert drawn["visits"].mean() == pytest.approx(visits, rel=0.1)


def test_answers_under_interventions_are_near_the_generators_on_the_true_graph() -> None:
    """Means in deviations, logarithms of deviations and shares of categories, all types."""
    data = mixed_table("", 100, rows=1000)
    n, truth = len(data.names), data.adjacency == 1
    known = Knowledge(
        required=np.argwhere(truth).tolist(),
        forbidden=np.argwhere(~truth & ~np.eye(n, dtype=bool)).tolist(),
    )
    types = dict(enumerate(data.types.values()))
    model = DAGPosterior(
        mechanism=("linear", "additive"), types=types, knowledge=known, verbose=False
    ).fit(data.X)
    off = interventions(Fitted(model, data))
    assert off["off in means"] < 0.1
    assert off["off in log deviations"] < 0.1
    assert off["off in shares"] < 0.06


def test_names_of_categories_and_the_order_of_columns_do_not_matter() -> None:
    X = table()
    X["site"] = X["site"].map({0.0: 2.0, 1.0: 0.0, 2.0: 1.0})
    columns = ["age", "pain", "site", "visits", "bmi", "diabetes"]
    model = DAGPosterior(types={"site": "category"}, random_state=0, verbose=False)
    moved = model.fit(X[columns])
    order = [list(X).index(name) for name in columns]
    np.testing.assert_allclose(
        moved.edge_probabilities_, fitted().edge_probabilities_[np.ix_(order, order)], atol=0.02
    )


def test_a_loaded_model_gives_the_same_answers(tmp_path: Path) -> None:
    model = fitted()
    model.save(tmp_path / "model")
    loaded = dpdag.load(tmp_path / "model")
    assert loaded.types_ == model.types_
    pd.testing.assert_frame_equal(
        loaded.sample(50, random_state=0), model.sample(50, random_state=0)
    )
    assert loaded.score(table()) == model.score(table())


def test_what_a_number_does_in_every_category_is_answered_and_saved(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    group, cause = rng.integers(0, 4, 400), rng.normal(size=400)
    effect = np.array([-2.0, -0.5, 0.5, 2.0])[group] * cause + 0.3 * rng.normal(size=400)
    X = pd.DataFrame({"group": np.array(list("ABCD"))[group], "cause": cause, "effect": effect})
    model = DAGPosterior(random_state=0, verbose=False).fit(X)
    assert set(model.graph_.edges) == {("group", "effect"), ("cause", "effect")}
    model.save(tmp_path / "model")
    loaded = dpdag.load(tmp_path / "model")
    mean, std = loaded.predict(X, return_std=True)
    assert np.sqrt(np.mean((mean["effect"] - effect) ** 2)) < 0.4
    assert std["effect"].median() == pytest.approx(0.3, rel=0.3)
    pd.testing.assert_frame_equal(mean, model.predict(X))
    held = {"group": "D", "cause": 1.0}
    drawn = loaded.sample(500, do=held, random_state=0)["effect"]
    assert drawn.mean() == pytest.approx(2.0, abs=0.2)


def test_a_coin_tossed_before_all_else_has_no_causes() -> None:
    rng = np.random.default_rng(1)
    sex = rng.integers(0, 2, 500)
    father, mother = rng.normal(175, 7, 500), rng.normal(163, 6, 500)
    height = 0.4 * father + 0.4 * mother + 13 * sex + rng.normal(30, 5, 500)
    X = pd.DataFrame({"height": height, "sex": sex, "father": father, "mother": mother})
    model = DAGPosterior(random_state=0, verbose=False).fit(X)
    assert model.edge_probabilities_[:, 1].max() < 0.5
    assert model.edge_probabilities_[1, 0] > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("rows", [300, 1000])
def test_mixed_tables_are_recovered_far_better_than_as_plain_numbers(rows: int) -> None:
    typed, plain = [], []
    for seed in (10, 11, 12):
        data = datasets.mixed(12, rows, random_state=seed)
        numbers = dict.fromkeys(data.names, "continuous")
        for types, scores in ((data.types, typed), (numbers, plain)):
            model = DAGPosterior(types=types, random_state=0, verbose=False).fit(data.frame)
            scores.append(metrics.edge_auc(model.edge_scores_, data.adjacency)["Dir-AUC-PR"])
    assert np.mean(typed) > (0.9 if rows == 1000 else 0.8)
    assert np.mean(typed) > np.mean(plain) + 0.3


def test_missing_values_are_filled_with_values_of_the_type() -> None:
    X = table(200)
    holes = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    options = {"mechanism": "additive", "missing": "impute", "random_state": 0, "verbose": False}
    model = DAGPosterior(types={"site": "category"}, **options).fit(holes)
    assert [own.kind for own in model.types_] == [own.kind for own in fitted().types_]
    filled = model.impute(holes)
    for own, name in zip(model.types_, X):
        np.testing.assert_array_equal(own.settle(filled[name].to_numpy()), filled[name])


def test_columns_of_whole_numbers_are_filled_with_whole_numbers() -> None:
    rng = np.random.default_rng(0)
    age = rng.integers(20, 90, 200).astype(float)
    X = pd.DataFrame({"age": age, "dose": age / 20 + rng.normal(size=200)})
    model = DAGPosterior(mechanism="linear", random_state=0, verbose=False).fit(X)
    holes = X.mask(rng.random(X.shape) < 0.2)
    filled = model.impute(holes)
    np.testing.assert_array_equal(filled["age"], filled["age"].round())
    assert (filled["dose"] != filled["dose"].round()).all()
    assert filled[holes.notna()].equals(holes)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_gaps_turn_no_arrow(seed: int) -> None:
    X = table(seed=seed)
    holes = X.mask(np.random.default_rng(seed).random(X.shape) < 0.1)
    options = {"missing": "impute", "resamples": 0, "random_state": 0, "verbose": False}
    model = DAGPosterior(types={"site": "category"}, **options).fit(holes)
    assert set(model.graph_.edges) == EDGES


def test_knowledge_holds_on_discrete_columns() -> None:
    known = Knowledge(forbidden=[("bmi", "diabetes")], required=[("pain", "visits")])
    model = DAGPosterior(knowledge=known, random_state=0, verbose=False).fit(table(200))
    assert model.edge_probabilities_[4, 2] == 0
    assert model.adjacency_[3, 0] == 1


def test_no_arrow_is_stated_at_a_discrete_column_passed_off_as_continuous() -> None:
    rng = np.random.default_rng(0)
    dose = rng.normal(size=300)
    ill = (rng.random(300) < 1 / (1 + np.exp(-3 * dose))).astype(int)
    X = pd.DataFrame({"ill": ill, "dose": dose, "visits": rng.poisson(np.exp(ill))})
    model = DAGPosterior(types={"ill": "continuous"}, random_state=0, verbose=False).fit(X)
    assert model.linked_probabilities_[0, 1:].min() > 0.9
    assert model.edge_probabilities_.max() < 0.51
