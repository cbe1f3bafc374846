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
from dpdag.learners import functions, solver
from dpdag.learners.functions import Rivals, compare_with_networks

COLLIDER = torch.tensor([[0, 0, 1], [0, 0, 1], [0, 0, 0]]).bool()


def collider(kind: str, rows: int, seed: int = 0) -> Tensor:  # (rows, 3): (0, 1) → 2
    noise = torch.randn(rows, 3, generator=torch.Generator().manual_seed(seed)).double()
    a, b = noise[:, 0], noise[:, 1]
    effect = 2.0 * ((a > 0) & (b > 0)) if kind == "jumps" else torch.sin(2 * a) + a * b
    x = torch.stack([a, b, effect + 0.1 * noise[:, 2]], -1)
    return (x - x.mean(0)) / x.std(0)


@pytest.mark.parametrize(("kind", "won"), [("jumps", True), ("smooth", False)])
def test_held_out_rows_decide(kind: str, won: bool) -> None:
    rivals = compare_with_networks(collider(kind, 2000), COLLIDER, "gp", seed=0)
    assert rivals.won == won
    assert ("as functions" in rivals.verdict) == won
    again = compare_with_networks(collider(kind, 2000), COLLIDER, "gp", seed=0)
    assert again.gain == rivals.gain


def test_gain_is_that_of_squared_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    zero = SimpleNamespace(fit=lambda x, graph, evidence: torch.zeros_like)
    monkeypatch.setattr(functions, "train_networks", lambda *args, **kwargs: lambda x: x / 2)
    monkeypatch.setattr(functions, "INTEGRATED", {"gp": zero})
    rivals = compare_with_networks(collider("smooth", 100), COLLIDER, "gp", seed=0)
    assert rivals.gain == pytest.approx(math.log(2))


def test_a_gain_too_small_to_matter_is_no_reason() -> None:
    assert not Rivals(0.004, 0.001).won
    assert not Rivals(0.1, 0.06).won
    assert Rivals(0.1, 0.04).won
    assert "too little" in Rivals(0.004, 0.001).verdict
    assert "less likely" in Rivals(-0.1, 0.001).verdict


def test_auto_takes_networks_where_they_win(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = collider("smooth", 1200).numpy()
    known = Knowledge(tiers=[[0, 1], [2]], forbidden=[(0, 1), (1, 0)])
    settings = {"random_state": 0, "knowledge": known, "verbose": False, "time_budget": 1.0}
    lost = VIDPDAG(**settings).fit(X)
    assert lost.mechanism_ == "gp"
    assert "less likely" in str(lost.choice_)
    monkeypatch.setattr(solver, "compare_with_networks", lambda *args, **kwargs: Rivals(0.1, 0.01))
    model = VIDPDAG(**settings).fit(X)
    assert model.adjacency_[:, 2].tolist() == [1, 1, 0]
    assert model.mechanism_ == "mlp"
    assert "networks as functions: held-out values are 0.100 nats likelier" in str(model.choice_)
    assert np.corrcoef(model.predict(X)[:, 2], X[:, 2])[0, 1] > 0.9
    model.save(tmp_path / "model")
    loaded = dpdag.load(tmp_path / "model")
    np.testing.assert_allclose(loaded.predict(X), model.predict(X))
    again = VIDPDAG(**settings).fit(X)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    kept = VIDPDAG(mechanism="gp", **settings).fit(X)
    assert kept.mechanism_ == "gp"
