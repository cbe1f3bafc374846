"""The exact answers of DP-DAG against plain enumeration of all DAGs and orders, n ≤ 4."""

import itertools

import pytest
import torch

from dpdag import DPDAG, Knowledge
from dpdag.ops.enumeration import all_dags, all_orders
from dpdag.ops.precedence import precedence_mask

KNOWLEDGE = {
    "none": None,
    "forbidden": Knowledge(forbidden=[(0, 1), (2, 0)]),
    "required": Knowledge(required=[(0, 2), (1, 2)]),
    "tiers": Knowledge(tiers=[[2], [0, 1]]),
    "all": Knowledge(forbidden=[(1, 0)], required=[(0, 2)], tiers=[[1], [2]]),
}


@pytest.fixture(params=KNOWLEDGE)
def dags(request: pytest.FixtureRequest) -> DPDAG:
    n = 4 if request.param in ("none", "all") else 3
    return randomised(DPDAG(n, knowledge=KNOWLEDGE[request.param], dtype=torch.float64))


def randomised(module: DPDAG, seed: int = 0) -> DPDAG:
    generator = torch.Generator().manual_seed(seed)
    for parameter in module.parameters():
        parameter.data.normal_(generator=generator)
    return module


def plackett_luce(logits: torch.Tensor, order: torch.Tensor) -> float:
    """The textbook product, node by node."""
    weights, left, probability = logits.exp(), list(range(len(logits))), 1.0
    for node in order.tolist():
        probability *= float(weights[node] / weights[left].sum())
        left.remove(node)
    return probability


def constrained(order: list[int], before: torch.Tensor) -> list[int]:
    """Second implementation of the constrained sort: blocks of forerunners, recursively."""
    if not order:
        return []
    first, rest = order[0], order[1:]
    block = [v for v in rest if before[v, first]]
    others = [v for v in rest if not before[v, first]]
    return [*constrained(block, before), first, *constrained(others, before)]


def order_probabilities(dags: DPDAG) -> dict[tuple[int, ...], float]:
    """P(order), by sorting every Plackett–Luce draw under the constraints."""
    n = dags.n_nodes
    before = dags.constraints.before if dags.constraints else torch.zeros(n, n, dtype=torch.bool)
    table: dict[tuple[int, ...], float] = {}
    for order in all_orders(n):
        key = tuple(constrained(order.tolist(), before))
        table[key] = table.get(key, 0.0) + plackett_luce(dags.order_logits.detach(), order)
    return table


def test_probabilities_of_all_dags_sum_to_one(dags: DPDAG) -> None:
    total = dags().log_prob(all_dags(dags.n_nodes)).logsumexp(0)
    torch.testing.assert_close(total, torch.zeros_like(total))


def test_probability_of_each_dag_is_the_sum_over_orders_and_edges(dags: DPDAG) -> None:
    q, n = dags(), dags.n_nodes
    p = q.edges.probabilities.detach()
    graphs = all_dags(n)
    expected = torch.zeros(len(graphs), dtype=torch.float64)
    for order, probability in order_probabilities(dags).items():
        mask = precedence_mask(torch.tensor(order))
        factors = torch.where(graphs, p, 1 - p)
        fits = ~(graphs & ~mask).any(-1).any(-1)
        expected += probability * fits * torch.where(mask, factors, 1.0).prod(-1).prod(-1)
    torch.testing.assert_close(q.log_prob(graphs).exp(), expected)


def test_order_density_agrees_and_sums_to_one(dags: DPDAG) -> None:
    table = order_probabilities(dags)
    orders = all_orders(dags.n_nodes)
    expected = torch.tensor([table.get(tuple(order.tolist()), 0.0) for order in orders])
    actual = dags().permutation.log_prob_order(orders).exp().detach()
    torch.testing.assert_close(actual, expected.double())
    assert float(actual.sum()) == pytest.approx(1)


