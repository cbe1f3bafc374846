"""Tables as they come: labels go in as they are and come back as they were."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpdag
from dpdag import CAM, DAGPosterior, ExactPosterior, GroundTruthDAG, Knowledge
from dpdag.records import describe

GRADES = ["low", "mid", "high"]
KNOWN = Knowledge(
    required=[
        ("age", "dose"),
        ("site", "dose"),
        ("dose", "ward"),
        ("dose", "ill"),
        ("age", "grade"),
    ]
)


@cache
def table(rows: int = 400) -> pd.DataFrame:
    """age → dose ← site; ward, illness and visits by the dose; grade by the age."""
    rng = np.random.default_rng(0)
    age = rng.normal(50, 10, rows)
    site = rng.choice(["A", "B", "C"], rows, p=[0.2, 0.5, 0.3])
    dose = age / 10 + 3.0 * (site == "B") - 2.0 * (site == "C") + 0.3 * rng.normal(size=rows)
    ward = np.where(dose + 0.3 * rng.normal(size=rows) > 5, "west", "east")
    ill = rng.random(rows) < 1 / (1 + np.exp(6 - dose))
    visits = rng.poisson(np.exp(dose / 6))
    place = np.digitize(age + 5 * rng.normal(size=rows), [45, 55])
    return pd.DataFrame(
        {
            "age": pd.array(age, dtype="Float64"),
            "site": site,
            "dose": dose,
            "ward": pd.Categorical(ward),
            "ill": pd.array(ill, dtype="boolean"),
            "visits": pd.array(visits, dtype="Int64"),
            "grade": pd.Categorical.from_codes(place, GRADES, ordered=True),
        }
    )


@cache
def fitted() -> DAGPosterior:
    model = DAGPosterior(knowledge=KNOWN, mechanism=["linear", "additive"], verbose=False)
    return model.fit(table())


def gaps() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return table().mask(rng.random(table().shape) < 0.1)


def test_types_are_those_of_the_columns() -> None:
    assert list(map(str, fitted().types_)) == [
        "continuous",
        "category of 3: A, B, C",
        "continuous",
        "east/west",
        "False/True",
        "counts",
        "ordinal of 3: low, mid, high",
    ]


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.sample(300, random_state=0),
        lambda model: model.impute(gaps()),
        lambda model: model.predict(table()),
        lambda model: model.counterfactual(table(), {"site": "B"}),
    ],
    ids=["sample", "impute", "predict", "counterfactual"],
)
def test_labels_are_answered_by_labels(ask, tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    answers = [ask(model) for model in (fitted(), dpdag.load(tmp_path / "model"))]
    pd.testing.assert_frame_equal(*answers)
    rows = answers[0]
    assert list(rows) == list(table())
    assert rows.notna().all(axis=None)
    assert set(rows["site"]) <= {"A", "B", "C"}
    assert rows["ill"].dtype == bool
    assert rows["ward"].dtype == pd.CategoricalDtype(["east", "west"])
    assert rows["grade"].dtype == pd.CategoricalDtype(GRADES, ordered=True)


def test_what_is_known_stays_as_it_is() -> None:
    filled, holes = fitted().impute(gaps()), gaps()
    for name in holes:
        known = holes[name].notna()
        assert (filled[name][known].to_numpy() == holes[name][known].to_numpy()).all()
    same = fitted().counterfactual(table(), {})
    assert (same["site"] == table()["site"]).all()
    assert (same["ill"] == table()["ill"].to_numpy(bool)).all()
    assert (same["visits"] == table()["visits"].to_numpy(int)).all()


def test_probabilities_sum_to_one_and_are_near_the_truth() -> None:
    found = fitted().predict_probabilities(table())
    assert {name: list(p) for name, p in found.items()} == {
        "site": ["A", "B", "C"],
        "ward": ["east", "west"],
        "ill": [False, True],
        "grade": GRADES,
    }
    for p in found.values():
        assert (p.index == table().index).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)
    truth = 1 / (1 + np.exp(6 - table()["dose"]))
    assert np.abs(found["ill"][True] - truth).mean() < 0.05
    likeliest = fitted().predict(table())["ill"]
    assert (likeliest == (found["ill"][True] > 0.5)).all()


def test_standard_deviations_are_those_of_numbers() -> None:
    std = fitted().predict(table(), return_std=True)[1]
    assert std.columns[std.isna().all()].tolist() == ["site", "ward", "ill", "grade"]
    assert (std[["age", "dose", "visits"]] > 0).all(axis=None)


def test_interventions_are_values_of_the_column() -> None:
    model = fitted()
    for do, told in (({"site": "B"}, 8.0), ({"site": "C"}, 3.0)):
        rows = model.sample(2000, do=do, random_state=0)
        assert set(rows["site"]) == set(do.values())
        assert rows["dose"].mean() == pytest.approx(told, abs=0.2)
    assert model.sample(3, do={"ill": True, "visits": 2})[["ill", "visits"]].nunique().max() == 1
    for wrong, message in (
        ({"site": "a"}, r"'site' has no value 'a' .*Did you mean 'A'\? Known: A, B, C\."),
        ({"grade": 1}, "'grade' has no value 1 .*Known: low, mid, high"),
        ({"ill": 0.5}, "'ill' has no value 0.5 .*Known: False, True"),
        ({"visits": -2}, r"'visits' counts: 'do' must set it to 0, 1, 2, …; got -2\."),
        ({"visits": 1.5}, r"'visits' counts: .*got 1\.5"),
        ({"age": "old"}, "finite numbers; got 'old' for 'age'"),
        ({"Site": "B"}, r"Unknown column 'Site' in 'do'. Did you mean 'site'\?"),
    ):
        for ask in (model.sample, lambda k, do: model.counterfactual(table(), do)):
            with pytest.raises(ValueError, match=message):
                ask(1, do=wrong)


def test_labels_that_were_not_seen_are_refused_by_name() -> None:
    strange = table().assign(site="E")
    for ask in (fitted().predict, fitted().impute, fitted().score, fitted().predict_probabilities):
        with pytest.raises(ValueError, match="'E' in column 'site', of which the model knows only"):
            ask(strange)


def test_codes_and_names_of_labels_do_not_matter() -> None:
    X = table().drop(columns=["ward", "grade", "visits"])
    other = X.assign(site=X["site"].map({"A": "z", "B": "y", "C": "x"}), ill=X["ill"].astype(int))
    first, second = (
        DAGPosterior(mechanism=["linear", "additive"], verbose=False).fit(one)
        for one in (X, other[["ill", "dose", "site", "age"]])
    )
    order = [3, 2, 1, 0]
    moved = second.edge_probabilities_[np.ix_(order, order)]
    np.testing.assert_allclose(first.edge_probabilities_, moved, atol=0.02)


def test_gaps_in_labels_are_learned_with() -> None:
    model = DAGPosterior(knowledge=KNOWN, mechanism="linear", missing="impute", verbose=False)
    model.fit(gaps())
    assert [own.kind for own in model.types_] == [own.kind for own in fitted().types_]
    assert set(model.sample(300, random_state=0)["site"]) == {"A", "B", "C"}


class Polars:
    """What a table of another library looks like: columns by name, and a way to pandas."""

    def __init__(self, columns: dict[str, list]) -> None:
        self._columns = columns
        self.columns = list(columns)

    def __getitem__(self, name: str) -> list:
        return self._columns[name]

    def to_pandas(self) -> pd.DataFrame:
        return pd.DataFrame(self._columns)


def test_tables_of_other_libraries_are_taken_and_given_back() -> None:
    own = Polars({name: table()[name].tolist() for name in ("age", "site", "dose")})
    model = DAGPosterior(mechanism="linear", verbose=False).fit(own)
    assert list(model.feature_names_in_) == ["age", "site", "dose"]
    found = model.predict(own)
    assert isinstance(found, Polars)
    assert set(found["site"]) == {"B"}


def test_real_polars_tables_are_taken() -> None:
    polars = pytest.importorskip("polars")
    own = polars.from_pandas(table()[["age", "site", "dose", "ward", "ill"]])
    model = DAGPosterior(mechanism="linear", verbose=False).fit(own)
    assert sorted(model.types_[3].levels) == ["east", "west"]
    assert isinstance(model.impute(own), polars.DataFrame)


@pytest.mark.parametrize(
    "learner", [CAM(n_bootstrap=0), ExactPosterior(mechanism="linear")], ids=str
)
def test_learners_of_numbers_take_two_values_and_ordered_labels(learner) -> None:
    with pytest.raises(ValueError, match=r"'site' is a category of 3: A, B, C; .*Use DAGPosterior"):
        learner.fit(table())
    model = learner.fit(table().drop(columns="site"))
    drawn = model.sample(2000, random_state=0)
    assert drawn["ill"].dtype == bool
    assert list(drawn["grade"].cat.categories) == GRADES
    assert drawn["ward"].eq("west").mean() == pytest.approx(
        table()["ward"].eq("west").mean(), abs=0.1
    )
    assert model.counterfactual(table(), {})["ill"].eq(table()["ill"].to_numpy(bool)).all()


@pytest.mark.parametrize("learner", [CAM(n_bootstrap=0), DAGPosterior(random_state=0)], ids=str)
def test_numbers_of_two_values_keep_them(learner: CAM) -> None:
    X = table()[["age", "dose"]].astype(float)
    X["dose"] = X["dose"].where(X["dose"] < 5, 5)  # many equal values are not two
    X["ward"] = (table()["ward"] == "west").astype(float)
    X["arm"] = np.where(X["age"] > 52.3, 7.1, 2.6)
    known = Knowledge(required=[("dose", "ward"), ("age", "arm")])
    model = learner.set_params(knowledge=known).fit(X)
    drawn = model.sample(2000, random_state=0)
    filled = model.impute(X.assign(ward=np.nan, arm=np.nan))
    for rows in (drawn, filled, model.counterfactual(X, {"age": 40.0, "dose": 1.0})):
        assert set(rows["ward"]) <= {0.0, 1.0}
        assert set(rows["arm"]) <= {2.6, 7.1}
    assert drawn["dose"].nunique() > 10
    np.testing.assert_allclose(drawn[["ward", "arm"]].mean(), X[["ward", "arm"]].mean(), atol=0.15)
    with pytest.raises(ValueError, match=r"'ward' has no value 0.5 .* Known: 0, 1"):
        model.sample(1, do={"ward": 0.5})


def test_a_report_can_be_made_of_labels() -> None:
    X = table()[["age", "dose", "ward"]]
    graph = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    record = describe(GroundTruthDAG(graph, mechanism="linear").fit(X), X)
    assert {(curve.source, curve.target) for curve in record.curves} == {(0, 1), (1, 2)}
    assert set(record.curves[1].values) <= set(np.linspace(0, 1, 65))  # shares of the rows
    assert not record.diagnostics.few_values


def test_what_is_no_label_is_refused_with_the_way_out() -> None:
    X = table()[["age", "dose"]]
    codes = np.where(np.arange(400) % 9 == 0, "?", X["age"].round().astype(str))
    for more, message in (
        (
            {"when": pd.date_range("2020", periods=400)},
            "'when' holds Timestamp values.*such as days",
        ),
        ({"who": [f"P{k}" for k in range(400)]}, "'who' holds 400 different texts.*drop it"),
        ({"lab": codes}, "'lab' holds numbers but for '\\?': put NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            DAGPosterior(verbose=False).fit(X.assign(**more))
    with pytest.raises(ValueError, match="'size' cannot be ordinal: nothing says in which order"):
        DAGPosterior(types={"size": "ordinal"}, verbose=False).fit(
            X.assign(size=["small", "medium", "tall", "large"] * 100)
        )
