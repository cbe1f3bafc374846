"""DP-DAG posteriors fitted to evidence."""

import math

import pytest
import torch
from torch import Tensor

from dpdag.columns import standardise
from dpdag.distributions.knowledge import Knowledge
from dpdag.evidence.base import Evidence
from dpdag.evidence.linear import LinearEvidence
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.evidence.screened import ExactScreen
from dpdag.ops.enumeration import all_dags, all_orders
from dpdag.posterior.exact import exact_posterior
from dpdag.posterior.local import LocalPosterior, fit_exactly, fit_locally, variational_bound
from dpdag.posterior.reversals import direction_odds
from dpdag.search.lazy import lazy_search
from dpdag.search.prior import EdgePrior


def smooth(x: Tensor) -> MixtureEvidence:  # (rows, n)
    """Smooth processes with Gaussian noise."""
    return MixtureEvidence(standardise(x)[0], functions=["gp"], any_noise=False)


NODES = 3


def scores(seed: int = 0, n: int = NODES) -> Tensor:  # (n, 2ⁿ)
    generator = torch.Generator().manual_seed(seed)
    table = 2 * torch.randn(n, 2**n, generator=generator).double()
    own = (torch.arange(2**n) >> torch.arange(n)[:, None] & 1).bool()
    return table.masked_fill(own, -math.inf)


def blank(n: int) -> LocalPosterior:
    return LocalPosterior(torch.zeros(n).double(), torch.zeros(n, n).double())


def naive_bound(psi: Tensor, p: Tensor, table: Tensor, edge_prior: float) -> float:
    """Sum over all orders and all graphs along each."""
    n, total = len(psi), 0.0
    for order in all_orders(n):
        left = psi[order].flip(0).logcumsumexp(0).flip(0)
        log_order = (psi[order] - left).sum()
        position = order.argsort()
        before = position[:, None] < position
        for graph in all_dags(n):
            if bool((graph & ~before).any()):
                continue
            chance = torch.where(graph, p, 1 - p)[before]
            prior = torch.where(graph, edge_prior, 1 - edge_prior)[before]
            log_q = log_order + chance.log().sum()
            codes = (graph.T * (1 << torch.arange(n))).sum(-1)
            score = table[torch.arange(n), codes].sum()
            log_p = score + prior.log().sum() - math.lgamma(n + 1)
            total += float(log_q.exp() * (log_p - log_q))
    return total


def test_bound_equals_the_sum_over_orders_and_graphs() -> None:
    generator = torch.Generator().manual_seed(4)
    psi = torch.randn(NODES, generator=generator).double()
    p = torch.rand(NODES, NODES, generator=generator).double()
    table = scores()
    finite = torch.where(table == -math.inf, 0.0, table)
    value = variational_bound(psi, p, finite, edge_prior=0.3)
    assert value.item() == pytest.approx(naive_bound(psi, p, finite, 0.3), abs=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_coordinate_ascent_raises_the_bound_at_every_step(seed: int) -> None:
    fitted = fit_exactly(scores(seed, 4), blank(4), edge_prior=0.3)
    assert len(fitted.bound) > 5
    assert (torch.tensor(fitted.bound, dtype=torch.float64).diff() > -1e-9).all()
    assert fitted.bound[-1] > fitted.bound[0] + 0.5


def test_bound_stays_below_the_evidence() -> None:
    table = scores(1)
    fitted = fit_exactly(table, blank(NODES), edge_prior=0.5)
    pairs = NODES * (NODES - 1) / 2
    codes = [(graph.T * (1 << torch.arange(NODES))).sum(-1) for graph in all_dags(NODES)]
    node = torch.arange(NODES)
    terms = []
    for graph, code in zip(all_dags(NODES), codes):
        for order in all_orders(NODES):
            position = order.argsort()
            if not bool((graph & (position[:, None] >= position)).any()):
                terms.append(table[node, code].sum())
    evidence = torch.stack(terms).logsumexp(0) - math.lgamma(NODES + 1) - pairs * math.log(2)
    assert fitted.bound[-1] <= evidence.item() + 1e-9


def nonlinear(rows: int = 200) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(rows, 4, generator=generator, dtype=torch.float64)
    b = torch.sin(2 * noise[:, 0]) + 0.3 * noise[:, 1]
    c = torch.cos(noise[:, 0] + 2 * b) + 0.3 * noise[:, 2]
    return torch.stack([noise[:, 3], c, b, noise[:, 0]], -1)


def test_local_fit_matches_the_exact_posterior_where_evidence_is_strong() -> None:
    evidence = smooth(nonlinear())
    found = lazy_search(evidence, prior=EdgePrior.priced(math.log(4)))
    fitted = fit_locally(found, edge_prior=0.2)
    exact = exact_posterior(evidence, edge_prior=0.2).edge_probabilities
    assert (fitted.edge_probabilities - exact).abs().max() < 0.15
    refined = fit_exactly(exact_table(evidence), fitted, edge_prior=0.2)
    assert (refined.edge_probabilities - exact).abs().max() < 0.1


def exact_table(evidence: Evidence) -> Tensor:
    n = evidence.n_nodes
    member = (torch.arange(2**n)[:, None] >> torch.arange(n) & 1).bool()
    child, code = (~member.T).nonzero(as_tuple=True)
    table = torch.full((n, 2**n), -math.inf, dtype=torch.float64)
    table[child, code] = evidence.log_evidence(child, member[code])
    return table


def test_mode_of_the_local_fit_is_the_graph_found() -> None:
    found = lazy_search(smooth(nonlinear()), prior=EdgePrior.priced(math.log(4)))
    fitted = fit_locally(found, edge_prior=0.2)
    order = fitted.order_logits
    mode = (fitted.edge_logits > 0) & (order[:, None] > order)
    assert torch.equal(mode, found.adjacency)


def test_direction_of_a_linear_gaussian_fork_is_left_open() -> None:
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(300, 3, generator=generator, dtype=torch.float64)
    root = noise[:, 0]
    x = torch.stack([root, root + noise[:, 1], noise[:, 2] - root], -1)
    evidence = MixtureEvidence(standardise(x)[0], any_noise=False)
    found = lazy_search(evidence)
    odds = direction_odds(found, evidence)
    local = fit_locally(found, edge_prior=0.1, odds=odds).edge_probabilities
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
    found = lazy_search(evidence, prior=EdgePrior.priced(2.0))
    odds = direction_odds(found, evidence)
    # 1 ← 0 → 2, 1 → 0 → 2 and 1 ← 0 ← 2 score alike; two of the three have either edge from 0.
    expected = torch.zeros(3, 3, dtype=torch.float64)
    expected[0, 1], expected[0, 2] = math.log(2), math.log(2)
    torch.testing.assert_close(odds, expected - expected.T, atol=1e-6, rtol=0)


def test_local_fit_honours_knowledge() -> None:
    known = Knowledge(forbidden=[(3, 2)], required=[(0, 1)])
    limits = known.resolve(4)
    found = lazy_search(smooth(nonlinear()), constraints=limits)
    chances = fit_locally(found, constraints=limits).edge_probabilities
    assert chances[3, 2] < 1e-9
    assert chances[0, 1] > 0.99
    assert chances[1, 0] < 1e-9
