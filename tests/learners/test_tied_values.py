"""Values that return too often: amounts that are mostly zero, numbers rounded now and then."""

import numpy as np
import pandas as pd
import pytest
import torch

from dpdag import DAGPosterior
from dpdag.columns import table_of
from dpdag.ops.columns import standardised

AMONG_OTHERS = {("a", "b"), ("b", "d"), ("c", "d")}
OF_THEM = {
    ("b", "spent"),
    ("c", "spent"),
    ("d", "weight"),
    ("rain", "mood"),
    ("a", "mood"),
}


def table(seed: int, rows: int = 500) -> pd.DataFrame:
    """a → b → d ← c, money spent by b and c, a weight some rounded, rain on some days."""
    rng = np.random.default_rng(seed)
    a, c = rng.normal(size=rows), rng.uniform(-2, 2, rows)
    b = np.tanh(1.5 * a) + 0.4 * rng.normal(size=rows)
    d = b**2 + c + 0.5 * rng.normal(size=rows)
    spent = 10 * np.maximum(1.5 * b + c + 0.7 * rng.normal(size=rows), 0)
    weight = 50 + 5 * d + 7 * rng.normal(size=rows)
    weight = np.where(rng.random(rows) < 0.4, 5 * (weight / 5).round(), weight.round(1))
    rain = np.where(rng.random(rows) < 0.6, 0, rng.gamma(1, 1, rows))
    mood = np.sqrt(rain) + 0.5 * a + 0.5 * rng.normal(size=rows)
    columns = {"d": d, "b": b, "a": a, "c": c, "spent": spent}
    return pd.DataFrame({**columns, "weight": weight, "rain": rain, "mood": mood})


@pytest.mark.parametrize("seed", [0, 1])
def test_amounts_that_are_mostly_zero_or_rounded_turn_no_arrow(seed: int) -> None:
    X = table(seed)
    model = DAGPosterior(resamples=0, random_state=0, verbose=False).fit(X)
    assert set(model.graph_.edges) == AMONG_OTHERS | OF_THEM
    drawn = model.sample(2000, random_state=0)
    assert drawn[["spent", "rain"]].min().tolist() == [0, 0]
    for name in ("spent", "rain"):
        assert (drawn[name] == 0).mean() > 0.2  # fewer than seen: noise is additive
        assert drawn[name].mean() == pytest.approx(X[name].mean(), rel=0.25)


def test_spikes_are_spread_in_order_and_even_rounding_is_left_alone() -> None:
    x = torch.from_numpy(standardised(table(0)))
    x, y = table_of(torch.cat([x, x[:, :1].round(decimals=1)], -1))
    for k in (4, 5, 6):  # spent, weight, rain
        assert (x[:, k].unique(return_counts=True)[1]).max() > 10
        assert len(y[:, k].unique()) == len(y)
        assert (y[:, k].sort().values.diff() > 1e-9).all()
        order = y[:, k].argsort()
        assert (x[order, k].diff() >= 0).all()
    assert (x[:, -1] - y[:, -1]).abs().max() < 0.1  # a step
    torch.testing.assert_close(x[:, :4], y[:, :4])
