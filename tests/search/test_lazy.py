"""The lazy search: acyclic, local optimum, constrained, deterministic."""

import numpy as np
import pytest
import torch
from torch import Tensor

from dpdag.columns import standardise
from dpdag.distributions.knowledge import Knowledge
from dpdag.evidence.linear import LinearEvidence
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.evidence.screened import ExactScreen
from dpdag.ops.graphs import is_acyclic
from dpdag.posterior.exact import exact_posterior
from dpdag.search.lazy import LazyResult, lazy_search
from dpdag.search.prior import EdgePrior


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


def edges(result: LazyResult) -> list[tuple[int, int]]:
    return [(i, j) for i, j in result.adjacency.nonzero().tolist()]


def test_search_recovers_a_nonlinear_graph() -> None:
    assert edges(lazy_search(smooth(chain()))) == TRUTH


def test_search_recovers_from_a_wrong_start() -> None:
    wrong = torch.zeros(5, 5, dtype=torch.bool)
    for i, j in TRUTH:
        wrong[j, i] = True
    assert edges(lazy_search(smooth(chain()), start=wrong)) == TRUTH


def test_history_rises_and_ends_at_the_total() -> None:
    found = lazy_search(smooth(chain()), prior=EdgePrior.priced(2.0))
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
    found = lazy_search(ExactScreen(evidence), prior=EdgePrior.priced(1.0))
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
    found = lazy_search(evidence, prior=EdgePrior.priced(2.0))
    prior = 1 / (1 + np.exp(2.0))
    best = exact_posterior(evidence, edge_prior=prior).best
    assert found.history[-1] >= best.log_score - 2.0


def test_gain_is_what_the_edge_brings() -> None:
    evidence = smooth(chain())
    found = lazy_search(evidence)
    both = evidence.log_evidence(
        torch.tensor([1, 1]), torch.tensor([[0, 0, 1, 0, 1], [0, 0, 0, 0, 1]]).bool()
    )
    assert found.gain[2, 1].item() == pytest.approx((both[0] - both[1]).item(), rel=0.5)
    assert found.gain[2, 1] > 20


def test_knowledge_is_honoured() -> None:
    known = Knowledge(forbidden=[(4, 3)], required=[(0, 1)], tiers=[[1], [2]])
    found = lazy_search(smooth(chain()), constraints=known.resolve(5))
    assert not found.adjacency[4, 3]
    assert found.adjacency[0, 1]
    assert not found.adjacency[2, 1]
    assert is_acyclic(found.adjacency | known.resolve(5).before)


def test_search_is_deterministic() -> None:
    first, second = (lazy_search(smooth(chain())) for _ in range(2))
    assert torch.equal(first.adjacency, second.adjacency)
    assert torch.equal(first.gain, second.gain)


def test_limit_of_parents_holds() -> None:
    found = lazy_search(smooth(chain()), max_parents=1)
    assert found.adjacency.sum(0).max() <= 1


def test_parents_are_found_together_where_none_is_worth_its_price_alone() -> None:
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(60, 6, generator=generator, dtype=torch.float64)
    x[:, 5] = x[:, :4].sum(-1) + 0.2 * x[:, 5]
    evidence = ExactScreen(LinearEvidence(standardise(x)[0]))
    single = evidence.screen(5, torch.zeros(6, dtype=torch.bool))
    known = Knowledge(tiers=[[0, 1, 2, 3, 4], [5]])
    found = lazy_search(evidence, prior=EdgePrior.priced(15.0), constraints=known.resolve(6))
    assert single.max() < 15.0
    assert found.adjacency[:, 5].tolist() == [True] * 4 + [False] * 2
