"""A causal order of linear mechanisms whose noise is not Gaussian."""

from __future__ import annotations

import torch
from torch import Tensor

from ..ops.scale import standard_units
from ..ops.shape import negentropy

__all__ = ["lingam_order"]


def lingam_order(x: Tensor, before: Tensor) -> Tensor:  # (N, n), (n, n) bool -> (n,) nodes
    r"""Take the most independent column first, remove what it explains of the others, go on.

    .. math:: \min_i \sum_j \min(0, m_{ij})^2, \qquad
              m_{ij} = J(x_i) + J(r_{j \mid i}) - J(x_j) - J(r_{i \mid j})

    with J the negentropy and r the residual of one column on another: m is positive where i → j
    is the likelier direction.

    Arguments:
        before: Where i must come before j.

    References:
        | DirectLiNGAM (Shimizu et al., 2011)
        | Pairwise likelihood ratios (Hyvärinen and Smith, 2013)

    Example:
        >>> generator = torch.Generator().manual_seed(0)
        >>> cause, noise = torch.rand(2, 1000, generator=generator, dtype=torch.float64) - 0.5
        >>> x = torch.stack([cause + noise, cause], -1)
        >>> lingam_order(x, torch.zeros(2, 2, dtype=torch.bool)).tolist()
        [1, 0]
    """
    rest, left = standard_units(x.double()), torch.arange(x.shape[1])
    order = []
    while len(left):
        shared = rest.T @ rest / len(rest)  # (k, k)
        given = rest[:, None] - shared * rest[:, :, None]  # (N, k, k): j given i
        residual = standard_units(given, size=1.0)
        found = negentropy(residual.movedim(0, -1))
        own = negentropy(rest.T)
        lead = own[:, None] + found - own - found.T
        doubt = lead.clamp(max=0).square().sum(1)
        later = before[left][:, left].any(0)  # another that is left must come first
        first = int(doubt.masked_fill(later, torch.inf).argmin())
        order.append(left[first])
        keep = torch.arange(len(left)) != first
        rest, left = residual[:, first, keep], left[keep]
    return torch.stack(order)
