"""The solver of VI-DP-DAG: any number of fits, trained as one batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..distributions import DPDAG, Constraints, DAGMixture
from ..evidence.divided import divided_sums
from ..mechanisms import MECHANISMS, Mechanism
from ..objectives import ELBO, LIKELIHOODS
from ..ops.memory import require_memory
from ..ops.precedence import inverse_permutation
from ..search import EdgePrior, change_edge, hill_climb, subsamples
from ..seeding import torch_generator
from ..training import Epoch, Outcome, Schedule, split_rows, train
from .networks import settings_of, take_replicas, weight_generators

_SPREAD = 8.0  # of order logits that start from an order
_NODES = 100  # of the largest graphs in the paper
_RATES = {  # that parameters other than those of networks learn at
    "dags.order_logits": "order_learning_rate",
    "dags.edge_logits": "edge_learning_rate",
}


@dataclass(frozen=True)
class Hyper:
    """The settings that may differ between the replicas of one batch."""

    learning_rate: float
    order_learning_rate: float
    edge_learning_rate: float
    kl_weight: float
    edge_prior: float
    edge_start: float = 0.5
    seed: int = 0


@dataclass(frozen=True)
class Design:
    """The settings that all replicas of one batch share."""

    permutation: str = "topk"
    temperature: float = 1.0
    edge_temperature: float = 1.0
    mechanism: str = "mlp"
    hidden_units: int = 16
    n_layers: int = 3
    likelihood: str = "mse"
    max_epochs: int = 200
    batch_size: int = 64
    patience: int | None = 10
    validation_fraction: float = 0.1
    device: str = "cpu"


@dataclass(frozen=True)
class Replicas:
    """Trained fits, side by side."""

    dags: DPDAG
    mechanism: Mechanism
    outcome: Outcome
    held_out: Tensor  # (r,) reconstruction loss on the validation rows

    def take(self, which: slice) -> Replicas:
        """Some of the fits, as a batch of their own on the CPU."""
        return Replicas(
            take_replicas(self.dags, which),
            take_replicas(self.mechanism, which),
            self.outcome.take(which),
            self.held_out[which].cpu(),
        )


def fit_replicas(
    x: Tensor,  # (r or 1, rows, n) standardised
    hypers: Sequence[Hyper],
    *,
    design: Design,
    constraints: Constraints | None = None,
    was_set: Tensor | None = None,  # (r or 1, rows, n) bool
    orders: Tensor | None = None,  # (r, n) nodes by position to start from
    callbacks: Sequence[Callable[[Epoch], None]] = (),
    checkpoint: Path | None = None,
    checkpoint_every: int = 10,
    resume_from: Path | None = None,
) -> Replicas:
    """Train one fit per entry of ``hypers``, each as if it were alone.

    Arguments:
        x: One data set for all fits or one for each.
        hypers: Their own settings and seeds.
        design: Their common settings.
        constraints: Enforced in every sampled graph.
        was_set: Values that were set from outside count as causes only.
        orders: Where to start the order logits; all orders alike when None.
        callbacks, checkpoint, checkpoint_every, resume_from: Passed to the training loop.
    """
    r, n, device = len(hypers), x.shape[-1], torch.device(design.device)
    require_memory(
        _memory(r, n, x.shape[-2], design),
        what=f"Training {r} fit{'s' if r > 1 else ''} of {n} nodes",
        way_out="lower 'n_restarts' or 'hidden_units', or use fewer columns",
        device=design.device,
    )
    seeds = [h.seed for h in hypers]
    dags = DPDAG(
        n,
        design.permutation,
        temperature=design.temperature,
        edge_temperature=design.edge_temperature,
        batch_shape=(r,),
        knowledge=constraints,
    )
    with torch.no_grad():
        start = within_reach(torch.tensor([h.edge_start for h in hypers]), n).logit()
        dags.edge_logits.add_(start[:, None, None])
    if orders is not None:
        start_at(dags, orders)
    mechanism = MECHANISMS[design.mechanism](
        n,
        r,
        hidden_units=design.hidden_units,
        n_layers=design.n_layers,
        generators=weight_generators(seeds),
    )
    likelihood = LIKELIHOODS[design.likelihood](n, r)
    setting = {
        field.name: torch.tensor([getattr(h, field.name) for h in hypers], dtype=torch.float32)
        for field in fields(Hyper)
    }
    objective = ELBO(
        dags,
        mechanism,
        likelihood,
        kl_weight=setting["kl_weight"],
        edge_prior=within_reach(setting["edge_prior"], n),
    ).to(device)
    rates = {
        name: setting[_RATES.get(name, "learning_rate")].to(device)
        for name, _ in objective.named_parameters()
    }
    data = split_rows(x, seeds, design.validation_fraction, device, was_set)
    outcome = train(
        objective,
        data,
        rates=rates,
        schedule=settings_of(
            design, Schedule, checkpoint=checkpoint, checkpoint_every=checkpoint_every
        ),
        generators=[torch_generator(seed, "train", device=device) for seed in seeds],
        callbacks=callbacks,
        resume_from=resume_from,
    )
    kl = setting["kl_weight"].to(device) * objective.kl()
    held_out = (outcome.validation - kl).detach()
    return Replicas(dags, mechanism, outcome, held_out)


def within_reach(probability: Tensor, n: int) -> Tensor:  # (r) -> (r)
    """The probability of an edge among n nodes, where the one given is meant for 100 at most.

    Beyond, it stands for as many expected parents as among 100 nodes, the most in the paper: a
    network that starts with half of a thousand parents learns from noise, and keeps it.

    Example:
        >>> p = torch.tensor([0.5])
        >>> within_reach(p, 100).item(), within_reach(p, 199).item()
        (0.5, 0.25)
    """
    return probability * min(1.0, (_NODES - 1) / max(1, n - 1))


def _memory(r: int, n: int, rows: int, design: Design) -> float:
    """Bytes a fit needs: weights with gradients, moments and copies, noise of an epoch, data."""
    h = design.hidden_units if design.mechanism == "mlp" else 1
    weights = 10.0 * r * n * h * (n + h * max(0, design.n_layers - 2))
    noise = 3.0 * r * n * n * max(1, rows // design.batch_size)
    activations = 3.0 * design.n_layers * r * n * h * min(design.batch_size, rows)
    return 4.0 * (weights + noise + activations + 3.0 * r * n * rows)


def start_at(dags: DPDAG, orders: Tensor) -> None:  # (r, n)
    """Let the order logits descend along given orders."""
    n = dags.n_nodes
    position = inverse_permutation(orders, torch.float32)
    with torch.no_grad():
        if dags.order_logits.ndim == orders.ndim:
            dags.order_logits.copy_(_SPREAD * (0.5 - position / max(n - 1, 1)))
        else:  # a matching of positions and nodes: distance from the wanted position
            distance = (torch.arange(n)[:, None] - position.unsqueeze(-2)).abs()
            dags.order_logits.copy_(-_SPREAD * distance / max(n - 1, 1))


def posterior(replicas: Replicas, combine: str) -> DAGMixture:
    """The trained distributions as one, on the CPU and without gradients."""
    dags = replicas.dags
    loss = replicas.outcome.validation
    usable = loss.isfinite()
    weights = usable / usable.sum()
    if combine == "best":
        weights = torch.nn.functional.one_hot(loss.argmin(), len(loss)).float()
    kept = weights > 0
    for parameter in dags.parameters():
        parameter.data = parameter.data[kept]
    return DAGMixture(dags(), weights[kept])


def search_orders(
    x: Tensor,  # (rows, n)
    constraints: Constraints,
    n_orders: int,
    *,
    was_set: Tensor,  # (rows, n) bool
    random_state: Any,
) -> Tensor:  # (n_orders, n)
    """Orders of greedy additive searches: on all rows, and on resamples for the others."""
    generator = torch_generator(random_state, "bootstrap orders")
    drawn = subsamples(len(x), n_orders - 1, generator=generator, was_set=was_set)
    add = partial(change_edge, delete=False, reverse=False)
    found = [
        hill_climb(
            divided_sums(x[rows], was_set[rows]),
            prior=EdgePrior.priced(0.0),
            constraints=constraints,
            max_parents=x.shape[1],
            moves=(add,),
        )
        for rows in (torch.arange(len(x)), *drawn)
    ]
    return torch.stack([one.order(constraints.before) for one in found])
