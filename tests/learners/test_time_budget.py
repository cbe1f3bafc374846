"""A budget of time limits the whole fit, and what it leaves out is said."""

from collections.abc import Iterator
from itertools import count

import numpy as np
import pytest

from dpdag import DAGPosterior, Knowledge, NotConvergedWarning, datasets
from dpdag.deadline import Deadline, OutOfTimeError

DATA = datasets.benchmark("ER-10-20", 0, rows=150)
X = DATA.X[:, :6]


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A clock that goes on by one second whenever it is asked."""
    clock = count()
    monkeypatch.setattr("dpdag.deadline.monotonic", lambda: next(clock))
    return clock


def hurried(seconds: float | None, **params: object) -> DAGPosterior:
    params = {"random_state": 0, "verbose": False, "device": "cpu", **params}
    return DAGPosterior(time_budget=seconds, **params)


@pytest.mark.parametrize("mechanism", ["auto", "gp"])
@pytest.mark.parametrize("seconds", [1, 30, 60, 100])
@pytest.mark.filterwarnings("ignore::dpdag.NotConvergedWarning")
def test_the_best_graph_so_far_is_a_valid_answer(ticks, mechanism, seconds) -> None:
    known = Knowledge(required=[(4, 0)], forbidden=[(0, 1)])
    learner = hurried(seconds, mechanism=mechanism, knowledge=known).fit(X)
    assert next(ticks) < seconds + 60  # what has to be done in any case
    assert learner.left_out_
    order = learner.causal_order_.tolist()
    edges = np.argwhere(learner.adjacency_).tolist()
    assert all(order.index(i) < order.index(j) for i, j in edges)
    assert [4, 0] in edges
    assert learner.edge_probabilities_[0, 1] == 0
    assert np.isfinite(learner.predict(X)).all()
    assert np.isfinite(learner.sample(5, random_state=0)).all()


def test_what_is_left_out_is_said(ticks) -> None:
    with pytest.warns(NotConvergedWarning, match="'time_budget' of 1 s left no time for transf"):
        learner = hurried(1).fit(X)
    assert not learner.adjacency_.any()
    assert [work.split(" (")[0] for work in learner.left_out_] == [
        "transformations",
        "the end of the search",
    ]


@pytest.mark.filterwarnings("ignore::dpdag.NotConvergedWarning")
def test_more_time_finds_graphs_of_more_evidence(ticks) -> None:
    found = [hurried(seconds).fit(X).quality_["nats_per_row"] for seconds in (1, 300, 100_000)]
    assert found[0] == 0
    assert found[1] > 0.5 * found[2] > 0


def test_more_columns_than_processes_can_afford_are_learned_by_curves(monkeypatch) -> None:
    monkeypatch.setattr("dpdag.learners.posterior_solver._PATIENCE", 0.01)
    with pytest.warns(NotConvergedWarning, match="^6 columns left no time for transf.*'time_budg"):
        wide = hurried(None).fit(X)
    curves = hurried(None, mechanism=("linear", "additive")).fit(X)
    assert wide.left_out_
    assert not curves.left_out_
    assert np.array_equal(wide.edge_probabilities_, curves.edge_probabilities_)
    assert hurried(None, mechanism="gp").fit(X[:40, :3]).left_out_ == []  # asked for


@pytest.mark.parametrize("columns", [4, 6])
def test_time_enough_changes_nothing(columns) -> None:
    patient, endless = (hurried(seconds).fit(X[:, :columns]) for seconds in (1e6, None))
    assert patient.left_out_ == endless.left_out_ == []
    assert np.array_equal(patient.edge_probabilities_, endless.edge_probabilities_)
    assert np.array_equal(patient.predict(X[:, :columns]), endless.predict(X[:, :columns]))


@pytest.mark.filterwarnings("ignore::dpdag.NotConvergedWarning")
def test_halves_of_the_rows_and_missing_values_share_the_time(ticks) -> None:
    learner = hurried(400, resamples=50).fit(X)
    assert any("of the 50 random halves" in work for work in learner.left_out_)
    holes = X.copy()
    holes[::7, 2] = np.nan
    start = next(ticks)
    filled = hurried(300, missing="impute").fit(holes)
    assert next(ticks) - start < 300 + 3 * 60
    assert filled.left_out_


def test_blocks_end_at_their_share(ticks) -> None:
    deadline = Deadline(100)
    with deadline.stage("counting", until=0.5):
        while True:
            deadline.check()
    assert next(ticks) == pytest.approx(52, abs=2)
    assert deadline.left_out == ["counting"]
    deadline.check()  # outside of stages there is always time
    with deadline.stage("more", until=0.1), pytest.raises(OutOfTimeError):
        deadline.check()
