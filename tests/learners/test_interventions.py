"""Interventions by name, and a warning where they leave the data."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpdag
from dpdag import CAM, DAGPosterior


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    dose = rng.uniform(0, 10, size=200)
    return pd.DataFrame({"dose": dose, "outcome": np.tanh(dose - 5) + 0.1 * rng.normal(size=200)})


@pytest.fixture(scope="module")
def learner() -> CAM:
    return CAM(n_bootstrap=0).fit(table())


def test_a_leap_outside_the_data_is_warned_of(learner: CAM, tmp_path: Path) -> None:
    learner.save(tmp_path / "model")
    said = r"'dose' is set to -40, far outside its observed range, 0.\d+ to 9.\d+: .*extrapolates"
    for model in (learner, dpdag.load(tmp_path / "model")):
        with pytest.warns(UserWarning, match=said) as caught:
            model.sample(3, do={"dose": -40.0, "outcome": 0.0})
        assert [warning.filename for warning in caught] == [__file__]
        with pytest.warns(UserWarning, match=said):
            model.counterfactual(table().head(3), do={"dose": -40.0})


def test_predictions_from_causes_outside_the_data_are_warned_of_once(learner: CAM) -> None:
    rows = table().head(4)
    rows.loc[:1, "dose"] = [-40.0, 30.0]
    said = r"range of 'dose' \(0.\d+ to 9.\d+\) by far in 2 of 4 rows: the model extrapolates"
    for spread in (False, True):
        with pytest.warns(UserWarning, match=said) as caught:
            learner.predict(rows, return_std=spread)
        assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.predict(table().assign(dose=table()["dose"] * 1.4))
        learner.predict(
            table().head(4).assign(outcome=100.0)
        )  # nothing is predicted from an effect


@pytest.mark.parametrize("value", [0.0, 5.0, 10.9])
def test_values_in_or_near_the_data_are_not_warned_of(learner: CAM, value: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.sample(3, do={"dose": value})


def test_models_saved_without_ranges_are_loaded_and_silent(tmp_path: Path) -> None:
    learner = CAM(n_bootstrap=0).fit(table())
    del learner.observed_  # as earlier versions saved them
    learner.save(tmp_path / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(dpdag.load(tmp_path / "model").sample(3, do={"dose": 1e6})) == 3


def test_values_that_were_filled_in_were_not_observed() -> None:
    X = table()
    X.loc[:20, "outcome"] = np.nan
    learner = DAGPosterior(mechanism="linear", missing="impute", random_state=0).fit(X)
    assert learner.observed_ is not None
    assert learner.observed_.low.tolist() == X.min().tolist()
    assert learner.observed_.high.tolist() == X.max().tolist()


@pytest.mark.parametrize("value", [0.1, 2.0, 7.3])
def test_what_is_set_is_set_exactly(learner: CAM, value: float) -> None:
    assert (learner.sample(3, do={"dose": value}, random_state=0)["dose"] == value).all()
    assert (learner.counterfactual(table().head(3), do={"dose": value})["dose"] == value).all()


@pytest.mark.parametrize("count", [0, -1, 2.5, True])
def test_a_sample_has_rows(learner: CAM, count: Any) -> None:
    with pytest.raises(ValueError, match=f"'n_samples' must be .* got {count}"):
        learner.sample(count)
