"""Pairs of parents that do something only together are found among many others."""

import math

import pytest
import torch
from torch import Tensor

from dpdag import Knowledge
from dpdag.columns import standardise
from dpdag.evidence.additive import AdditiveEvidence
from dpdag.evidence.interactions import interaction_scores, simple_shapes
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.evidence.screened import ExactScreen
from dpdag.ops.graphs import is_acyclic
from dpdag.search import hill_climb
from dpdag.search.climb import Climb
from dpdag.search.pair_insertions import _give_best, _Tried, exchange_for_pairs, insert_pairs
from dpdag.search.prior import EdgePrior


def smooth(x: Tensor) -> MixtureEvidence:  # (rows, n)
    """Smooth processes with Gaussian noise."""
    return MixtureEvidence(standardise(x)[0], functions=["gp"], any_noise=False)


PENALTY = math.log(9)


def products(rows: int = 500, seed: int = 0) -> Tensor:  # (rows, 10): 0 · 1 + 2 · 3 → 9
    x = torch.randn(rows, 10, generator=torch.Generator().manual_seed(seed)).double()
    x[:, 9] = x[:, 0] * x[:, 1] + x[:, 2] * x[:, 3] + 0.3 * x[:, 9]
    return (x - x.mean(0)) / x.std(0)


def climb(knowledge: Knowledge, start: Tensor | None = None) -> Climb:
    return Climb(smooth(products()), knowledge.resolve(10), EdgePrior.priced(PENALTY), 14, start)


@pytest.mark.parametrize("effect", ["product", "either", "bow"])
def test_scores_find_the_pair_whatever_it_does(effect: str) -> None:
    x = torch.randn(600, 8, generator=torch.Generator().manual_seed(1)).double()
    a, b, noise = x[:, 2], x[:, 5], x[:, 7]
    y = {"product": a * b, "either": a.sign() * b.sign(), "bow": (a**2 - 1) * b}[effect]
    scores = interaction_scores(y + 0.5 * noise, simple_shapes(x[:, :7])).triu(1)
    assert divmod(int(scores.argmax()), 7) == (2, 5)
    largest, second = scores.flatten().topk(2).values
    assert largest > 2 * second


def test_scores_of_noise_are_sums_of_squares() -> None:
    x = torch.randn(2000, 30, generator=torch.Generator().manual_seed(2)).double()
    noise = torch.randn(2000, generator=torch.Generator().manual_seed(3)).double()
    off = ~torch.eye(30, dtype=torch.bool)
    scores = interaction_scores(noise, simple_shapes(x))
    assert scores[off].mean().item() == pytest.approx(9, abs=2)
    torch.testing.assert_close(scores, scores.T)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_what_is_constant_up_to_rounding_has_no_shape(dtype: torch.dtype) -> None:
    coin = torch.where(torch.arange(402) % 2 == 0, -1.234, 5.1)[:, None].to(dtype)
    line, bow, step = simple_shapes(coin)
    assert line.all()
    assert not bow.any()
    assert not step.any()  # it is the line
    noise = torch.randn(402, generator=torch.Generator().manual_seed(0)).to(dtype)
    rounding = (1 + noise * torch.finfo(dtype).eps) - 1
    assert not interaction_scores(rounding, simple_shapes(coin)).any()


def test_pairs_are_added_one_after_the_other() -> None:
    state = climb(Knowledge())
    rounds = 0
    while insert_pairs(state):
        rounds += 1
    parents = state.parents(9).nonzero()[:, 0].tolist()
    assert set(parents) >= {0, 1, 2, 3}
    assert rounds == 2
    assert not insert_pairs(state)


def test_a_descendant_in_the_pair_is_freed() -> None:
    start = torch.zeros(10, 10, dtype=torch.bool)
    start[9, 0] = True
    state = climb(Knowledge(), start)
    while insert_pairs(state):
        pass
    edges = torch.from_numpy(state.edges)
    assert edges[0, 9]
    assert not edges[9, 0]
    assert bool(is_acyclic(edges))


@pytest.mark.parametrize(
    "knowledge",
    [
        Knowledge(forbidden=[(0, 9)]),
        Knowledge(required=[(9, 0)]),
        Knowledge(tiers=[[1, 2, 3, 9], [0, 4, 5, 6, 7, 8]]),
    ],
    ids=["forbidden", "required", "tiers"],
)
def test_knowledge_stands(knowledge: Knowledge) -> None:
    state, limits = climb(knowledge), knowledge.resolve(10)
    while insert_pairs(state):
        pass
    edges = torch.from_numpy(state.edges)
    assert edges[:, 9].nonzero()[:, 0].tolist() == [2, 3]  # the other pair is out of reach
    assert not bool((edges & ~limits.allowed).any())
    assert bool(edges[limits.required].all())
    assert bool(is_acyclic(edges | limits.before))


@pytest.mark.parametrize("seed", range(3))
def test_the_search_finds_both_products(seed: int) -> None:
    found = hill_climb(smooth(products(seed=seed)), prior=EdgePrior.priced(PENALTY)).adjacency
    assert found[:, 9].nonzero()[:, 0].tolist() == [0, 1, 2, 3]
    assert int(found.sum()) == 4


def test_sums_of_functions_have_no_pairs() -> None:
    evidence = ExactScreen(AdditiveEvidence(products()))
    state = Climb(evidence, Knowledge().resolve(10), EdgePrior.priced(PENALTY), 14, None)
    assert not insert_pairs(state)


@pytest.mark.parametrize("required", [False, True])
def test_a_column_that_stands_for_two_is_given_up_for_them(required: bool) -> None:
    x = products()
    noise = torch.randn(len(x), generator=torch.Generator().manual_seed(4)).double()
    x[:, 8] = x[:, 0] * x[:, 1] + 0.5 * noise  # has to do with 9 by its causes alone
    start = torch.zeros(10, 10, dtype=torch.bool)
    start[[2, 3, 8], 9] = True
    known = Knowledge(required=[(8, 9)] if required else [])
    found = Climb(smooth(x), known.resolve(10), EdgePrior.priced(PENALTY), 14, start)
    before = found.total
    assert exchange_for_pairs(found) is not required
    expected = [2, 3, 8] if required else [0, 1, 2, 3]
    assert found.parents(9).nonzero()[:, 0].tolist() == expected
    assert (found.total > before) is not required
    assert not exchange_for_pairs(found)


def test_nothing_is_exchanged_where_the_causes_are_found() -> None:
    start = torch.zeros(10, 10, dtype=torch.bool)
    start[:4, 9] = True
    found = climb(Knowledge(), start)
    assert not exchange_for_pairs(found)
    assert torch.equal(torch.from_numpy(found.edges), start)


def test_a_parent_that_went_before_is_not_put_back() -> None:
    start = torch.zeros(10, 10, dtype=torch.bool)
    start[[2, 3], 9] = True
    found = climb(Knowledge(), start)
    pair, parents = torch.tensor([[0, 1]]), torch.zeros(1, 10, dtype=torch.bool)
    parents[0, :4] = True
    price = torch.zeros(1, dtype=torch.float64)
    new = torch.ones(1, 2, dtype=torch.bool).numpy()
    gone = _Tried(9, pair.numpy(), new, parents, price, instead=8)
    assert not _give_best(found, [gone])
    assert torch.equal(torch.from_numpy(found.edges), start)
    assert _give_best(found, [gone._replace(instead=None)])
    assert found.parents(9).nonzero()[:, 0].tolist() == [0, 1, 2, 3]
