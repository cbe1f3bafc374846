"""The augmented Lagrangian: closed forms, updates as in appendix A, replicas on their own."""

import math

import pytest
import torch
from torch import Tensor, nn

from dpdag import Knowledge
from dpdag.objectives import CONSTRAINTS, trace_exponential, trace_polynomial
from dpdag.objectives.score import Score
from dpdag.ops.graphs import acyclic_part, is_acyclic
from dpdag.training import AugmentedLagrangian, Data, Schedule, train


def weights(*shape: int) -> Tensor:
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("name", list(CONSTRAINTS))
def test_constraint_is_zero_exactly_on_acyclic_graphs(name: str) -> None:
    graph = weights(3, 6, 6)
    acyclic = graph.triu(1)
    assert CONSTRAINTS[name](acyclic).abs().max() < 1e-12
    cyclic = acyclic.clone()
    cyclic[:, 5, 0] = 1e-3  # closes cycles of all lengths
    assert bool((CONSTRAINTS[name](cyclic) > 1e-6).all())


def test_constraints_of_two_nodes_have_closed_forms() -> None:
    a, b = 0.7, 0.4
    pair = torch.tensor([[[0.0, a], [b, 0.0]]], dtype=torch.float64)
    assert float(trace_exponential(pair)) == pytest.approx(2 * math.cosh(math.sqrt(a * b)) - 2)
    # tr (I + A/2)² = 2 + tr(A²)/4 = 2 + ab/2
    assert float(trace_polynomial(pair)) == pytest.approx(a * b / 2)


@pytest.mark.parametrize("name", list(CONSTRAINTS))
def test_constraint_gradient_is_that_of_finite_differences(name: str) -> None:
    x = weights(2, 4, 4).requires_grad_()
    assert torch.autograd.gradcheck(CONSTRAINTS[name], x)


def test_small_cycles_are_seen_in_single_precision() -> None:
    graph = torch.zeros(1, 50, 50)
    graph[0, 0, 1] = graph[0, 1, 0] = 1e-4
    assert float(trace_exponential(graph)) == pytest.approx(1e-8, rel=1e-3)


class Pull(Score):
    """Both directions of one edge are pulled to values of their own: (a − 1)² + (b − target)²."""

    def __init__(self, targets: list[float]) -> None:
        super().__init__(Knowledge().resolve(2))
        self.ends = nn.Parameter(torch.full((len(targets), 2), 0.5))
        self.register_buffer("targets", torch.tensor([[1.0, t] for t in targets]))

    def adjacency(self) -> Tensor:
        a, b = self.ends.square().unbind(-1)
        zero = torch.zeros_like(a)
        return torch.stack([zero, a, b, zero], -1).reshape(-1, 2, 2)

    def forward(self, x: Tensor, noise: None) -> Tensor:
        return (self.ends - self.targets).square().sum(-1)


def run(targets: list[float], **settings: float) -> tuple[Pull, AugmentedLagrangian, list[dict]]:
    score = Pull(targets)
    lagrangian = AugmentedLagrangian(
        score, len(targets), constraint=trace_exponential, tolerance=1e-6, **settings
    )
    x = torch.zeros(1, 2, 8)
    outcome = train(
        lagrangian,
        Data(x, x),
        rates={"score.ends": 1e-2},
        schedule=Schedule(max_epochs=6000, batch_size=8, patience=3, improvement=1e-6),
        generators=[torch.Generator().manual_seed(k) for k in range(len(targets))],
    )
    return score, lagrangian, outcome.history


def test_the_weaker_direction_gives_way() -> None:
    score, lagrangian, history = run([0.3, 0.6])
    assert bool((lagrangian.acyclicity() <= 1e-6).all())
    strong, weak = score.ends.detach().abs().unbind(-1)
    assert bool((strong > 0.8).all())
    assert bool((weak < 0.05).all())
    assert {"total", "score", "h", "multiplier", "penalty"} <= set(history[-1])
    penalties = torch.stack([row["penalty"] for row in history])
    assert bool((penalties.diff(dim=0) >= 0).all())  # c only grows, by factors of ten
    steps = (penalties[1:] / penalties[:-1]).flatten().unique()
    assert all(float(s) == pytest.approx(1) or float(s) == pytest.approx(10) for s in steps)


