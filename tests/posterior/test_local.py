"""DP-DAG posteriors fitted to evidence."""

import math

import pytest
import torch
from torch import Tensor

from dpdag.columns import standardise
from dpdag.distributions.knowledge import Knowledge
from dpdag.evidence.linear import LinearEvidence
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.evidence.screened import ExactScreen
from dpdag.posterior.exact import exact_posterior
from dpdag.posterior.local import fit_locally
from dpdag.posterior.reversals import direction_odds
from dpdag.search import hill_climb
from dpdag.search.prior import EdgePrior

FREE = Knowledge().resolve(4)


def smooth(x: Tensor) -> MixtureEvidence:  # (rows, n)
    """Smooth processes with Gaussian noise."""
    return MixtureEvidence(standardise(x)[0], functions=["gp"], any_noise=False)


def nonlinear(rows: int = 200) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(rows, 4, generator=generator, dtype=torch.float64)
    b = torch.sin(2 * noise[:, 0]) + 0.3 * noise[:, 1]
    c = torch.cos(noise[:, 0] + 2 * b) + 0.3 * noise[:, 2]
    return torch.stack([noise[:, 3], c, b, noise[:, 0]], -1)


def test_local_fit_matches_the_exact_posterior_where_evidence_is_strong() -> None:
    evidence = smooth(nonlinear())
    found = hill_climb(evidence, prior=EdgePrior.priced(math.log(4)))
    odds = direction_odds(found, evidence, constraints=FREE)
    fitted = fit_locally(found, odds, constraints=FREE, edge_prior=0.2)
    exact = exact_posterior(evidence, edge_prior=0.2).edge_probabilities
    assert (fitted.edge_probabilities - exact).abs().max() < 0.15


def test_mode_of_the_local_fit_is_the_graph_found() -> None:
    evidence = smooth(nonlinear())
    found = hill_climb(evidence, prior=EdgePrior.priced(math.log(4)))
    odds = direction_odds(found, evidence, constraints=FREE)
    fitted = fit_locally(found, odds, constraints=FREE, edge_prior=0.2)
    order = fitted.orders.logits[fitted.orders.weights.argmax()]
    mode = (fitted.edge_logits > 0) & (order[:, None] > order)
    assert torch.equal(mode, found.adjacency)


def test_direction_of_a_linear_gaussian_fork_is_left_open() -> None:
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(300, 3, generator=generator, dtype=torch.float64)
    root = noise[:, 0]
    x = torch.stack([root, root + noise[:, 1], noise[:, 2] - root], -1)
    evidence = MixtureEvidence(standardise(x)[0], any_noise=False)
    found = hill_climb(evidence)
    limits = Knowledge().resolve(3)
    odds = direction_odds(found, evidence, constraints=limits)
    local = fit_locally(found, odds, constraints=limits).edge_probabilities
    exact = exact_posterior(evidence, edge_prior=0.1).edge_probabilities
    for i, j in ((0, 1), (0, 2)):
        for chances in (local, exact):
            assert chances[i, j] + chances[j, i] > 0.9
        assert 0.2 < local[i, j] < 0.8
        # Of the four (order, graph) pairs of this class, three have the root before each child.
        assert exact[i, j].item() == pytest.approx(0.75, abs=0.05)


def test_direction_odds_count_the_markov_equivalent_graphs() -> None:
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(300, 3, generator=generator, dtype=torch.float64)
    x = torch.stack([noise[:, 0], noise[:, 0] + noise[:, 1], noise[:, 2] - noise[:, 0]], -1)
    evidence = ExactScreen(LinearEvidence(standardise(x)[0]))
    found = hill_climb(evidence, prior=EdgePrior.priced(2.0))
    odds = direction_odds(found, evidence, constraints=Knowledge().resolve(3))
    # 1 ← 0 → 2, 1 → 0 → 2 and 1 ← 0 ← 2 score alike; two of the three have either edge from 0.
    expected = torch.zeros(3, 3, dtype=torch.float64)
    expected[0, 1], expected[0, 2] = math.log(2), math.log(2)
    torch.testing.assert_close(odds, expected - expected.T, atol=1e-6, rtol=0)


def test_local_fit_honours_knowledge() -> None:
    known = Knowledge(forbidden=[(3, 2)], required=[(0, 1)])
    limits = known.resolve(4)
    evidence = smooth(nonlinear())
    found = hill_climb(evidence, constraints=limits)
    odds = direction_odds(found, evidence, constraints=limits)
    chances = fit_locally(found, odds, constraints=limits).edge_probabilities
    assert chances[3, 2] < 1e-9
    assert chances[0, 1] > 0.99
    assert chances[1, 0] < 1e-9
