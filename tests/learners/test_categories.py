"""Variables of categories: 0/1 columns that are drawn, held and filled together."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpdag
from dpdag import CAM, DAGPosterior, Knowledge, datasets

SITES = ["site=B", "site=C"]
APART = [("site=B", "site=C"), ("site=C", "site=B")]
KNOWN = Knowledge(forbidden=APART, tiers=[["age", *SITES], ["dose"], ["ward=west"]])


def table(rows: int = 600) -> pd.DataFrame:
    """age → dose ← site, and the ward by the dose; encoded."""
    rng = np.random.default_rng(0)
    age = rng.normal(50, 10, rows)
    site = rng.choice(["A", "B", "C"], rows, p=[0.2, 0.5, 0.3])
    dose = age / 10 + 3.0 * (site == "B") - 2.0 * (site == "C") + 0.3 * rng.normal(size=rows)
    ward = np.where(dose + 0.3 * rng.normal(size=rows) > 5, "west", "east")
    frame = pd.DataFrame({"age": age, "site": site, "dose": dose, "ward": ward})
    return datasets.one_hot(frame, ["site", "ward"])[0]


@pytest.fixture(scope="module", params=[CAM(n_bootstrap=0), DAGPosterior(random_state=0)], ids=str)
def learner(request: pytest.FixtureRequest) -> CAM | DAGPosterior:
    return request.param.set_params(knowledge=KNOWN).fit(table())


def test_samples_hold_one_category_each_as_often_as_the_data(learner: CAM) -> None:
    drawn = learner.sample(4000, random_state=0)
    assert set(np.unique(drawn[[*SITES, "ward=west"]])) == {0.0, 1.0}
    assert drawn[SITES].sum(axis=1).max() == 1
    np.testing.assert_allclose(drawn[SITES].mean(), table()[SITES].mean(), atol=0.05)


def test_interventions_on_a_variable_set_all_its_columns(learner: CAM, tmp_path: Path) -> None:
    learner.save(tmp_path / "model")
    for model in (learner, dpdag.load(tmp_path / "model")):
        by_name, by_column = (
            model.sample(500, do=do, random_state=0) for do in ({"site": "B"}, {"site=B": 1})
        )
        assert (by_name[SITES] == [1, 0]).all(axis=None)
        pd.testing.assert_frame_equal(by_name, by_column)
        first, zeros = (
            model.sample(500, do=do, random_state=0)
            for do in ({"site": "A"}, {"site=B": 0, "site=C": 0})
        )
        pd.testing.assert_frame_equal(first, zeros)
    assert by_name["dose"].mean() == pytest.approx(first["dose"].mean() + 3, abs=0.3)
    for wrong, message in (
        ({"site": "a"}, r"'site' has no category 'a'\. Did you mean 'A'\? Known: A, B, C\."),
        ({"site=B": 0.5}, "'site=B' is a category: 'do' must set it to 0 or 1; got 0.5"),
        ({"Site": "B"}, r"Unknown column 'Site' in 'do'. Did you mean 'site'\?"),
    ):
        with pytest.raises(ValueError, match=message):
            learner.sample(1, do=wrong)


def test_a_first_category_that_is_not_known_is_refused_with_the_way_out() -> None:
    X = table()
    for known, columns in (({}, SITES), (X.attrs, ["site=B"])):  # no names, or not all columns
        frame = X[["age", "dose", *columns]]
        frame.attrs = dict(known)
        learner = CAM(n_bootstrap=0).fit(frame)
        with pytest.raises(
            ValueError, match=r"no column for 'A' in 'do'; it has site=B.*'site=B': 0"
        ):
            learner.sample(1, do={"site": "A"})


def test_counterfactuals_and_filled_rows_hold_one_category_each(learner: CAM) -> None:
    X = table()
    np.testing.assert_allclose(learner.counterfactual(X, {}), X, atol=1e-6)
    changed = learner.counterfactual(X, {"site": "C"})
    assert (changed[SITES] == [0, 1]).all(axis=None)
    assert (changed["ward=west"] < X["ward=west"]).any()
    filled = learner.impute(X.assign(**dict.fromkeys(SITES, np.nan)))
    assert (filled[SITES] == [1, 0]).all(axis=None)  # the most frequent


def test_a_category_with_causes_is_one_category() -> None:
    known = Knowledge(forbidden=APART, required=[("dose", name) for name in SITES])
    drawn = CAM(n_bootstrap=0, knowledge=known).fit(table()).sample(500, random_state=0)
    assert set(drawn[SITES].sum(axis=1)) == {0.0, 1.0}
    assert drawn["dose"][drawn["site=B"] == 1].mean() > drawn["dose"][drawn["site=C"] == 1].mean()


def test_categories_with_gaps_are_learned_as_categories() -> None:
    X = table()
    X.loc[:99, SITES] = np.nan
    learner = DAGPosterior(missing="impute", mechanism="linear", knowledge=KNOWN).fit(X)
    assert (learner.sample(500, random_state=0)[SITES].sum(axis=1) <= 1).all()
    assert (learner.sample(5, do={"site": "A"})[SITES] == 0).all(axis=None)


def test_numbers_under_such_names_are_numbers() -> None:
    X = table().rename(columns={"age": "t=0", "dose": "t=1"})
    learner = CAM(n_bootstrap=0).fit(X)
    assert learner.sample(50, random_state=0)["t=0"].nunique() > 10
    with pytest.raises(ValueError, match="Unknown column 't' in 'do'"):
        learner.sample(1, do={"t": "0"})


@pytest.mark.parametrize("learner", [CAM(n_bootstrap=0), DAGPosterior(random_state=0)], ids=str)
def test_columns_of_two_values_keep_them(learner: CAM, tmp_path: Path) -> None:
    X = table()[["age", "dose", "ward=west"]].rename(columns={"ward=west": "ward"})
    X["dose"] = X["dose"].where(X["dose"] < 5, 5)  # many equal values are not two
    X["arm"] = np.where(X["age"] > 52.3, 7.1, 2.6)
    known = Knowledge(required=[("dose", "ward"), ("age", "arm")])
    model = learner.set_params(knowledge=known).fit(X)
    model.save(tmp_path / "model")
    for own in (model, dpdag.load(tmp_path / "model")):
        drawn = own.sample(2000, random_state=0)
        filled = own.impute(X.assign(ward=np.nan, arm=np.nan))
        for rows in (drawn, filled, own.counterfactual(X, {"age": 40.0, "dose": 1.0})):
            assert set(rows["ward"]) <= {0.0, 1.0}
            assert set(rows["arm"]) <= {2.6, 7.1}
        assert drawn["dose"].nunique() > 10
        assert (own.sample(3, do={"ward": 0.5}, random_state=0)["ward"] == 0.5).all()
    np.testing.assert_allclose(drawn[["ward", "arm"]].mean(), X[["ward", "arm"]].mean(), atol=0.1)
    pd.testing.assert_frame_equal(model.counterfactual(X, {})[["ward", "arm"]], X[["ward", "arm"]])