def test_a_replica_in_a_batch_equals_one_alone() -> None:
    together, lagrangian, _ = run([0.3, 0.9])
    for k, target in enumerate((0.3, 0.9)):
        alone, own, _ = run([target])
        torch.testing.assert_close(alone.ends[0], together.ends[k])
        assert float(own.penalty[0]) == float(lagrangian.penalty[k])
        assert float(own.multiplier[0]) == pytest.approx(float(lagrangian.multiplier[k]))


def test_a_converged_replica_stands_still_while_others_go_on() -> None:
    _, _, history = run([0.0, 0.99])
    totals = torch.stack([row["score"] for row in history])  # (epochs, r)
    moving = totals.diff(dim=0).abs() > 0
    last = [int(moving[:, k].nonzero().max()) for k in range(2)]
    assert last[0] != last[1]  # they stop at different times
    first = min(last) + 1
    assert not bool(moving[first:, last.index(min(last))].any())


def test_updates_follow_appendix_a() -> None:
    lagrangian = AugmentedLagrangian(
        Pull([0.5, 0.5]), 2, constraint=trace_exponential, penalty=2.0, tolerance=1e-8
    )
    with torch.no_grad():
        lagrangian.score.ends.copy_(torch.tensor([[1.0, 1.0], [0.0, 1.0]]))
    h = 2 * math.cosh(1.0) - 2
    done = lagrangian.advance(torch.tensor([True, True]))
    assert done.tolist() == [False, True]  # the second is acyclic
    assert lagrangian.multiplier.tolist() == pytest.approx([2 * h, 0.0])
    assert lagrangian.penalty.tolist() == [2.0, 2.0]  # nothing to compare the first h with
    assert not bool(lagrangian.advance(torch.tensor([True, False])).any())
    assert lagrangian.multiplier.tolist() == pytest.approx([4 * h, 0.0])
    assert lagrangian.penalty.tolist() == [20.0, 2.0]  # h did not fall: c grows
    with torch.no_grad():
        lagrangian.score.ends.copy_(torch.tensor([[0.5, 0.5], [0.0, 1.0]]))
    smaller = 2 * math.cosh(0.25) - 2
    assert smaller < 0.25 * h
    assert not bool(lagrangian.advance(torch.tensor([True, False])).any())
    assert lagrangian.multiplier.tolist() == pytest.approx([4 * h + 20 * smaller, 0.0])
    assert lagrangian.penalty.tolist() == [20.0, 2.0]  # it fell by more than γ: c stays


def test_a_constraint_that_cannot_be_met_is_given_up() -> None:
    lagrangian = AugmentedLagrangian(Pull([0.5]), 1, constraint=trace_exponential, penalty=1e15)
    settled = torch.tensor([True])
    assert [bool(lagrangian.advance(settled)) for _ in range(3)] == [False, False, True]


def test_acyclic_part_removes_the_weakest_edges_on_cycles_only() -> None:
    graph = torch.tensor([[0.0, 5.0, 0.1], [3.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    kept = acyclic_part(graph, graph > 0)
    assert kept.int().tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]  # 0.1 is on no cycle and stays
    forced = torch.zeros(3, 3, dtype=torch.bool)
    forced[1, 0] = True
    assert acyclic_part(graph, graph > 0, keep=forced).int()[:2, :2].tolist() == [[0, 0], [1, 0]]


def test_acyclic_part_of_any_graph_is_acyclic() -> None:
    for seed in range(20):
        graph = torch.rand(7, 7, generator=torch.Generator().manual_seed(seed))
        kept = acyclic_part(graph, graph > 0.5)
        assert bool(is_acyclic(kept))
        assert not bool((kept & ~(graph > 0.5)).any())
