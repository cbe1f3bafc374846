"""What is too large is refused or announced before it starts."""

import pytest
import torch

from dpdag import DAGPosterior
from dpdag.evidence.additive import AdditiveEvidence
from dpdag.evidence.base import Evidence
from dpdag.evidence.gp import GPEvidence, budget
from dpdag.evidence.gp.budget import TIME_BUDGET, search_seconds, set_bytes
from dpdag.learners.posterior_solver import Plan, forecast


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (AdditiveEvidence, "Comparing 3 columns needs about .* use fewer columns"),
        (GPEvidence, "A Gaussian process on 50 rows needs about .* lower 'rows'"),
    ],
)
def test_more_than_the_memory_is_refused(
    kind: type[Evidence], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.randn(50, 3, generator=torch.Generator().manual_seed(0)).double()
    kind(x)
    monkeypatch.setattr("dpdag.ops.memory.available_bytes", lambda device: 100)
    with pytest.raises(MemoryError, match=message):
        kind(x)


def test_long_searches_are_announced() -> None:
    assert forecast(20, 1000, Plan(functions=["gp"])) is None
    assert forecast(100, 1000, Plan(functions=["additive"])) is None
    text = forecast(1000, 9000, Plan(functions=["additive"]))
    assert text is not None
    assert "1000 columns on 1000 of 9000 rows takes some 35 to 140" in text
    text = forecast(100, 9000, Plan(functions=["network"], rows=1075))
    assert text is not None
    assert "100 columns with Gaussian processes on 1075 of 9000 rows takes some 60 to 240" in text


def test_rows_follow_time_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = budget.affordable_rows
    monkeypatch.setattr(budget, "available_bytes", lambda device: None)
    assert rows(10, seconds=240) > rows(10) > rows(40) > rows(150) == 1000
    assert search_seconds(10, rows(10)) == pytest.approx(TIME_BUDGET, rel=0.01)
    monkeypatch.setattr(budget, "available_bytes", lambda device: 200_000_000)
    scarce = rows(10)
    assert set_bytes(scarce) <= 100_000_000 < set_bytes(scarce + 1)
    assert [budget.affordable_sets(1000, 4), budget.affordable_sets(2000, 4)] == [4, 1]
    x = torch.randn(4000, 10, generator=torch.Generator().manual_seed(0)).double()
    plan = Plan.within(10, TIME_BUDGET, "cpu", functions=["additive"])
    assert plan.evidence(x).n_rows == scarce


@pytest.mark.filterwarnings("ignore::dpdag.NotConvergedWarning")
def test_the_learner_says_how_many_rows_it_read() -> None:
    cause, noise = torch.randn(2, 1200, generator=torch.Generator().manual_seed(0)).double()
    X = torch.stack([cause, torch.sin(2 * cause) + 0.3 * noise], -1).numpy()
    hurried, patient = (
        DAGPosterior(mechanism="gp", time_budget=seconds, verbose=False, random_state=0).fit(X)
        for seconds in (1.0, 60.0)
    )
    assert [record["rows"] for record in hurried.choice_] == [1000, 1000]
    assert [record["rows"] for record in patient.choice_] == [1200, 1200]
    with pytest.raises(ValueError, match="'time_budget' must be"):
        DAGPosterior(time_budget=0).fit(X)
