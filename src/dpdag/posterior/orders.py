"""Orders whose mixture says of every edge how sure its direction is."""

from __future__ import annotations

from bisect import bisect
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import torch
from scipy.optimize import nnls
from torch import Tensor

from ..ops.graphs import topological_order

__all__ = ["WeightedOrders", "fit_orders"]

_STEP = 40.0  # between neighbours in an order: no noise turns them round
MOST, WORK = 100, 20_000  # orders, and nodes of all of them together
_NEAR = 1e-3  # of a probability that is asked for
_NONE = 1e-9  # of a weight
_SURELY = 1e3  # beside probabilities


class WeightedOrders(NamedTuple):
    """Orders and what they weigh.

    Attributes:
        logits: (k, n) ψ, larger comes first, so far apart that no noise turns an order round.
        weights: (k,) that sum to one.
    """

    logits: Tensor
    weights: Tensor

    @classmethod
    def of(cls, place: Tensor, weights: Tensor) -> WeightedOrders:  # (k, n), (k,)
        """From the places of the nodes in each."""
        return cls(-_STEP * place.double(), weights)


def fit_orders(
    odds: Tensor,  # (n, n)
    graph: Tensor,  # (n, n) bool
    before: Tensor,  # (n, n) bool
) -> WeightedOrders:
    r"""The mixture of orders that comes nearest to the ``odds`` of the edges of a DAG.

    .. math:: \min_{w \ge 0,\, \sum_k w_k = 1} \sum_{i \to j} \Bigl(\sum_k w_k\,
        [j \prec_k i] - \sigma(-o_{ij})\Bigr)^2

    by one order after the other that turns the edges of which too little is turned (Frank and
    Wolfe). One vector ψ cannot do it: an edge of open direction would make those beside it open
    too. What cannot be is not stated either: an edge next to a path of sure edges points as the
    path does.

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
    cause, effect = np.nonzero(edges)
    wanted = torch.sigmoid(-odds.double()).numpy()[cause, effect]
    orders = [topological_order(graph | before).numpy()]
    value = _SURELY * known.astype(float)  # of a node that comes before another
    for _ in range(min(MOST, 1 + WORK // len(edges))):
        position = np.argsort(orders, -1)
        turned = (position[:, effect] < position[:, cause]).T.astype(float)  # (edges, k)
        whole = np.full(len(orders), _SURELY)  # weights sum to one
        weights = nnls(np.vstack([turned, whole]), np.r_[wanted, _SURELY])[0]
        missing = wanted - turned @ weights
        if not (np.abs(missing) > _NEAR).any():
            break
        value[effect, cause] = missing
        orders.append(_ordered(orders[0], value))
    kept = weights > _NONE
    weights = weights[kept] / weights[kept].sum()
    return WeightedOrders.of(torch.from_numpy(position[kept]), torch.from_numpy(weights))


def _ordered(order: np.ndarray, value: np.ndarray) -> np.ndarray:  # (n,), (n, n) -> (n,)
    """An order whose pairs are worth most: nodes move one by one to where they are best."""
    value = np.where(np.abs(value) > _NEAR / 2, value, 0.0)
    gain = value - value.T  # of a node that comes after another, over coming before it
    beside: list[list[tuple[int, float]]] = [[] for _ in gain]
    for node, other in np.argwhere(gain).tolist():
        beside[node].append((other, float(gain[other, node])))
    moved = True
    while moved:
        moved = False
        place = dict(zip(order.tolist(), range(len(order))))
        at: list[float] = [place[node] for node in range(len(order))]
        for node in [node for node in order.tolist() if beside[node]]:
            near = sorted((at[other], worth) for other, worth in beside[node])
            bounds = [near[0][0] - 2, *(one for one, _ in near), near[-1][0] + 2]
            worth = list(accumulate((one for _, one in near), initial=0.0))
            best, now = worth.index(max(worth)), bisect(bounds[1:-1], at[node])
            if worth[best] > worth[now] + _NONE:
                at[node], moved = (bounds[best] + bounds[best + 1]) / 2, True
        order = np.argsort(at, kind="stable")
    return order
