"""Orders whose mixture says of every edge how sure its direction is."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
import torch
from scipy.optimize import nnls
from torch import Tensor

__all__ = ["WeightedOrders", "fit_orders"]

_STEP = 40.0  # between neighbours in an order: no noise turns them round
_CANDIDATES = 128  # orders; a dozen of them suffices for forty edges
_LARGEST = 4e7  # numbers of all candidates together as matrices of edges
_NONE = 1e-6  # of a weight


class WeightedOrders(NamedTuple):
    """Orders and what they weigh.

    Attributes:
        logits: (k, n) ψ, larger comes first, so far apart that no noise turns an order round.
        weights: (k,) that sum to one.
    """

    logits: Tensor
    weights: Tensor


def fit_orders(
    odds: Tensor,  # (n, n)
    graph: Tensor,  # (n, n) bool
    before: Tensor,  # (n, n) bool
) -> WeightedOrders:
    r"""The mixture of orders that comes nearest to the ``odds`` of the edges of a DAG.

    .. math:: \min_{w \ge 0,\, \sum_k w_k = 1} \sum_{i \to j} \Bigl(\sum_k w_k\,
        [j \prec_k i] - \sigma(-o_{ij})\Bigr)^2

    over orders of the graph without the less sure of its edges. One vector ψ cannot do it: an edge
    of open direction would make those beside it open too. What cannot be is not stated either: an
    edge next to a path of sure edges points as the path does.

    Arguments:
        odds: Log-odds that edges point as they do.
        graph: A DAG.
        before: Pairs whose order is known.

    Example:
        >>> chain = torch.tensor([[0, 1, 0], [0, 0, 1], [0, 0, 0]]).bool()
        >>> odds = torch.tensor([[0.0, 9.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
        >>> orders = fit_orders(odds, chain, torch.zeros_like(chain))
        >>> late = orders.logits[:, 1] < orders.logits[:, 2]
        >>> bool((orders.weights[late].sum() - torch.sigmoid(torch.tensor(-1.0))).abs() < 1e-3)
        True
    """
    known, edges = before.numpy(), graph.numpy() & ~before.numpy()
    against = torch.sigmoid(-odds.double()).numpy()
    cause, effect = np.nonzero(edges)
    wanted = against[cause, effect]
    count = int(min(_CANDIDATES, max(2, _LARGEST // len(edges) ** 2))) if len(cause) else 1
    levels = np.r_[np.inf, np.quantile(wanted, np.linspace(1, 0, count - 1))] if count > 1 else [1]
    rng = np.random.default_rng(0)
    orders = np.array([_any_order(known | (edges & (against < level)), rng) for level in levels])
    position = orders.argsort(-1)
    turned = (position[:, effect] < position[:, cause]).T.astype(float)  # (edges, k)
    firm = 1e3  # that weights sum to one
    weights, _ = nnls(np.vstack([turned, np.full(count, firm)]), np.r_[wanted, firm])
    kept = weights > _NONE
    weights = weights[kept] / weights[kept].sum()
    return WeightedOrders(
        -_STEP * torch.from_numpy(position[kept]).double(), torch.from_numpy(weights)
    )


def _any_order(graph: np.ndarray, rng: np.random.Generator) -> np.ndarray:  # (n, n) bool -> (n,)
    """A topological order, at random where the graph leaves a choice."""
    rank, waits = rng.permutation(len(graph)), graph.sum(0)
    free = [(int(rank[v]), v) for v in np.flatnonzero(waits == 0).tolist()]
    heapq.heapify(free)
    order = []
    while free:
        node = heapq.heappop(free)[1]
        order.append(node)
        for child in np.flatnonzero(graph[node]).tolist():
            waits[child] -= 1
            if not waits[child]:
                heapq.heappush(free, (int(rank[child]), child))
    return np.array(order)
