"""Searches that leave a local optimum and come back."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from dpdag import Knowledge, datasets, metrics
from dpdag.columns import standardise
from dpdag.distributions.knowledge import Constraints
from dpdag.evidence.base import CachedEvidence
from dpdag.evidence.linear import LinearEvidence
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.evidence.screened import ExactScreen
from dpdag.ops.graphs import is_acyclic
from dpdag.posterior.exact import exact_posterior
from dpdag.search import SearchResult, hill_climb
from dpdag.search.iterated import Change, equivalent, iterated_search, neighbourhood
from dpdag.search.prior import EdgePrior

PENALTY = math.log(9)


def linear(n: int, edges: int, seed: int) -> tuple[np.ndarray, Tensor]:
    truth = datasets.erdos_renyi(n, edges, random_state=seed)
    data = datasets.simulate(truth, 500, mechanism="linear", random_state=seed)
    return truth, torch.from_numpy(data.X)


def total(found: SearchResult) -> float:
    return float(found.log_evidence.sum()) - PENALTY * int(found.adjacency.sum())


@pytest.mark.parametrize("seed", range(3))
def test_nothing_better_exists_on_few_nodes(seed: int) -> None:
    evidence = ExactScreen(LinearEvidence(standardise(linear(7, 12, seed)[1])[0]))
    found = iterated_search(evidence, prior=EdgePrior.priced(PENALTY))
    best = exact_posterior(evidence, edge_prior=0.1).best
    assert total(found) == pytest.approx(best.log_score, abs=1e-6)


def test_it_gets_out_of_where_climbing_stops() -> None:
    truth, x = linear(15, 30, 3)
    evidence = ExactScreen(LinearEvidence(standardise(x)[0]))
    plain = hill_climb(evidence, prior=EdgePrior.priced(PENALTY))
    found = iterated_search(evidence, prior=EdgePrior.priced(PENALTY))
    assert total(found) > total(plain) + 1
    assert metrics.shd(found.adjacency.int(), truth) < metrics.shd(plain.adjacency.int(), truth)


def test_what_is_known_stays() -> None:
    limits = Knowledge(required=[(0, 1)], forbidden=[(2, 3), (3, 2)]).resolve(7)
    evidence = ExactScreen(LinearEvidence(standardise(linear(7, 12, 0)[1])[0]))
    graph = iterated_search(evidence, prior=EdgePrior.priced(PENALTY), constraints=limits).adjacency
    assert graph[0, 1]
    assert not graph[2, 3]
    assert not graph[3, 2]


@pytest.mark.parametrize("seed", range(2))
def test_nothing_better_exists_where_the_shape_of_noise_decides(seed: int) -> None:
    truth = datasets.erdos_renyi(6, 8, random_state=seed)
    noise = datasets.Noise("uniform", variance=1.0)
    data = datasets.simulate(
        truth, 300, mechanism="linear", noise=noise, root_noise=noise, random_state=seed
    )
    x = torch.from_numpy((data.X - data.X.mean(0)) / data.X.std(0))
    evidence = MixtureEvidence(x, functions=["linear", "additive"])
    found = iterated_search(evidence, prior=EdgePrior.priced(PENALTY), change=neighbourhood)
    best = exact_posterior(evidence, edge_prior=0.1).best
    assert total(found) == pytest.approx(best.log_score, abs=1e-6)


def test_no_rounds_are_a_plain_climb() -> None:
    evidence = ExactScreen(LinearEvidence(standardise(linear(10, 20, 0)[1])[0]))
    start = torch.ones(10, 10).triu(1).bool()
    for given in (None, start):
        found = iterated_search(evidence, prior=EdgePrior.priced(PENALTY), rounds=0, start=given)
        plain = hill_climb(evidence, prior=EdgePrior.priced(PENALTY), start=given)
        assert torch.equal(found.adjacency, plain.adjacency)
        assert torch.equal(found.gain, plain.gain)
        assert found.history == plain.history


@pytest.mark.parametrize("change", [equivalent, neighbourhood])
def test_more_rounds_never_end_lower(change: Change) -> None:
    evidence = ExactScreen(CachedEvidence(LinearEvidence(standardise(linear(10, 25, 1)[1])[0])))
    ends = [
        total(
            iterated_search(evidence, prior=EdgePrior.priced(PENALTY), rounds=rounds, change=change)
        )
        for rounds in (0, 3, 12)
    ]
    assert ends == sorted(ends)


def known_graph(seed: int, n: int = 7) -> tuple[Tensor, Constraints]:
    """A random graph and knowledge that it agrees with."""
    rng = np.random.default_rng(seed)
    place = rng.permutation(n)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    forbidden = [edge for edge in pairs if rng.random() < 0.1]
    open_ = [(i, j) for i, j in pairs if place[i] < place[j] and (i, j) not in forbidden]
    limits = Knowledge(
        forbidden=forbidden,
        required=[edge for edge in open_ if rng.random() < 0.1],
        tiers=[[int(node)] for node in place.argsort() if rng.random() < 0.4],
    ).resolve(n)
    graph = limits.required.clone()
    for edge in open_:
        graph[edge] |= bool(limits.allowed[edge]) and rng.random() < 0.4
    assert bool(is_acyclic(graph | limits.before))
    return graph, limits


@pytest.mark.parametrize("change", [equivalent, neighbourhood])
def test_changed_graphs_agree_with_what_is_known(change: Change) -> None:
    moved = 0
    for seed in range(400):
        graph, limits = known_graph(seed)
        before = graph.clone()
        changed = change(graph, limits, torch.Generator().manual_seed(seed))
        assert bool(is_acyclic(changed | limits.before))
        assert not (changed & ~limits.allowed).any()
        assert torch.equal(graph, before)
        moved += bool((changed & ~graph).any())
    assert moved > 40


def colliders(graph: Tensor) -> set[tuple[int, int, int]]:
    near = graph | graph.mT
    n = len(graph)
    return {
        (i, k, j)
        for k in range(n)
        for i in range(n)
        for j in range(i)
        if graph[i, k] and graph[j, k] and not near[i, j]
    }


def test_equivalent_graphs_have_the_same_adjacencies_and_colliders_among_the_nodes_kept() -> None:
    free, turned = Knowledge().resolve(8), 0
    for seed in range(100):
        graph = torch.from_numpy(datasets.erdos_renyi(8, 12, random_state=seed)).bool()
        changed = equivalent(graph, free, torch.Generator().manual_seed(seed))
        kept = (changed | changed.mT).any(0)
        inside = kept[:, None] & kept
        assert torch.equal(changed | changed.mT, (graph | graph.mT) & inside)
        assert colliders(changed) == colliders(graph & inside)
        turned += int((changed & graph.mT).sum())
    assert turned > 50


@pytest.mark.parametrize("change", [equivalent, neighbourhood])
def test_order_relations_hold_in_the_end(change: Change) -> None:
    evidence = ExactScreen(CachedEvidence(LinearEvidence(standardise(linear(8, 14, 2)[1])[0])))
    limits = Knowledge(tiers=[[7, 0], [3, 5]], required=[(5, 1)]).resolve(8)
    found = iterated_search(
        evidence, prior=EdgePrior.priced(PENALTY), constraints=limits, change=change, rounds=20
    )
    assert bool(is_acyclic(found.adjacency | limits.before))
    assert found.adjacency[5, 1]
