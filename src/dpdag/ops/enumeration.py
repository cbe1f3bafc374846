"""Everything there is, for small n: the oracle beside every approximation."""

from __future__ import annotations

from itertools import permutations

import torch
from torch import Tensor

from .graphs import is_acyclic


def all_orders(n_nodes: int) -> Tensor:  # (n!, n)
    """All orders of up to 8 nodes.

    Example:
        >>> all_orders(2).tolist()
        [[0, 1], [1, 0]]
    """
    if not 1 <= n_nodes <= 8:
        raise ValueError(f"All orders can be listed for 1 to 8 nodes; got n_nodes={n_nodes}.")
    return torch.tensor(list(permutations(range(n_nodes))))


def all_dags(n_nodes: int) -> Tensor:  # (number of DAGs, n, n) bool
    """All DAGs on up to 5 labelled nodes: 1, 3, 25, 543, 29281 of them.

    Example:
        >>> all_dags(3).shape
        torch.Size([25, 3, 3])
    """
    if not 1 <= n_nodes <= 5:
        raise ValueError(f"All DAGs can be listed for 1 to 5 nodes; got n_nodes={n_nodes}.")
    pairs = n_nodes * (n_nodes - 1)
    codes = torch.arange(2**pairs).unsqueeze(-1) >> torch.arange(pairs) & 1
    graphs = torch.zeros(2**pairs, n_nodes, n_nodes, dtype=torch.bool)
    graphs[:, ~torch.eye(n_nodes, dtype=torch.bool)] = codes.bool()
    return graphs[is_acyclic(graphs)]
