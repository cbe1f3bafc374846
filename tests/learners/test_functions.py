"""Networks as functions where rows abound: only if they predict unseen rows better."""

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor

import dpdag
from dpdag import VIDPDAG, Knowledge
from dpdag.learners import functions
from dpdag.learners.functions import Rivals, networks_against_gp

COLLIDER = torch.tensor([[0, 0, 1], [0, 0, 1], [0, 0, 0]]).bool()


def collider(kind: str, rows: int, seed: int = 0) -> Tensor:  # (rows, 3): (0, 1) → 2
    noise = torch.randn(rows, 3, generator=torch.Generator().manual_seed(seed)).double()
    a, b = noise[:, 0], noise[:, 1]
    effect = 2.0 * ((a > 0) & (b > 0)) if kind == "jumps" else torch.sin(2 * a) + a * b
    x = torch.stack([a, b, effect + 0.1 * noise[:, 2]], -1)
    return (x - x.mean(0)) / x.std(0)


@pytest.mark.parametrize(("kind", "won"), [("jumps", True), ("smooth", False)])
def test_held_out_rows_decide(kind: str, won: bool) -> None:
    rivals = networks_against_gp(collider(kind, 2000), COLLIDER, seed=0)
    assert rivals.won == won
    assert ("as functions" in rivals.verdict) == won
    again = networks_against_gp(collider(kind, 2000), COLLIDER, seed=0)
    assert again.gain == rivals.gain


def test_gain_is_that_of_squared_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    half = SimpleNamespace(freeze=lambda graph: lambda x: x / 2)
    monkeypatch.setattr(functions, "refit_mechanism", lambda *args, **kwargs: half)
    monkeypatch.setattr(functions, "fit_gp", lambda x, graph: torch.zeros_like)
    rivals = networks_against_gp(collider("smooth", 100), COLLIDER, seed=0)
    assert rivals.gain == pytest.approx(math.log(2))


def test_a_gain_too_small_to_matter_is_no_reason() -> None:
    assert not Rivals(lambda x: x, 0.004, 0.001).won
    assert not Rivals(lambda x: x, 0.1, 0.06).won
    assert Rivals(lambda x: x, 0.1, 0.04).won
    assert "too little" in Rivals(lambda x: x, 0.004, 0.001).verdict
    assert "less likely" in Rivals(lambda x: x, -0.1, 0.001).verdict


def test_auto_takes_networks_where_they_win(tmp_path: Path) -> None:
    X = collider("jumps", 2000).numpy()
    known = Knowledge(tiers=[[0, 1], [2]], forbidden=[(0, 1), (1, 0)])
    model = VIDPDAG(random_state=0, knowledge=known, verbose=False).fit(X)
    assert model.adjacency_[:, 2].tolist() == [1, 1, 0]
    assert model.mechanism_ == "mlp"
    assert "networks as functions" in str(model.choice_)
    model.save(tmp_path / "model")
    loaded = dpdag.load(tmp_path / "model")
    np.testing.assert_allclose(loaded.predict(X), model.predict(X))
    again = VIDPDAG(random_state=0, knowledge=known, verbose=False).fit(X)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    kept = VIDPDAG(mechanism="gp", random_state=0, knowledge=known, verbose=False).fit(X)
    assert kept.mechanism_ == "gp"
    assert kept.choice_ is None
