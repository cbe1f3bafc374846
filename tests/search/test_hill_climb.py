"""The search: acyclic, local optimum, against brute force, constrained, deterministic."""

from functools import partial
from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor

from dpdag.columns import standardise
from dpdag.distributions.knowledge import Knowledge
from dpdag.evidence.additive import AdditiveEvidence
from dpdag.evidence.base import Evidence
from dpdag.evidence.linear import LinearEvidence
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.evidence.screened import ExactScreen, ScreenedEvidence
from dpdag.ops.graphs import is_acyclic
from dpdag.posterior.exact import exact_posterior
from dpdag.search import (
    EdgePrior,
    SearchResult,
    change_edge,
    consensus_order,
    hill_climb,
    mean_scores,
    subsamples,
)


def smooth(x: Tensor) -> MixtureEvidence:  # (rows, n)
    """Smooth processes with Gaussian noise."""
    return MixtureEvidence(standardise(x)[0], functions=["gp"], any_noise=False)


def chain(rows: int = 250, seed: int = 0) -> Tensor:  # (rows, 5): 4 → 3 → 2, (4, 2) → 1, 0 alone
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randn(rows, 5, generator=generator, dtype=torch.float64)
    e = noise[:, 4]
    d = torch.sin(2 * e) + 0.3 * noise[:, 3]
    c = d.square() + 0.3 * noise[:, 2]
    b = torch.cos(c + 2 * e) + 0.3 * noise[:, 1]
    return torch.stack([noise[:, 0], b, c, d, e], -1)


TRUTH = [(2, 1), (3, 2), (4, 1), (4, 3)]


def edges(result: SearchResult) -> list[tuple[int, int]]:
    return [(i, j) for i, j in result.adjacency.nonzero().tolist()]


def test_search_recovers_a_nonlinear_graph() -> None:
    assert edges(hill_climb(smooth(chain()))) == TRUTH


def test_search_recovers_from_a_wrong_start() -> None:
    wrong = torch.zeros(5, 5, dtype=torch.bool)
    for i, j in TRUTH:
        wrong[j, i] = True
    assert edges(hill_climb(smooth(chain()), start=wrong)) == TRUTH


def test_history_rises_and_ends_at_the_total() -> None:
    found = hill_climb(smooth(chain()), prior=EdgePrior.priced(2.0))
    assert np.all(np.diff(found.history) > 0)
    total = found.log_evidence.sum().item() - 2.0 * int(found.adjacency.sum())
    assert found.history[-1] == pytest.approx(total)


