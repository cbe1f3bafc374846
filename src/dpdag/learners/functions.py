"""Networks in place of Gaussian processes, where those must leave rows unread."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ..ops.rows import spaced_rows
from ..scm import Mechanisms
from ..seeding import torch_generator
from .variational import Design, Hyper, refit_mechanism

__all__ = ["Rivals", "networks_against"]

_HELD = 0.1  # share of the rows that nothing is fitted to
_MOST_STEPS = 10_000
_BATCH = 256


class Rivals(NamedTuple):
    """Networks on a graph, and by how much they predict better than other functions.

    Attributes:
        networks: Trained on all rows but those held out.
        gain: Nats that each held-out value of a node with parents is likelier under them.
        held: Number of rows held out.
    """

    networks: Mechanisms
    gain: float
    held: int


def networks_against(
    functions: Mechanisms,
    x: Tensor,  # (rows, n) standardised
    graph: Tensor,  # (n, n) bool
    *,
    read: float,
    seed: int,
    device: str = "cpu",
) -> Rivals:
    r"""Train networks on a graph and compare them with functions that were fitted to fewer rows.

    .. math:: \frac{1}{2 c} \sum_{j} \log \frac{\sum_r (x_{rj} - f_j)^2}{\sum_r (x_{rj} - g_j)^2}

    over held-out rows r and the c nodes j with parents: f the functions, g the networks, Gaussian
    noise with its most likely variance on either side.

    Arguments:
        read: How many evenly spaced rows the functions were fitted to; of the others, some are
            held out.
    """
    kept = torch.ones(len(x), dtype=torch.bool)
    kept[spaced_rows(len(x), read)] = False
    unread = kept.nonzero()[:, 0]
    shuffled = torch.randperm(len(unread), generator=torch_generator(seed, "held-out rows"))
    held = unread[shuffled[: max(1, round(_HELD * len(unread)))]]
    kept.fill_(True)[held] = False
    steps = max(1, int(kept.sum()) // _BATCH)
    design = Design(
        hidden_units=64,
        batch_size=_BATCH,
        max_epochs=max(1, min(60, _MOST_STEPS // steps)),
        likelihood="gaussian",
        device=device,
    )
    hyper = Hyper(3e-3, 0.0, 0.0, kl_weight=0.0, edge_prior=0.5, seed=seed)
    trained = refit_mechanism(x[kept][None], graph, hyper=hyper, design=design)
    networks = trained.freeze(graph)
    rows, children = x[held], graph.any(0)
    theirs, ours = (
        (rows - one(rows)).square().mean(0)[children].clamp_min(1e-12)
        for one in (functions, networks)
    )
    return Rivals(networks, 0.5 * float((theirs / ours).log().mean()), len(held))
