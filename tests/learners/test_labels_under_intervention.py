"""Labels in rows under intervention: taken as they are, and learned where they were not set."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpdag import CAM, DAGPosterior, load

ROWS = 600
SET = np.arange(ROWS) >= 300
GRAPH = {("age", "site"), ("site", "dose"), ("dose", "ill")}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """age → site → dose → ill; in half of the rows the site was set, at times to a new one."""
    rng = np.random.default_rng(0)
    age = rng.normal(50, 10, size=ROWS)
    natural = np.select([age < 45, age < 55], ["north", "south"], "west")
    natural = np.where(rng.random(ROWS) < 0.2, rng.choice(["north", "south"], ROWS), natural)
    site = np.where(SET, rng.choice(["north", "south", "west", "moon"], ROWS), natural)
    dose = np.select([site == "north", site == "west"], [0.0, 2.0], 1.0)
    dose = dose + 0.3 * rng.normal(size=ROWS)
    ill = dose + 0.3 * rng.normal(size=ROWS) > 1
    return pd.DataFrame({"site": site, "ill": ill, "age": age, "dose": dose})


@pytest.fixture(scope="module")
def model(table: pd.DataFrame) -> DAGPosterior:
    learner = DAGPosterior(mechanism=("linear", "additive"), random_state=0, verbose=False)
    return learner.fit(table, interventions=np.where(SET, "site", None))


def test_labels_that_were_set_direct_edges(model: DAGPosterior) -> None:
    assert set(model.graph_.edges) == GRAPH
    assert model.informing_rows_.tolist() == [300, 600, 600, 600]


def test_probabilities_are_those_of_rows_in_which_a_label_was_not_set(
    model: DAGPosterior, table: pd.DataFrame, tmp_path: Path
) -> None:
    chance = model.predict_probabilities(table)["site"]
    assert list(chance) == ["moon", "north", "south", "west"]
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    assert (chance["moon"] == 0).all()  # it was only ever set
    shares = table["site"][~SET].value_counts(normalize=True)
    found = model.sample(2000, random_state=0)["site"].value_counts(normalize=True)
    assert "moon" not in found
    np.testing.assert_allclose(found[shares.index], shares, atol=0.06)
    held = model.sample(500, do={"site": "moon"}, random_state=0)
    assert held["dose"].mean() == pytest.approx(1.0, abs=0.1)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    pd.testing.assert_frame_equal(again.sample(5, random_state=0), model.sample(5, random_state=0))
    assert np.isfinite(model.score(table, interventions=np.where(SET, "site", None)))


def test_gaps_in_labels_are_filled_where_nothing_was_set(table: pd.DataFrame) -> None:
    gaps = table.mask(np.random.default_rng(1).random(table.shape) < 0.03)
    gaps["site"] = gaps["site"].where(~SET, table["site"])
    learner = DAGPosterior(
        mechanism="linear", missing="impute", resamples=0, random_state=0, verbose=False
    )
    learner.fit(gaps, interventions=np.where(SET, "site", None))
    assert set(learner.graph_.edges) >= {("age", "site"), ("site", "dose")}
    filled = learner.impute(gaps)
    assert set(filled["site"]) <= {"north", "south", "west", "moon"}
    assert filled["ill"].dtype == bool


def test_learners_of_numbers_take_two_labels_that_were_set(table: pd.DataFrame) -> None:
    two = table.assign(site=np.where(table["site"] == "west", "west", "east"))
    learner = CAM(n_bootstrap=3, random_state=0).fit(two, interventions=np.where(SET, "site", None))
    assert learner.informing_rows_.tolist() == [300, 600, 600, 600]
    assert learner.predict(two)["site"].isin(["east", "west"]).all()
    drawn = (learner.sample(2000, random_state=0)["site"] == "west").mean()
    assert drawn == pytest.approx((two["site"][~SET] == "west").mean(), abs=0.08)


def test_values_that_were_set_bound_no_others() -> None:
    values = np.random.default_rng(0).normal(size=(400, 2))
    was_set = np.zeros(values.shape, dtype=bool)
    was_set[300:, 1] = True
    values[300:, 1] = 5.0
    values[:100, 0] = values[:, 0].min()
    observed = CAM(n_bootstrap=0).fit(values, interventions=was_set).observed_
    assert observed.high[1] == 5.0
    assert observed.bounds.tolist() == [[values[0, 0], -np.inf], [np.inf, np.inf]]