@pytest.mark.parametrize("seed", range(6))
def test_result_is_acyclic_and_no_single_change_improves_it(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    mix = torch.randn(6, 6, generator=generator, dtype=torch.float64)
    evidence = LinearEvidence(
        standardise(torch.randn(80, 6, generator=generator, dtype=torch.float64) @ mix)[0]
    )
    found = hill_climb(ExactScreen(evidence), prior=EdgePrior.priced(1.0))
    assert is_acyclic(found.adjacency)
    node = torch.arange(6)
    base = evidence.log_evidence(node, found.adjacency.T).sum() - found.adjacency.sum()
    for i in range(6):
        for j in range(6):
            changed = found.adjacency.clone()
            changed[i, j] ^= True
            if i != j and bool(is_acyclic(changed)):
                value = evidence.log_evidence(node, changed.T).sum() - changed.sum()
                assert value <= base + 1e-5


@pytest.mark.parametrize("seed", range(4))
def test_search_comes_close_to_the_exact_optimum(seed: int) -> None:
    x = chain(150, seed=seed + 10)
    evidence = smooth(x)
    found = hill_climb(evidence, prior=EdgePrior.priced(2.0))
    prior = 1 / (1 + np.exp(2.0))
    best = exact_posterior(evidence, edge_prior=prior).best
    assert found.history[-1] >= best.log_score - 2.0


def test_gain_is_what_the_edge_brings() -> None:
    evidence = smooth(chain())
    found = hill_climb(evidence)
    both = evidence.log_evidence(
        torch.tensor([1, 1]), torch.tensor([[0, 0, 1, 0, 1], [0, 0, 0, 0, 1]]).bool()
    )
    assert found.gain[2, 1].item() == pytest.approx((both[0] - both[1]).item(), rel=0.5)
    assert found.gain[2, 1] > 20


def test_knowledge_is_honoured() -> None:
    known = Knowledge(forbidden=[(4, 3)], required=[(0, 1)], tiers=[[1], [2]])
    found = hill_climb(smooth(chain()), constraints=known.resolve(5))
    assert not found.adjacency[4, 3]
    assert found.adjacency[0, 1]
    assert not found.adjacency[2, 1]
    assert is_acyclic(found.adjacency | known.resolve(5).before)


def test_search_is_deterministic() -> None:
    first, second = (hill_climb(smooth(chain())) for _ in range(2))
    assert torch.equal(first.adjacency, second.adjacency)
    assert torch.equal(first.gain, second.gain)


def test_limit_of_parents_holds() -> None:
    found = hill_climb(smooth(chain()), max_parents=1)
    assert found.adjacency.sum(0).max() <= 1


def test_parents_are_found_together_where_none_is_worth_its_price_alone() -> None:
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(60, 6, generator=generator, dtype=torch.float64)
    x[:, 5] = x[:, :4].sum(-1) + 0.2 * x[:, 5]
    evidence = ExactScreen(LinearEvidence(standardise(x)[0]))
    single = evidence.screen(5, torch.zeros(6, dtype=torch.bool))
    known = Knowledge(tiers=[[0, 1, 2, 3, 4], [5]])
    found = hill_climb(evidence, prior=EdgePrior.priced(15.0), constraints=known.resolve(6))
    assert single.max() < 15.0
    assert found.adjacency[:, 5].tolist() == [True] * 4 + [False] * 2


ADD = partial(change_edge, delete=False, reverse=False)
ADD_OR_DELETE = partial(change_edge, reverse=False)


class TableEvidence(Evidence):
    """Random evidence of every (child, parent set) pair."""

    def __init__(self, n: int, seed: int) -> None:
        self.n_nodes = n
        generator = torch.Generator().manual_seed(seed)
        self.table = 10 * torch.randn(n, 2**n, dtype=torch.float64, generator=generator)

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:
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


def sines(n: int, rows: int = 500, seed: int = 0) -> tuple[Tensor, Tensor]:
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
    return standardise(x)[0], edges


@pytest.mark.parametrize("seed", range(6))
def test_single_changes_find_the_best_of_all_dags_of_four_nodes(seed: int) -> None:
    evidence = AdditiveEvidence(sines(4, seed=seed)[0])
    found = hill_climb(evidence, prior=EdgePrior.priced(0.0), moves=(change_edge,))
    assert found.total >= value(evidence, all_dags(4)).max() - 1e-6


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("move", [ADD, ADD_OR_DELETE, change_edge])
def test_no_move_that_is_allowed_improves_the_result(seed: int, move) -> None:
    evidence, price = TableEvidence(4, seed), 1.5
    found = hill_climb(evidence, prior=EdgePrior.priced(price), moves=(move,))
    graphs, own = all_dags(4), found.adjacency
    near = (graphs ^ own).sum((-2, -1))
    grown = graphs.sum((-2, -1)) - own.sum()
    legal = (near == 1) & (grown == 1)
    if move is not ADD:
        legal |= (near == 1) & (grown == -1)
    if move is change_edge:
        legal |= (
            (near == 2) & (grown == 0) & ((graphs | graphs.mT) == (own | own.T)).all(-1).all(-1)
        )
    score = value(evidence, graphs) - price * graphs.sum((-2, -1))
    if legal.any():
        assert score[legal].max() <= found.total + 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_bookkeeping_agrees_with_evaluation_from_scratch(seed: int) -> None:
    evidence = TableEvidence(5, seed)
    found = hill_climb(evidence, prior=EdgePrior.priced(1.0))
    whole = value(evidence, found.adjacency[None])[0]
    torch.testing.assert_close(found.log_evidence.sum(), whole)
    for i, j in (~torch.eye(5, dtype=torch.bool)).nonzero().tolist():
        other = found.adjacency.clone()
        other[i, j] ^= True
        change = value(evidence, other[None])[0] - whole
        expected = -found.gain[i, j] if found.adjacency[i, j] else found.gain[i, j]
        torch.testing.assert_close(change, expected)


@pytest.mark.parametrize("seed", range(10))
def test_knowledge_holds_in_graph_and_order(seed: int) -> None:
    rules = Knowledge(forbidden=[(0, 1)], required=[(2, 1)], tiers=[[3], [0, 2]]).resolve(5)
    found = hill_climb(TableEvidence(5, seed), constraints=rules)
    assert is_acyclic(found.adjacency)
    assert not (found.adjacency & ~rules.allowed).any()
    assert (found.adjacency | ~rules.required).all()
    place = found.order(rules.before).argsort()
    assert (place[:, None] < place)[found.adjacency | rules.before].all()


def test_present_edges_outrank_absent_ones() -> None:
    free = Knowledge().resolve(6)
    found = hill_climb(AdditiveEvidence(sines(6)[0]))
    scores = found.edge_scores(free)
    assert scores[found.adjacency].min() > scores[~found.adjacency].max()
    assert (scores >= 0).all()


def test_a_start_with_a_cycle_is_refused() -> None:
    with pytest.raises(ValueError, match="'start' with the required edges has the cycle"):
        hill_climb(TableEvidence(4, 0), start=torch.ones(4, 4))


def test_consensus_of_subsamples_recovers_the_order() -> None:
    x, edges = sines(6, rows=1000, seed=3)
    free = Knowledge().resolve(6)
    rows = subsamples(len(x), 4, generator=torch.Generator().manual_seed(0))
    found = [hill_climb(AdditiveEvidence(x[some]), moves=(change_edge,)) for some in rows]
    scores = mean_scores([one.edge_scores(free) for one in found])
    assert scores[edges].min() > scores[~edges].max()
    ever = torch.stack([one.adjacency for one in found]).any(0)
    place = consensus_order(scores, ever, free.before).argsort()
    assert (place[:, None] < place)[edges].all()


def test_consensus_keeps_required_order_even_against_all_searches() -> None:
    before = torch.zeros(4, 4, dtype=torch.bool)
    before[3, 0] = True
    scores = torch.zeros(4, 4)
    scores[0, 3] = 5.0
    order = consensus_order(scores, scores > 0, before).tolist()
    assert order.index(3) < order.index(0)


class Misleading(ScreenedEvidence):
    """Says of every deletion that it would bring five nats, and refuses to be asked for ever."""

    n_nodes, asked = 2, 0

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:
        self.asked += 1
        assert self.asked < 500, "the search goes round in a circle"
        return 20.0 * parents.any(-1).double() * (child == 1)

    def screens(self, child: Tensor, parents: Tensor) -> Tensor:
        return torch.full(parents.shape, 5.0, dtype=torch.float64)

    def reach(self, child: Tensor, parents: Tensor, target: Tensor) -> Tensor:
        return self.log_evidence(child, parents) + 25.0 * (~parents.any(-1))


def test_a_deletion_that_turns_out_to_be_bad_is_not_tried_for_ever() -> None:
    start = torch.tensor([[0, 1], [0, 0]]).bool()
    found = hill_climb(Misleading(), prior=EdgePrior.priced(1.0), start=start, moves=(change_edge,))
    assert bool(found.adjacency[0, 1])


class TooHopeful(ScreenedEvidence):
    """Takes two parents for better than one, until it is asked."""

    n_nodes = 3

    def log_evidence(self, child: Tensor, parents: Tensor) -> Tensor:
        return (30.0 * parents[:, 0].double() - 3.0 * parents[:, 1]) * (child == 2)

    def screens(self, child: Tensor, parents: Tensor) -> Tensor:
        return torch.where(parents, -8.0, 0.0).double()


def test_what_a_last_confirmation_shows_to_be_bad_goes() -> None:
    start = torch.zeros(3, 3, dtype=torch.bool)
    start[:2, 2] = True
    found = hill_climb(TooHopeful(), prior=EdgePrior.priced(1.0), start=start, moves=(change_edge,))
    assert found.adjacency.nonzero().tolist() == [[0, 2]]
    assert found.total == pytest.approx(29.0)
