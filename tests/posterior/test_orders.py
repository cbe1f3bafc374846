"""Mixtures of orders that give every edge its own odds."""

import pytest
import torch

from dpdag import datasets
from dpdag.posterior.orders import WeightedOrders, fit_orders


def precedence(orders: WeightedOrders) -> torch.Tensor:
    psi = orders.logits
    return torch.einsum("k,kij->ij", orders.weights, (psi[:, :, None] > psi[:, None]).double())


@pytest.mark.parametrize("edges", [8, 20])
def test_every_edge_has_the_odds_asked_for_where_paths_allow_them(edges: int) -> None:
    graph = torch.from_numpy(datasets.erdos_renyi(10, edges, random_state=3)).bool()
    odds = 3.0 * graph.double()
    before = precedence(fit_orders(odds, graph, torch.zeros_like(graph)))
    assert (before[graph] - torch.sigmoid(torch.tensor(3.0))).abs().max() < 0.005


def test_an_open_edge_leaves_its_neighbours_as_sure_as_they_are() -> None:
    chain = torch.zeros(4, 4).bool()
    chain[0, 1] = chain[1, 2] = chain[2, 3] = True
    odds = torch.zeros(4, 4).double()
    odds[0, 1], odds[1, 2], odds[2, 3] = 6.0, 0.0, 6.0
    before = precedence(fit_orders(odds, chain, torch.zeros_like(chain)))
    assert abs(float(before[1, 2]) - 0.5) < 0.005
    assert before[0, 1] > 0.99
    assert before[2, 3] > 0.99


def test_what_is_known_to_come_first_does_in_every_order() -> None:
    graph = torch.from_numpy(datasets.erdos_renyi(12, 24, random_state=0)).bool()
    known = graph & (torch.rand(12, 12, generator=torch.Generator().manual_seed(0)) < 0.4)
    orders = fit_orders(torch.zeros(12, 12).double(), graph, known)
    psi = orders.logits
    assert (psi[:, :, None] > psi[:, None])[:, known].all()
    assert abs(float(orders.weights.sum()) - 1) < 1e-9
    assert (precedence(orders)[graph & ~known] < 0.999).any()
