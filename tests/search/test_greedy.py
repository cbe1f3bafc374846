"""Greedy search: against brute force, under constraints, and move by move."""

from itertools import product

import pytest
import torch
from torch import Tensor

from dpdag.distributions.knowledge import Knowledge
from dpdag.evidence.additive import AdditiveEvidence
from dpdag.evidence.base import Evidence
from dpdag.ops.graphs import is_acyclic
from dpdag.search import consensus_order, greedy, mean_scores, subsamples

ALL = ("add", "delete", "reverse")


class TableEvidence(Evidence):
    """Random evidence of every (child, parent set) pair, and a count of requests."""

    def __init__(self, n: int, seed: int, replicas: int | None = None) -> None:
        self.n_nodes, self.n_replicas, self.requests = n, replicas, 0
        generator = torch.Generator().manual_seed(seed)
        size = (n * (replicas or 1), 2**n)
        self.table = 10 * torch.randn(size, dtype=torch.float64, generator=generator)

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:
        self.requests += 1
        return self.table[child, (parents.long() * 2 ** torch.arange(self.n_nodes)).sum(-1)]


def all_dags(n: int) -> Tensor:
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    graphs = torch.zeros(2 ** len(pairs), n, n, dtype=torch.bool)
    choices = torch.tensor(list(product([False, True], repeat=len(pairs))))
    for k, (i, j) in enumerate(pairs):
        graphs[:, i, j] = choices[:, k]
    return graphs[is_acyclic(graphs)]


def value(evidence: Evidence, graphs: Tensor) -> Tensor:  # (g, n, n) -> (g,)
    n = evidence.n_nodes
    child = torch.arange(n).repeat(len(graphs))
    return evidence.log_evidence(child, graphs.mT.reshape(-1, n)).reshape(-1, n).sum(-1)


