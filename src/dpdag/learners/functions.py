"""Which functions a graph gets where rows abound: Gaussian processes or networks."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from ..scm import Mechanisms, fit_gp
from ..seeding import torch_generator
from .variational import Design, Hyper, refit_mechanism

__all__ = ["Rivals", "networks_against_gp"]

_HELD = 0.1  # share of the rows that nothing is fitted to
_MOST_STEPS = 10_000
_BATCH = 256
_WORTHWHILE = 0.005  # nats a value: a squared error smaller by one percent


class Rivals(NamedTuple):
    """Networks on a graph, and by how much they predict better than Gaussian processes.

    Attributes:
        networks: Trained on all rows but those held out.
        gain: Nats by which each held-out value of a node with parents is likelier under them.
        error: Standard error of the gain.
    """

    networks: Mechanisms
    gain: float
    error: float

    @property
    def won(self) -> bool:
        """Whether they are worth it, and not by chance."""
        return self.gain > max(_WORTHWHILE, 2 * self.error)

    @property
    def verdict(self) -> str:
        """What was chosen, and why."""
        if self.won:
            return f"networks as functions: held-out values are {self.gain:.3f} nats likelier"
        lost = f"networks make held-out values {abs(self.gain):.3f} nats "
        return lost + ("likelier, too little" if self.gain > 0 else "less likely")


def networks_against_gp(
    x: Tensor,  # (rows, n) standardised
    graph: Tensor,  # (n, n) bool
    *,
    seed: int,
    device: str = "cpu",
) -> Rivals:
    r"""Fit networks and Gaussian processes on a graph and compare them on held-out rows.

    .. math:: \frac{1}{2 c} \sum_{j} \log \frac{\sum_r (x_{rj} - f_j)^2}{\sum_r (x_{rj} - g_j)^2}

    over held-out rows r and the c nodes j with parents: f Gaussian processes, g networks, Gaussian
    noise with its most likely variance on either side.
    """
    order = torch.randperm(len(x), generator=torch_generator(seed, "held-out rows"))
    count = max(1, round(_HELD * len(x)))
    rows, known = x[order[:count]], x[order[count:]]
    design = Design(
        hidden_units=64,
        batch_size=_BATCH,
        max_epochs=max(1, min(60, _MOST_STEPS * _BATCH // len(known))),
        likelihood="gaussian",
        device=device,
    )
    hyper = Hyper(3e-3, 0.0, 0.0, kl_weight=0.0, edge_prior=0.5, seed=seed)
    networks = refit_mechanism(known[None], graph, hyper=hyper, design=design).freeze(graph)
    misses = [  # (rows, children)
        (rows - functions(rows)).square()[:, graph.any(0)]
        for functions in (fit_gp(known, graph), networks)
    ]
    before, after = (miss.mean(0).clamp_min(1e-12) for miss in misses)
    gain = 0.5 * float((before / after).log().mean())
    by_row = 0.5 * (misses[0] / before - misses[1] / after).mean(-1)
    return Rivals(networks, gain, float(by_row.std()) / math.sqrt(count))
