"""Causes that do something only together, turned round by single steps, are put right."""

import pytest
import torch
from torch import Tensor

from dpdag import Knowledge
from dpdag.columns import standardise
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.ops.graphs import is_acyclic
from dpdag.search import hill_climb
from dpdag.search.climb import Climb
from dpdag.search.family_reversals import _exchange, reverse_families
from dpdag.search.prior import EdgePrior


def smooth(x: Tensor) -> MixtureEvidence:  # (rows, n)
    """Smooth processes with Gaussian noise."""
    return MixtureEvidence(standardise(x)[0], functions=["gp"], any_noise=False)


PENALTY = 2.0


def product(rows: int = 400, seed: int = 0) -> Tensor:  # (rows, 3): (0, 1) → 2
    noise = torch.randn(rows, 3, generator=torch.Generator().manual_seed(seed)).double()
    effect = noise[:, 0] * noise[:, 1] + 0.3 * noise[:, 2]
    x = torch.stack([noise[:, 0], noise[:, 1], effect], -1)
    return (x - x.mean(0)) / x.std(0)


def graph(*edges: tuple[int, int], nodes: int = 3) -> Tensor:
    adjacency = torch.zeros(nodes, nodes, dtype=torch.bool)
    for edge in edges:
        adjacency[edge] = True
    return adjacency


WRONG, RIGHT = graph((2, 0), (1, 0)), graph((0, 2), (1, 2))


def climb(knowledge: Knowledge, start: Tensor = WRONG, x: Tensor | None = None) -> Climb:
    evidence = smooth(product() if x is None else x)
    return Climb(evidence, knowledge.resolve(len(start)), EdgePrior.priced(PENALTY), 14, start)


def test_a_parent_takes_the_place_of_the_child() -> None:
    state = climb(Knowledge())
    before = state.total
    assert reverse_families(state)
    assert state.total > before
    while reverse_families(state):  # the other cause may have been first
        pass
    assert torch.equal(torch.from_numpy(state.edges), RIGHT)
    assert state.total > before + 200


def test_a_parent_that_leads_to_another_is_cut_off_from_it() -> None:
    state = climb(Knowledge(), start=graph((2, 0), (2, 1), (1, 0)))
    while reverse_families(state):
        pass
    assert torch.equal(torch.from_numpy(state.edges), RIGHT)


def bent(seed: int) -> Tensor:  # (rows, 3): (0, 1) → 2, each of them alone too
    x = product(seed=seed)
    return torch.cat([x[:, :2], x[:, 2:] + 0.7 * x[:, :1] - 0.7 * x[:, 1:2]], -1)


@pytest.mark.parametrize("seed", range(3))
def test_a_fork_whose_ends_act_together_is_turned(seed: int) -> None:
    fork = graph((2, 0), (2, 1))
    state = climb(Knowledge(), fork, bent(seed))
    before = state.total
    assert reverse_families(state)
    assert torch.equal(torch.from_numpy(state.edges), RIGHT)
    assert state.total > before + 50
    known = climb(Knowledge(required=[(2, 0)]), fork, bent(seed))
    reverse_families(known)
    assert known.edges[2, 0]
    assert not known.edges[0, 2]


def chain_of_products(seed: int) -> Tensor:  # (rows, 5): (0, 1) → 2, (2, 3) → 4
    noise = torch.randn(400, 5, generator=torch.Generator().manual_seed(seed)).double()
    first = noise[:, 0] * noise[:, 1] + 0.3 * noise[:, 2]
    second = first * (1 + noise[:, 3]) + 0.2 * noise[:, 4]
    return standardise(torch.stack([*noise.T[:2], first, noise[:, 3], second], -1))[0]


TURNED = graph((3, 2), (4, 2), (0, 4), (1, 4), (3, 4), nodes=5)
CHAIN = graph((0, 2), (1, 2), (2, 4), (3, 4), nodes=5)


def test_a_parent_changes_families_with_its_child() -> None:
    state = climb(Knowledge(), TURNED, chain_of_products(0))
    change = _exchange(state, 4, 2, swap=True)
    assert change is not None
    before = state.total
    assert state.apply(*change)
    assert state.total > before + 50
    assert torch.equal(torch.from_numpy(state.edges), CHAIN | graph((3, 2), nodes=5))


@pytest.mark.parametrize("edge", [(0, 4), (1, 4)])
def test_a_parent_keeps_a_family_that_is_required(edge: tuple[int, int]) -> None:
    state = climb(Knowledge(required=[edge]), TURNED, chain_of_products(0))
    assert _exchange(state, 4, 2, swap=True) is None


@pytest.mark.parametrize("seed", range(3))
def test_searches_leave_turned_families(seed: int) -> None:
    found = hill_climb(smooth(chain_of_products(seed)), start=TURNED)
    assert torch.equal(found.adjacency, CHAIN)


@pytest.mark.parametrize(
    ("knowledge", "kept"),
    [
        (Knowledge(required=[(1, 0)]), [(1, 0)]),
        (Knowledge(forbidden=[(0, 2)]), []),
        (Knowledge(tiers=[[2], [0, 1]]), []),
    ],
    ids=["required", "forbidden", "tiers"],
)
def test_knowledge_stands(knowledge: Knowledge, kept: list[tuple[int, int]]) -> None:
    state = climb(knowledge)
    while reverse_families(state):
        pass
    edges = torch.from_numpy(state.edges)
    limits = knowledge.resolve(3)
    assert not bool((edges & ~limits.allowed).any())
    assert bool(is_acyclic(edges | limits.before))
    assert all(edges[edge] for edge in kept)
    assert not torch.equal(edges, RIGHT)


@pytest.mark.parametrize("seed", range(4))
def test_search_finds_products_from_any_start(seed: int) -> None:
    for start in (None, WRONG, graph((2, 1), (0, 1))):
        found = hill_climb(smooth(product(seed=seed)), start=start)
        assert torch.equal(found.adjacency, RIGHT)
        assert bool(is_acyclic(found.adjacency))