def test_precedence_and_edge_marginals_agree(dags: DPDAG) -> None:
    q = dags()
    expected = sum(
        probability * precedence_mask(torch.tensor(order)).double()
        for order, probability in order_probabilities(dags).items()
    )
    torch.testing.assert_close(q.precedence_probabilities, expected)
    graphs = all_dags(dags.n_nodes)
    marginals = (q.log_prob(graphs).exp()[:, None, None] * graphs).sum(0)
    torch.testing.assert_close(q.edge_marginals, marginals)
    torch.testing.assert_close(q.mean, marginals)


def test_sample_frequencies_agree_with_log_prob(dags: DPDAG) -> None:
    q, n_samples = dags(), 40_000
    samples = q.sample((n_samples,), generator=torch.Generator().manual_seed(1))
    graphs, counts = torch.unique(samples, dim=0, return_counts=True)
    p = q.log_prob(graphs).exp().detach()
    assert bool((p > 0).all())
    deviation = (counts / n_samples - p) / (p * (1 - p) / n_samples).sqrt()
    assert float(deviation[p > 1e-3].abs().max()) < 4.5
    assert float(p.sum()) > 0.97


def test_mode_follows_the_largest_logits_and_is_possible(dags: DPDAG) -> None:
    q = dags()
    assert bool(q.log_prob(q.mode) > -torch.inf)
    if dags.knowledge is None:
        order = dags.order_logits.argsort(descending=True)
        torch.testing.assert_close(q.permutation.mode_order, order)
        expected = (dags.edge_logits > 0) & precedence_mask(order)
        torch.testing.assert_close(q.mode, expected.double())
        score = torch.sigmoid(dags.edge_logits) * precedence_mask(order)
        torch.testing.assert_close(q.modal_edge_probabilities, score)


def test_entropies_agree_with_enumeration() -> None:
    for knowledge in (None, Knowledge(tiers=[[2], [0, 1]])):
        dags = randomised(DPDAG(3, knowledge=knowledge, dtype=torch.float64))
        q = dags()
        p = torch.tensor(list(order_probabilities(dags).values()), dtype=torch.float64)
        torch.testing.assert_close(q.permutation.entropy(), -(p * p.log()).sum())
        log_p = q.log_prob(all_dags(3))
        log_p = log_p[log_p > -torch.inf]
        torch.testing.assert_close(q.entropy(), -(log_p.exp() * log_p).sum())


def test_log_prob_is_batched_and_equals_single_ones() -> None:
    dags = randomised(DPDAG(3, batch_shape=(2, 4), dtype=torch.float64))
    samples = dags().sample((5,), generator=torch.Generator().manual_seed(0))
    together = dags().log_prob(samples)
    assert together.shape == (5, 2, 4)
    for i, j in itertools.product(range(2), range(4)):
        one = DPDAG(3, dtype=torch.float64)
        one.load_state_dict({k: v[i, j] for k, v in dags.state_dict().items()})
        torch.testing.assert_close(one().log_prob(samples[:, i, j]), together[:, i, j])


def test_log_prob_has_gradients_and_works_for_15_nodes() -> None:
    dags = randomised(DPDAG(15, dtype=torch.float64))
    sample = dags().sample(generator=torch.Generator().manual_seed(0))
    value = dags().log_prob(sample)
    value.backward()
    assert bool(value < 0)
    assert all(bool(p.grad.isfinite().all()) for p in dags.parameters())


def test_relabelling_nodes_relabels_the_distribution() -> None:
    dags = randomised(DPDAG(4, dtype=torch.float64))
    shuffle = torch.tensor([2, 0, 3, 1])
    other = DPDAG(4, dtype=torch.float64)
    other.order_logits.data = dags.order_logits.data[shuffle]
    other.edge_logits.data = dags.edge_logits.data[shuffle][:, shuffle]
    graphs = all_dags(4)
    relabelled = graphs[:, shuffle][:, :, shuffle]
    torch.testing.assert_close(other().log_prob(relabelled), dags().log_prob(graphs))
    torch.testing.assert_close(other().mode, dags().mode[shuffle][:, shuffle])
