"""The exact posterior against enumeration of all DAGs and orders of four nodes."""

import math
from itertools import permutations

import pytest
import torch
from torch import Tensor

from dpdag.distributions.knowledge import Knowledge
from dpdag.evidence.base import Evidence
from dpdag.ops.enumeration import all_dags
from dpdag.ops.graphs import is_acyclic, reachability
from dpdag.posterior.exact import SubsetPosterior, exact_posterior

NODES = 4


class TableEvidence(Evidence):
    """Scores of parent sets from a table, subsets coded in binary."""

    n_nodes = NODES

    def __init__(self, seed: int = 0, spread: float = 2.0) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.table = spread * torch.randn(NODES, 2**NODES, generator=generator).double()

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:
        return self.table[child, (parents * (1 << torch.arange(NODES))).sum(-1)]


def enumerated(
    evidence: TableEvidence, *, edge_prior: float, knowledge: Knowledge
) -> tuple[Tensor, Tensor, Tensor]:
    """All DAGs, the log-weight of each and its orders as a mean precedence matrix."""
    limits = knowledge.resolve(NODES)
    prior = math.log(edge_prior / (1 - edge_prior))
    graphs, weights, precedence = [], [], []
    for graph in all_dags(NODES):
        if bool((graph & ~limits.allowed).any() or (limits.required & ~graph).any()):
            continue
        orders = []
        for order in permutations(range(NODES)):
            position = torch.tensor(order).argsort()
            before = position[:, None] < position
            if not bool(((graph | limits.before) & ~before).any()):
                orders.append(before)
        if orders:
            score = evidence.log_evidence(torch.arange(NODES), graph.T).sum()
            graphs.append(graph)
            weights.append(float(score) + prior * int(graph.sum()) + math.log(len(orders)))
            precedence.append(torch.stack(orders).double().mean(0))
    return torch.stack(graphs), torch.tensor(weights).double(), torch.stack(precedence)


KNOWLEDGE = [
    Knowledge(),
    Knowledge(forbidden=[(0, 1)], required=[(2, 1)]),
    Knowledge(tiers=[[3], [0, 1]]),
]


@pytest.mark.parametrize("knowledge", KNOWLEDGE)
@pytest.mark.parametrize("edge_prior", [0.5, 0.1])
def test_posterior_equals_enumeration(knowledge: Knowledge, edge_prior: float) -> None:
    evidence = TableEvidence()
    found = exact_posterior(evidence, edge_prior=edge_prior, constraints=knowledge.resolve(NODES))
    graphs, weights, precedence = enumerated(evidence, edge_prior=edge_prior, knowledge=knowledge)
    chance = weights.softmax(0)[:, None, None]
    assert found.log_normaliser == pytest.approx(weights.logsumexp(0).item(), abs=1e-5)
    edges = (chance * graphs).sum(0)
    assert torch.allclose(found.edge_probabilities, edges, atol=1e-6)
    ancestors = (chance * reachability(graphs)).sum(0)
    assert torch.allclose(found.ancestor_probabilities, ancestors, atol=1e-6)
    assert torch.allclose(found.precedence_probabilities, (chance * precedence).sum(0), atol=1e-6)


@pytest.mark.parametrize("knowledge", KNOWLEDGE)
def test_best_dag_is_the_best_of_all(knowledge: Knowledge) -> None:
    evidence = TableEvidence(seed=3)
    best = exact_posterior(evidence, constraints=knowledge.resolve(NODES)).best
    graphs, _, _ = enumerated(evidence, edge_prior=0.5, knowledge=knowledge)
    scores = torch.stack(
        [evidence.log_evidence(torch.arange(NODES), graph.T).sum() for graph in graphs]
    )
    assert best.log_score == pytest.approx(scores.max().item())
    assert torch.equal(best.adjacency, graphs[scores.argmax()])
    position = best.order.argsort()
    assert bool((position[:, None] < position)[best.adjacency].all())


def test_probabilities_of_parent_sets_sum_to_one() -> None:
    found = exact_posterior(TableEvidence())
    total = found.parent_set_probabilities.sum(-1)
    assert torch.allclose(total, torch.ones(NODES, dtype=torch.float64))


def test_samples_follow_the_posterior() -> None:
    found = exact_posterior(TableEvidence(seed=1))
    samples = found.sample(4000, generator=torch.Generator().manual_seed(0))
    assert is_acyclic(samples).all()
    assert (samples.double().mean(0) - found.edge_probabilities).abs().max() < 0.04
    again = found.sample(4000, generator=torch.Generator().manual_seed(0))
    assert torch.equal(samples, again)


def test_overwhelming_evidence_stays_finite() -> None:
    found = exact_posterior(TableEvidence(spread=3000.0))
    assert found.edge_probabilities.isfinite().all()
    assert torch.equal(found.edge_probabilities > 0.5, found.best.adjacency)
    assert found.ancestor_probabilities.isfinite().all()


def test_too_many_nodes_and_bad_priors_are_refused() -> None:
    class Large(TableEvidence):
        n_nodes = 30

    with pytest.raises(ValueError, match="up to 14; got n=30"):
        exact_posterior(Large())
    with pytest.raises(ValueError, match="'edge_prior' must be in"):
        exact_posterior(TableEvidence(), edge_prior=1.0)


def test_single_node_has_no_edges() -> None:
    found = SubsetPosterior(torch.tensor([[0.5, -math.inf]]).double())
    assert found.edge_probabilities.tolist() == [[0.0]]
    assert found.best.adjacency.tolist() == [[False]]
