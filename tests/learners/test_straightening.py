"""Single skewed columns are straightened where the evidence says so, and only there."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import dpdag
from dpdag import VIDPDAG, Knowledge
from dpdag.learners import straightening
from dpdag.learners.choice import choose
from dpdag.learners.straightening import skewed, straightened


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


def standard(frame: pd.DataFrame) -> torch.Tensor:
    values = frame.to_numpy()
    return torch.from_numpy((values - values.mean(0)) / values.std(0))


@pytest.fixture(scope="module")
def fitted() -> VIDPDAG:
    return VIDPDAG(random_state=0, verbose=False).fit(table("growth"))


def test_an_effect_measured_on_another_scale_keeps_its_causes(fitted: VIDPDAG) -> None:
    edges = {("cause", "effect"), ("other", "effect"), ("effect", "last")}
    assert set(fitted.graph_.edges) == edges
    assert "logarithm of column effect, the rest as they are (" in str(fitted.choice_)


@pytest.mark.parametrize("kind", ["depth", "counts"])
def test_negative_skew_and_counts_are_straightened_too(kind: str) -> None:
    X = table(kind, seed=2)
    model = VIDPDAG(random_state=0, verbose=False).fit(X.to_numpy())
    assert model.adjacency_[:, 1].tolist() == [0, 0, 1, 1]
    expected = "reflected logarithm" if kind == "depth" else "logarithm"
    assert f"{expected} of column 1" in str(model.choice_)


def test_answers_are_in_original_units(fitted: VIDPDAG, tmp_path: Path) -> None:
    X = table("growth")
    same = fitted.counterfactual(X, do={})
    np.testing.assert_allclose(np.log(same["effect"]), np.log(X["effect"]), atol=1e-3)
    drawn = fitted.sample(500, do={"cause": 1.0}, random_state=0)["effect"]
    assert np.log(drawn.clip(1e-6)).median() == pytest.approx(1.0, abs=0.3)
    assert np.isfinite(fitted.score(X))
    fitted.save(tmp_path / "model")
    np.testing.assert_allclose(dpdag.load(tmp_path / "model").predict(X), fitted.predict(X))


@pytest.mark.parametrize("kind", ["skewed cause", "square", "skewed noise"])
def test_what_is_skewed_by_nature_is_left_alone(kind: str) -> None:
    x = standard(table(kind))
    assert skewed(x).any()
    assert straightened(x, Knowledge().resolve(4)) is None


def test_nothing_is_compared_where_nothing_is_skewed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(straightening, "_Referee", None)
    x = standard(table("growth").assign(effect=lambda frame: np.log(frame["effect"])))
    choice = choose(x, Knowledge().resolve(4))
    assert choice.straight is None
    assert not choice.changes


def test_columns_of_mostly_one_value_are_not_taken_for_skewed() -> None:
    rare = np.maximum(np.random.default_rng(0).normal(size=(500, 1)) - 1, 0)
    assert not skewed(torch.from_numpy((rare - rare.mean()) / rare.std())).any()


def test_knowledge_holds_on_straightened_columns() -> None:
    known = Knowledge(forbidden=[("cause", "effect")])
    model = VIDPDAG(knowledge=known, random_state=0, verbose=False).fit(table("growth"))
    assert model.edge_probabilities_[2, 1] == 0
