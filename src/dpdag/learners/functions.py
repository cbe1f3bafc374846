"""Which functions a graph gets where rows abound: Gaussian processes or trained networks."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from ..scm import Mechanisms
from ..seeding import torch_generator
from .families import INTEGRATED
from .networks import Networks

__all__ = ["Rivals", "compare_with_networks", "train_networks"]

_HELD = 0.1  # share of the rows that nothing is fitted to
_MOST_STEPS = 10_000
_BATCH = 256
_WORTHWHILE = 0.005  # nats a value: a squared error smaller by one percent


class Rivals(NamedTuple):
    """By how much trained networks predict better than a family's functions.

    Attributes:
        gain: Nats by which each held-out value of a node with parents is likelier under networks.
        error: Standard error of the gain.
    """

    gain: float
    error: float

    @property
    def won(self) -> bool:
        """Whether networks are worth it, and not by chance."""
        return self.gain > max(_WORTHWHILE, 2 * self.error)

    @property
    def verdict(self) -> str:
        """What was chosen, and why."""
        if self.won:
            return f"networks as functions: held-out values are {self.gain:.3f} nats likelier"
        lost = f"trained networks make held-out values {abs(self.gain):.3f} nats "
        return lost + ("likelier, too little" if self.gain > 0 else "less likely")


def compare_with_networks(
    x: Tensor,  # (rows, n) standardised
    graph: Tensor,  # (n, n) bool
    mechanism: str,
    *,
    seed: int,
    device: str = "cpu",
) -> Rivals:
    r"""Fit networks and a family's functions on a graph and compare them on held-out rows.

    .. math:: \frac{1}{2 c} \sum_{j} \log \frac{\sum_r (x_{rj} - f_j)^2}{\sum_r (x_{rj} - g_j)^2}

    over held-out rows r and the c nodes j with parents: f of the family, g networks, Gaussian
    noise with its most likely variance on either side.
    """
    order = torch.randperm(len(x), generator=torch_generator(seed, "held-out rows"))
    count = max(1, round(_HELD * len(x)))
    rows, known = x[order[:count]], x[order[count:]]
    rivals = (
        INTEGRATED[mechanism].fit(known, graph, None),
        train_networks(known, graph, seed=seed, device=device),
    )
    misses = [(rows - functions(rows)).square()[:, graph.any(0)] for functions in rivals]
    before, after = (miss.mean(0).clamp_min(1e-12) for miss in misses)
    gain = 0.5 * float((before / after).log().mean())
    by_row = 0.5 * (misses[0] / before - misses[1] / after).mean(-1)
    return Rivals(gain, float(by_row.std()) / math.sqrt(count))


def train_networks(
    x: Tensor,  # (rows, n) standardised
    graph: Tensor,  # (n, n) bool
    *,
    seed: int,
    device: str = "cpu",
) -> Mechanisms:
    """Networks on a graph, for many rows."""
    networks = Networks(
        hidden_units=64,
        batch_size=_BATCH,
        max_epochs=max(1, min(60, _MOST_STEPS * _BATCH // len(x))),
        likelihood="gaussian",
        device=device,
        seed=seed,
    )
    return networks.train(x, graph).freeze(graph)
