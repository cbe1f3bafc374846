"""Searches of several replicas as one batch."""

from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from dpdag import Knowledge
from dpdag.evidence.bge import BGeEvidence
from dpdag.evidence.screened import ExactScreen, ScreenedEvidence
from dpdag.learners.families import INTEGRATED
from dpdag.learners.integrated import Task, find_again
from dpdag.search.in_step import in_step
from dpdag.search.lazy import LazyResult, lazy_search

families = pytest.mark.parametrize("mechanism", list(INTEGRATED))
ROWS, NODES, REPLICAS = 240, 5, 3


def table() -> Tensor:  # (rows, n)
    """Curves and products, noise of an odd shape."""
    generator = torch.Generator().manual_seed(1)
    noise = torch.rand(ROWS, NODES, generator=generator, dtype=torch.float64) - 0.5
    a = 3 * noise[:, 0]
    b = torch.sin(2 * a) + noise[:, 1]
    c = a * b + noise[:, 2]
    d = 2 * c + noise[:, 3]
    x = torch.stack([d, a, noise[:, 4], b, c], -1)
    return (x - x.mean(0)) / x.std(0)


def halves() -> Tensor:  # (replicas, rows)
    generator = torch.Generator().manual_seed(2)
    every = [torch.randperm(ROWS, generator=generator)[: ROWS // 2] for _ in range(REPLICAS)]
    return torch.stack(every)


def alone(mechanism: str, replica: int) -> ScreenedEvidence:
    """The evidence of one replica, not beside others."""
    return INTEGRATED[mechanism].evidence(table(), replicas=halves()[replica, None])


@families
def test_a_replica_is_what_it_is_alone(mechanism: str) -> None:
    child = torch.tensor([0, 0, 4, 3])
    parents = torch.zeros(4, NODES, dtype=torch.bool)
    parents[1, 4] = parents[2, 1] = parents[2, 3] = parents[3, 1] = True
    together = INTEGRATED[mechanism].evidence(table(), replicas=halves())
    assert together.n_replicas == REPLICAS
    for replica in range(REPLICAS):
        own, own_child = alone(mechanism, replica), child + replica * NODES
        assert torch.allclose(
            together.log_evidence(own_child, parents), own.log_evidence(child, parents), atol=0.05
        )
        changes = together.screens(own_child, parents), own.screens(child, parents)
        assert torch.allclose(*changes, atol=0.5)


@pytest.mark.parametrize("mechanism", ["gp", "network", "linear"])
def test_replicas_are_the_rows_they_name(mechanism: str) -> None:
    child, parents = torch.tensor([0, 4]), torch.zeros(2, NODES, dtype=torch.bool)
    parents[0, 4] = parents[1, 1] = parents[1, 3] = True
    for replica, rows in enumerate(halves()):
        cut = INTEGRATED[mechanism].evidence(table()[rows]).log_evidence(child, parents)
        named = alone(mechanism, replica).log_evidence(child, parents)
        assert torch.allclose(named, cut, atol=0.3)


@families
def test_one_batch_equals_one_after_the_other(mechanism: str) -> None:
    search = partial(lazy_search, edge_penalty=2.0)
    together = in_step(INTEGRATED[mechanism].evidence(table(), replicas=halves()), search)
    single = [search(alone(mechanism, replica)) for replica in range(REPLICAS)]
    assert len(together) == REPLICAS
    for one, other in zip(together, single):
        assert torch.equal(one.adjacency, other.adjacency)
        assert torch.allclose(one.log_evidence, other.log_evidence, atol=0.05)
        assert one.history == pytest.approx(other.history, abs=0.1)


@families
def test_posteriors_of_halves_keep_to_what_is_known(mechanism: str) -> None:
    known = Knowledge(forbidden=[(4, 0)], required=[(1, 2)]).resolve(NODES)
    start = torch.zeros(NODES, NODES, dtype=torch.bool)
    task = Task(mechanism, known, 0.1)
    for found in find_again(table(), halves(), task, start=start):
        assert not found.graph.adjacency[4, 0]
        assert found.graph.adjacency[1, 2]
        assert found.evidence is None
        assert float(found.weights.sum()) == pytest.approx(1.0)


def test_requests_of_one_moment_are_one_call() -> None:
    class Counted(ExactScreen):
        def __init__(self, rows: Tensor) -> None:
            super().__init__(BGeEvidence(table(), replicas=rows))
            self.calls: list[int] = []

        def screens(self, child: Tensor, parents: Tensor) -> Tensor:
            self.calls.append(len(child))
            return super().screens(child, parents)

    search = partial(lazy_search, edge_penalty=2.0)
    together = Counted(halves())
    in_step(together, search)
    assert together.calls[0] == REPLICAS * NODES
    single = [Counted(rows[None]) for rows in halves()]
    for evidence in single:
        search(evidence)
    assert len(together.calls) < sum(len(evidence.calls) for evidence in single)
    assert sum(together.calls) == sum(sum(evidence.calls) for evidence in single)


@pytest.mark.parametrize("where", ["evidence", "search"])
def test_a_failure_reaches_the_caller_and_leaves_nothing_waiting(where: str) -> None:
    class Failing(ExactScreen):
        def screens(self, child: Tensor, parents: Tensor) -> Tensor:
            raise RuntimeError("no memory left")

    def search(evidence: ScreenedEvidence) -> LazyResult:
        if where == "search":
            evidence.log_evidence(torch.tensor([0]), torch.zeros(1, NODES, dtype=torch.bool))
            raise RuntimeError("no memory left")
        return lazy_search(evidence)

    with pytest.raises(RuntimeError, match="no memory left"):
        in_step(Failing(BGeEvidence(table(), replicas=halves())), search)


@pytest.mark.parametrize("where", ["submit", "answer"])
def test_an_interrupt_leaves_nothing_waiting(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    place, name = (ThreadPoolExecutor, "submit") if where == "submit" else (Future, "set_result")
    usual, calls = getattr(place, name), list[int]()

    def interrupted(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return usual(*arguments)

    monkeypatch.setattr(place, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        in_step(ExactScreen(BGeEvidence(table(), replicas=halves())), lazy_search)
