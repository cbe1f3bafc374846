"""Some of the rows of a table."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["spaced", "varied_rows"]


def spaced(x: Tensor, most: float) -> Tensor:  # (rows, n) -> (at most ``most``, n)
    """Rows spread evenly over all; no column that varies becomes constant.

    Example:
        >>> spaced(torch.arange(7)[:, None], 3)[:, 0].tolist()
        [0, 3, 6]
    """
    if len(x) <= most:
        return x
    rows = torch.linspace(0, len(x) - 1, int(most), dtype=torch.float64).round().long()
    return x[varied_rows(x, rows).to(x.device)]


def varied_rows(x: Tensor, rows: Tensor) -> Tensor:  # (N, n), (k,) -> (k,)
    """The given rows, the last exchanged for others where a column would be constant.

    Example:
        >>> x = torch.tensor([[1, 0], [2, 0], [3, 0], [4, 1]])
        >>> varied_rows(x, torch.tensor([0, 1, 2])).tolist()
        [0, 1, 3]
    """
    rows = rows.clone()
    varies = (x != x[:1]).any(0)
    for k in range(1, len(rows)):  # what was exchanged stays, so that it ends
        chosen = x[rows.to(x.device)]
        flat = varies & (chosen == chosen[0]).all(0)
        if not flat.any():
            break
        column = int(flat.nonzero()[0])
        rows[-k] = int((x[:, column] != chosen[0, column]).nonzero()[0])
    return rows
