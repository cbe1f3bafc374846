"""Single columns are transformed where the evidence says so, and only there."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpdag
from dpdag import DAGPosterior, Knowledge


def table(kind: str, seed: int = 0, rows: int = 500) -> pd.DataFrame:
    """cause → effect → last, and other → effect where it matters; effects are skewed."""
    rng = np.random.default_rng(seed)
    a, b, *noise = rng.normal(size=(4, rows))
    cause = np.exp(a) if kind == "skewed cause" else a
    effect = {
        "growth": np.exp(a + b + 0.5 * noise[0]),
        "depth": -np.exp(-a - b - 0.5 * noise[0]),
        "counts": rng.poisson(np.exp(1.2 * np.tanh(2 * a) + 0.8 * b + 1.5)),
        "skewed cause": 2 * cause + b + noise[0],
        "square": a**2 + 0.2 * b + 0.2 * noise[0],
        "skewed noise": 2 * a + b + np.exp(1.5 * noise[0]),
    }[kind]
    last = np.tanh(effect / effect.std()) + 0.2 * noise[1]
    return pd.DataFrame({"last": last, "effect": effect, "cause": cause, "other": b}, dtype=float)


@pytest.fixture(scope="module")
def fitted() -> DAGPosterior:
    return DAGPosterior(random_state=0, verbose=False).fit(table("growth"))


def test_an_effect_measured_on_another_scale_keeps_its_causes(fitted: DAGPosterior) -> None:
    edges = {("cause", "effect"), ("other", "effect"), ("effect", "last")}
    assert set(fitted.graph_.edges) == edges
    kinds = {record["column"]: record["transformation"] for record in fitted.choice_}
    assert kinds == {**dict.fromkeys(kinds, "identity"), "effect": "logarithm"}


def test_negative_skew_is_transformed_too() -> None:
    model = DAGPosterior(random_state=0, verbose=False).fit(table("depth", seed=2).to_numpy())
    assert model.adjacency_[:, 1].tolist() == [0, 0, 1, 1]
    assert model.choice_[1]["transformation"] == "reflected logarithm"


def test_counts_taken_for_continuous_are_transformed_too() -> None:
    plain = DAGPosterior(types={"effect": "continuous"}, random_state=0, verbose=False)
    model = plain.fit(table("counts", seed=0))
    assert model.choice_[1]["transformation"] == "logarithm"


@pytest.mark.parametrize("seed", [0, 3])
def test_counts_keep_their_causes(seed: int) -> None:
    model = DAGPosterior(random_state=0, verbose=False).fit(table("counts", seed=seed))
    assert set(model.graph_.predecessors("effect")) == {"cause", "other"}


def test_answers_are_in_original_units(fitted: DAGPosterior, tmp_path: Path) -> None:
    X = table("growth")
    same = fitted.counterfactual(X, do={})
    np.testing.assert_allclose(np.log(same["effect"]), np.log(X["effect"]), atol=1e-3)
    drawn = fitted.sample(500, do={"cause": 1.0}, random_state=0)["effect"]
    assert np.log(drawn.clip(1e-6)).median() == pytest.approx(1.0, abs=0.3)
    assert np.isfinite(fitted.score(X))
    fitted.save(tmp_path / "model")
    np.testing.assert_allclose(dpdag.load(tmp_path / "model").predict(X), fitted.predict(X))


@pytest.mark.parametrize("kind", ["skewed cause", "square", "skewed noise"])
def test_what_is_skewed_by_nature_keeps_its_causes(kind: str) -> None:
    model = DAGPosterior(random_state=0, verbose=False).fit(table(kind))
    causes = {"cause"} if kind == "square" else {"cause", "other"}
    assert set(model.graph_.predecessors("effect")) >= causes
    assert list(model.graph_.predecessors("cause")) == []


def test_knowledge_holds_on_transformed_columns() -> None:
    known = Knowledge(forbidden=[("cause", "effect")])
    model = DAGPosterior(knowledge=known, random_state=0, verbose=False).fit(table("growth"))
    assert model.edge_probabilities_[2, 1] == 0


@pytest.mark.parametrize("kind", ["uniform", "lognormal", "two ends", "two modes"])
def test_columns_without_causes_deviate_as_they_were_seen_to(kind: str) -> None:
    rng = np.random.default_rng(0)
    values = {
        "uniform": rng.uniform(20, 90, 400),
        "lognormal": np.exp(rng.normal(0, 1, 400)),
        "two ends": rng.beta(0.5, 0.5, 400),
        "two modes": rng.permutation(np.r_[rng.normal(0, 1, 200), rng.normal(8, 1, 200)]),
    }[kind]
    X = pd.DataFrame({"alone": values, "other": rng.normal(size=400)})
    model = DAGPosterior(random_state=0, verbose=False).fit(X)
    std = model.predict(X, return_std=True)[1]
    np.testing.assert_allclose(std, np.tile(X.std(ddof=0), (400, 1)), rtol=0.01)


def test_deviations_given_causes_are_those_of_the_original_values(fitted: DAGPosterior) -> None:
    X = table("growth")
    std = fitted.predict(X, return_std=True)[1]["effect"]
    drift = np.exp(X["cause"] + X["other"])
    wanted = drift * np.sqrt(np.exp(0.25) * (np.exp(0.25) - 1))  # of a log-normal
    assert (std / wanted).median() == pytest.approx(1.0, abs=0.08)