def nonlinear(n: int, rows: int = 500, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Data from a random additive model in the order 0, 1, …, and its adjacency."""
    generator = torch.Generator().manual_seed(seed)
    edges = torch.rand(n, n, generator=generator).lt(0.5).triu(1)
    x = torch.zeros(rows, n, dtype=torch.float64)
    for v in range(n):
        shift = torch.rand(n, generator=generator, dtype=torch.float64) * 6
        x[:, v] = ((2 * x + shift).sin() * edges[:, v]).sum(-1)
        x[:, v] += 0.3 * torch.randn(rows, dtype=torch.float64, generator=generator)
        if not edges[:, v].any():
            x[:, v] *= 4
    return (x - x.mean(0)) / x.std(0, correction=0), edges


@pytest.mark.parametrize("seed", range(6))
def test_search_finds_the_best_of_all_dags_of_four_nodes(seed):
    x, _ = nonlinear(4, seed=seed)
    evidence = AdditiveEvidence(x)
    found = greedy(evidence, moves=ALL)
    assert found.log_evidence >= value(evidence, all_dags(4)).max() - 1e-6


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("moves", [("add",), ("add", "delete"), ALL])
def test_no_legal_move_improves_the_result(seed, moves):
    evidence, penalty = TableEvidence(4, seed), 1.5
    found = greedy(evidence, moves=moves, penalty=penalty)
    graphs = all_dags(4)
    near = (graphs ^ found.adjacency).sum((-2, -1))
    grown = graphs.sum((-2, -1)) - found.adjacency.sum()
    reverse = (near == 2) & ((graphs & found.adjacency.T) & ~found.adjacency).any(-1).any(-1)
    reverse &= grown == 0
    legal = {"add": (near == 1) & (grown == 1), "delete": (near == 1) & (grown == -1)}
    legal["reverse"] = reverse & (
        (graphs | graphs.mT) == (found.adjacency | found.adjacency.T)
    ).all(-1).all(-1)
    score = value(evidence, graphs) - penalty * graphs.sum((-2, -1))
    own = found.log_evidence - penalty * found.adjacency.sum()
    for move in moves:
        if legal[move].any():
            assert score[legal[move]].max() <= own + 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_bookkeeping_agrees_with_evaluation_from_scratch(seed):
    evidence = TableEvidence(5, seed)
    found = greedy(evidence, moves=ALL)
    torch.testing.assert_close(found.log_evidence, value(evidence, found.adjacency[None])[0])
    for i, j in (found.adjacency | (found.gain != 0)).nonzero().tolist():
        other = found.adjacency.clone()
        other[i, j] ^= True
        change = value(evidence, other[None])[0] - found.log_evidence
        expected = -found.loss[i, j] if found.adjacency[i, j] else found.gain[i, j]
        torch.testing.assert_close(change, expected)


def test_replicas_move_as_if_alone():
    together = TableEvidence(4, seed=0, replicas=3)
    found = greedy(together, moves=ALL)
    assert found.adjacency.shape == (3, 4, 4)
    for replica in range(3):
        alone = TableEvidence(4, seed=0)
        alone.table = together.table[4 * replica : 4 * replica + 4]
        single = greedy(alone, moves=ALL)
        assert torch.equal(single.adjacency, found.adjacency[replica])
        torch.testing.assert_close(single.log_evidence, found.log_evidence[replica])


def test_each_sweep_is_one_request():
    evidence = TableEvidence(6, seed=0, replicas=4)
    found = greedy(evidence, moves=ALL)
    # One for the start, one per sweep (the last finds nothing), at most one for the scores.
    assert evidence.requests <= len(found.history) + 3


@pytest.mark.parametrize("seed", range(10))
def test_knowledge_holds_in_graph_and_order(seed):
    known = Knowledge(forbidden=[(0, 1)], required=[(2, 1)], tiers=[[3], [0, 2]])
    rules = known.resolve(5)
    found = greedy(TableEvidence(5, seed), moves=ALL, constraints=rules)
    assert is_acyclic(found.adjacency)
    assert not (found.adjacency & ~rules.allowed).any()
    assert (found.adjacency | ~rules.required).all()
    place = found.order.argsort()
    assert (place[:, None] < place)[found.adjacency | rules.before].all()


def test_candidates_and_max_parents_limit_the_graph():
    candidates = torch.zeros(5, 5, dtype=torch.bool)
    candidates[0] = candidates[1] = candidates[2] = True
    found = greedy(TableEvidence(5, 3), moves=ALL, candidates=candidates, max_parents=2)
    assert found.adjacency.sum(0).max() <= 2
    assert not (found.adjacency & ~candidates).any()


def test_start_and_steps_are_respected():
    start = torch.zeros(4, 4, dtype=torch.bool)
    start[0, 1] = start[1, 2] = True
    kept = greedy(TableEvidence(4, 0), start=start, moves=ALL, max_steps=0)
    assert torch.equal(kept.adjacency, start)
    once = greedy(TableEvidence(4, 0), moves=ALL, max_steps=1)
    assert once.adjacency.sum() == 1


def test_progress_sees_rising_evidence():
    rows = []
    greedy(TableEvidence(5, 1), moves=ALL, progress=rows.append)
    values = [row["log_evidence"] for row in rows]
    assert values == sorted(values)
    assert len(rows) > 1


def test_present_edges_outrank_absent_ones():
    x, _ = nonlinear(6)
    found = greedy(AdditiveEvidence(x))
    scores = found.edge_scores
    assert scores[found.adjacency].min() > scores[~found.adjacency].max()
    assert (scores >= 0).all()


def test_nonlinear_graphs_are_recovered():
    x, edges = nonlinear(6, rows=1000, seed=3)
    assert torch.equal(greedy(AdditiveEvidence(x), moves=ALL, penalty=3.0).adjacency, edges)


def test_results_commute_with_relabelling():
    x, _ = nonlinear(6)
    shuffle = torch.randperm(6, generator=torch.Generator().manual_seed(0))
    found = greedy(AdditiveEvidence(x), moves=ALL)
    moved = greedy(AdditiveEvidence(x[:, shuffle]), moves=ALL)
    assert torch.equal(moved.adjacency, found.adjacency[shuffle][:, shuffle])
    torch.testing.assert_close(moved.edge_scores, found.edge_scores[shuffle][:, shuffle])


def test_consensus_of_subsamples_recovers_the_order():
    x, edges = nonlinear(6, rows=1000, seed=3)
    weights = subsamples(len(x), 4, generator=torch.Generator().manual_seed(0))
    found = greedy(AdditiveEvidence(x, weights=weights), moves=ALL, penalty=3.0)
    assert found.order.shape == (4, 6)
    place = consensus_order(found, before=torch.zeros(6, 6, dtype=torch.bool)).argsort()
    assert (place[:, None] < place)[edges].all()
    scores = mean_scores(found)
    assert scores[edges].min() > scores[~edges].max()


def test_consensus_keeps_required_order_even_against_all_replicas():
    x, _ = nonlinear(4, rows=500, seed=1)
    weights = subsamples(len(x), 3, generator=torch.Generator().manual_seed(0))
    found = greedy(AdditiveEvidence(x, weights=weights))
    before = torch.zeros(4, 4, dtype=torch.bool)
    before[3, 0] = True
    order = consensus_order(found, before=before).tolist()
    assert order.index(3) < order.index(0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"moves": ("ad",)}, "Unknown move 'ad'. Did you mean 'add'?"),
        ({"moves": "add"}, "'moves' must be a tuple"),
        ({"max_parents": 0}, "'max_parents' must be at least 1; got 0"),
        ({"candidates": torch.ones(2, 2)}, r"'candidates' must be \(4, 4\)"),
        ({"start": torch.ones(4, 4)}, "'start' with the required edges has the cycle"),
        ({"start": torch.zeros(3, 3)}, r"'start' must end in \(4, 4\)"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, message):
    with pytest.raises(ValueError, match=message):
        greedy(TableEvidence(4, 0), **arguments)
