"""A coarsened posterior against enumeration, knowledge, and what it is for."""

import itertools

import numpy as np
import pytest
import torch
from violations import violation

from dpdag import Knowledge
from dpdag.distributions import Constraints, DAGMixture
from dpdag.evidence.mixture import MixtureEvidence
from dpdag.learners.posterior_answers import least_wrong, mixture
from dpdag.learners.posterior_solver import Found
from dpdag.metrics import edge_auc
from dpdag.ops.enumeration import all_dags
from dpdag.ops.graphs import is_acyclic
from dpdag.posterior import coarse_posterior
from dpdag.posterior.coarse import ROWS
from dpdag.search import EdgePrior

PRIOR = EdgePrior.priced(1.5)


def evidence_of(x: np.ndarray) -> MixtureEvidence:
    z = torch.from_numpy((x - x.mean(0)) / x.std(0))
    return MixtureEvidence(z, functions=("linear", "additive"))


def chain(rows: int = 80, n: int = 4, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, n))
    for k in range(1, n):
        x[:, k] += np.tanh(2 * x[:, k - 1])
    return x


def by_enumeration(evidence: MixtureEvidence) -> torch.Tensor:
    """All orders, all sets of at most two causes before a column."""
    n, zeta = evidence.n_nodes, 1 / (1 + evidence.n_rows / ROWS)
    alone = evidence.log_evidence(torch.arange(n), torch.zeros(n, n).bool())
    total, edges = 0.0, torch.zeros(n, n).double()
    for order in itertools.permutations(range(n)):
        weight, share = 1.0, torch.zeros(n, n).double()
        for place, v in enumerate(order):
            sets = [s for k in range(3) for s in itertools.combinations(order[:place], k)]
            mask = torch.zeros(len(sets), n).bool()
            for row, one in enumerate(sets):
                mask[row, list(one)] = True
            value = evidence.log_evidence(torch.full((len(sets),), v), mask) - alone[v]
            term = torch.exp(zeta * value - 1.5 * mask.sum(-1))
            weight *= float(term.sum())
            share[:, v] = (term / term.sum()) @ mask.double()
        total += weight
        edges += weight * share
    return edges / total


def test_drawn_orders_give_the_posterior_of_all_orders() -> None:
    evidence = evidence_of(chain())
    found = coarse_posterior(evidence, prior=PRIOR, constraints=Knowledge().resolve(4))
    expected = by_enumeration(evidence)
    assert float((found.edge_probabilities - expected).abs().max()) < 0.08
    assert float((found.edge_probabilities - expected).abs().mean()) < 0.03


def test_more_rows_make_it_no_surer() -> None:
    few, many = (
        coarse_posterior(
            evidence_of(chain(rows)), prior=PRIOR, constraints=Knowledge().resolve(4)
        ).edge_probabilities
        for rows in (300, 1200)
    )
    assert float((few - many).abs().mean()) < 0.06
    assert float(many.max()) < 0.97


@pytest.mark.parametrize(
    "known",
    [
        Knowledge(required=[(3, 0)], forbidden=[(0, 1), (1, 0)]),
        Knowledge(tiers=[[2], [0, 3], [1]]),
        Knowledge(required=[(0, 3), (1, 3), (2, 3)]),
    ],
)
def test_knowledge_holds_in_every_graph(known: Knowledge) -> None:
    limits = known.resolve(4)
    found = coarse_posterior(evidence_of(chain()), prior=PRIOR, constraints=limits)
    p = found.edge_probabilities
    assert bool((p[~limits.allowed] < 1e-9).all())
    assert bool((p[limits.required] > 1 - 1e-9).all())
    psi = found.orders.logits
    assert bool((psi[:, :, None] > psi[:, None])[:, limits.before].all())


def test_relabelled_posteriors_are_the_same() -> None:
    found = coarse_posterior(evidence_of(chain()), prior=PRIOR, constraints=Knowledge().resolve(4))
    order = torch.tensor([2, 0, 3, 1])
    again = found.relabelled(order).edge_probabilities
    torch.testing.assert_close(again, found.edge_probabilities[order][:, order])


def test_hubs_of_noisy_columns_are_found_better_than_by_chance() -> None:
    scores = []
    for index in range(2):
        data = violation("hubs of regulation", index)
        limits = Knowledge().resolve(len(data.names))
        found = coarse_posterior(
            evidence_of(data.X), prior=EdgePrior.of(limits), constraints=limits
        )
        share = data.adjacency.mean()
        auc = edge_auc(found.edge_probabilities.numpy(), data.adjacency)["Dir-AUC-PR"]
        scores.append(auc / share)
    assert min(scores) > 2.5


def mixture_of(x: np.ndarray, limits: Constraints) -> DAGMixture:
    local = coarse_posterior(evidence_of(x), prior=PRIOR, constraints=limits)
    p = local.edge_probabilities
    return mixture([Found(None, [local], torch.ones(1), None, p)], limits)  # type: ignore[arg-type]


def test_the_least_wrong_graph_has_the_least_expected_distance() -> None:
    """Beside all graphs of three nodes, by their distance to drawn ones."""
    x = chain(60, 3, seed=3)
    limits = Knowledge().resolve(3)
    posterior = mixture_of(x, limits)
    p = posterior.edge_marginals.double()
    chosen = least_wrong(p, limits, torch.ones(3, 3).bool())
    assert bool(is_acyclic(chosen))
    none = 1 - p - p.mT

    def expected(graph: torch.Tensor) -> float:
        wrong = torch.where(graph, 1 - p, torch.where(graph.mT, 1 - p.mT, 1 - none))
        return float(wrong.triu(1).sum())

    best = min(expected(one) for one in all_dags(3).bool())
    assert expected(chosen) <= best + 1e-9


@pytest.mark.parametrize(
    ("forward", "backward", "stands"),
    [(0.49, 0.49, True), (0.6, 0.0, False), (0.7, 0.0, True), (0.45, 0.3, False)],
)
def test_an_edge_stands_where_it_is_clearly_likelier_right_than_one_too_many(
    forward: float, backward: float, stands: bool
) -> None:
    p = torch.tensor([[0.0, forward], [backward, 0.0]])
    graph = least_wrong(p, Knowledge().resolve(2), torch.ones(2, 2).bool())
    assert bool(graph[0, 1] | graph[1, 0]) == stands


def test_required_edges_stay_in_the_least_wrong_graph() -> None:
    limits = Knowledge(required=[(2, 0)]).resolve(3)
    p = mixture_of(chain(60, 3), limits).edge_marginals
    assert least_wrong(p, limits, torch.zeros(3, 3).bool()).nonzero().tolist() == [[2, 0]]
