"""Networks trained on a graph that is given."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from ..mechanisms import MLP, Mechanism
from ..objectives import LIKELIHOODS, FixedGraph
from ..seeding import base_seed, derive_seed, torch_generator
from ..training import Schedule, split_rows, train
from .checks import resolve_device

Record = TypeVar("Record", bound=Any)
Module = TypeVar("Module", bound=nn.Module)


@dataclass(frozen=True)
class Networks:
    """What networks are like and how they are trained.

    Attributes:
        likelihood: A name among ``LIKELIHOODS``.
    """

    hidden_units: int = 16
    n_layers: int = 3
    likelihood: str = "mse"
    learning_rate: float = 3e-3
    max_epochs: int = 200
    batch_size: int = 64
    patience: int | None = 10
    validation_fraction: float = 0.1
    device: str = "cpu"
    seed: int = 0

    @classmethod
    def of(cls, learner: Any, **own: Any) -> Networks:
        """With the settings of a learner that have the same names, and ``own`` instead."""
        return settings_of(learner, cls, seed=restart_seeds(learner)[0], **own)

    def train(
        self,
        x: Tensor,  # (rows, n) standardised
        adjacency: Tensor,  # (n, n)
        *,
        was_set: Tensor | None = None,  # (rows, n) bool
        start: Mechanism | None = None,
    ) -> Mechanism:
        """One set of mechanisms on a graph, from scratch or from where others stand."""
        mechanism = stacked(self, x.shape[1], [self.seed]) if start is None else deepcopy(start)
        mechanism.requires_grad_(True)
        likelihood = LIKELIHOODS[self.likelihood](x.shape[1], 1)
        graph = adjacency[None].to(torch.float32)
        objective = FixedGraph(mechanism, likelihood, graph).to(self.device)
        train(
            objective,
            split_rows(
                x[None],
                [self.seed],
                self.validation_fraction,
                self.device,
                None if was_set is None else was_set[None],
            ),
            rates={name: self.learning_rate for name, _ in objective.named_parameters()},
            schedule=settings_of(self, Schedule, patience=self.patience or 10),
            generators=[torch_generator(self.seed, "refit", device=self.device)],
        )
        return mechanism


def settings_of(learner: Any, kind: type[Record], **own: Any) -> Record:
    """A record of the settings of a learner, or of others, by the same names, and ``own``."""
    found = {f.name: getattr(learner, f.name) for f in fields(kind) if hasattr(learner, f.name)}
    if "device" in found:
        found["device"] = resolve_device(learner.device)
    return kind(**{**found, **own})


def stacked(learner: Any, n_nodes: int, seeds: list[int], **more: Any) -> MLP:
    """Untrained networks of a learner's width and depth, one set per seed."""
    shape = {name: getattr(learner, name, None) for name in ("hidden_units", "n_layers")}
    return MLP(n_nodes, len(seeds), generators=weight_generators(seeds), **{**shape, **more})


def restart_seeds(learner: Any) -> list[int]:
    """One for every restart, of which not all learners have several."""
    seed = base_seed(learner.random_state)
    return [derive_seed(seed, "restart", k) for k in range(getattr(learner, "n_restarts", 1))]


def repeated(tables: Sequence[Tensor], seeds: Sequence[list[int]]) -> Tensor:  # -> (r, rows, n)
    """One table for every seed; for all of them where there is but one."""
    if len(tables) == 1:
        return tables[0][None]
    return torch.stack([x for x, own in zip(tables, seeds) for _ in own])


def weight_generators(seeds: list[int]) -> list[torch.Generator]:
    """Where initial weights come from, one generator per replica."""
    return [torch_generator(seed, "weights") for seed in seeds]


def take_replicas(module: Module, which: slice) -> Module:
    """A copy of a module with some of its replicas, on the CPU and without gradients."""
    part = deepcopy(module).cpu().requires_grad_(False)
    for parameter in part.parameters():
        parameter.data = parameter.data[which].clone()
    return part
