"""Doubly stochastic matrices and the matchings nearest to them."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

__all__ = ["matching", "sinkhorn"]


def sinkhorn(
    log_alpha: Tensor,  # (*, n, n) finite
    *,
    temperature: float = 1.0,
    tolerance: float = 1e-4,
    max_iterations: int | None = None,
) -> Tensor:
    r"""Normalise rows and columns in turn, in log space, until both sum to one.

    .. math:: S(X) = \lim_{k\to\infty} (T_c \circ T_r)^k (\exp(X / \tau))

    Arguments:
        log_alpha: Logits of a permutation matrix.
        temperature: τ. The iterations needed grow like 1/τ.
        tolerance: Largest deviation of a row sum from one at which to stop (columns are exact).
        max_iterations: By default 20 at τ ≥ 1 and 20/τ below, at most 2000.

    References:
        | Learning Latent Permutations with Gumbel-Sinkhorn Networks (Mena et al., 2018)
        | https://arxiv.org/abs/1802.08665

    Example:
        >>> sinkhorn(torch.zeros(2, 2)).tolist()
        [[0.5, 0.5], [0.5, 0.5]]
    """
    if max_iterations is None:
        max_iterations = min(2000, math.ceil(20 * max(1.0, 1 / temperature)))
    log_p = log_alpha / temperature
    # Starting from the matrix scaled to a maximum of zero keeps the first exponentials finite.
    log_p = log_p - log_p.detach().amax((-2, -1), keepdim=True)
    for iteration in range(max_iterations):
        log_p = log_p - log_p.logsumexp(-1, keepdim=True)
        log_p = log_p - log_p.logsumexp(-2, keepdim=True)
        if iteration % 10 == 9:  # the check costs a pass and, on a GPU, a synchronisation
            error = (log_p.detach().logsumexp(-1).exp() - 1).abs().max()
            if bool(error < tolerance):
                break
    return log_p.exp()


def matching(logits: Tensor) -> Tensor:  # (*, n, n) finite -> (*, n) column matched to each row
    r"""The permutation of largest total logit, for every matrix of a batch.

    .. math:: M(X) = \arg\max_{\Pi} \langle \Pi, X \rangle

    Example:
        >>> matching(torch.tensor([[0.0, 2.0], [1.0, 2.0]])).tolist()
        [1, 0]
    """
    n = logits.shape[-1]
    costs = logits.detach().to("cpu", torch.float64).reshape(-1, n, n).numpy()
    columns = np.empty(costs.shape[:-1], dtype=np.int64)
    for k, cost in enumerate(costs):
        columns[k] = linear_sum_assignment(cost, maximize=True)[1]
    return torch.from_numpy(columns).reshape(logits.shape[:-1]).to(logits.device)
