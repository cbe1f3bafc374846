"""Bootstrap replicas: the same search on resampled rows, all in step."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["bootstrap_weights"]


def bootstrap_weights(
    n_rows: int, n_replicas: int, *, generator: torch.Generator
) -> Tensor:  # -> (replicas, rows)
    r"""How often each row is drawn in each bootstrap resample.

    An evidence built with these weights holds all replicas, and one call of
    :func:`~dpdag.search.greedy` finds all their graphs and orders as one batch.

    Example:
        >>> weights = bootstrap_weights(5, 3, generator=torch.Generator().manual_seed(0))
        >>> weights.sum(-1).tolist()
        [5.0, 5.0, 5.0]
    """
    drawn = torch.randint(n_rows, (n_replicas, n_rows), generator=generator)
    counts = torch.zeros(n_replicas, n_rows, dtype=torch.float64)
    return counts.scatter_add_(1, drawn, torch.ones_like(counts))
