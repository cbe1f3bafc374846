"""The training loop: replicas side by side, each with its own data order, noise and stopping."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor

from ..objectives.base import Objective
from .adam import ADAM, ReplicaAdam
from .captured import Captured
from .rows import Data, take_rows
from .state import TrainingState


@dataclass(frozen=True)
class Schedule:
    """How long to train.

    Attributes:
        max_epochs: Passes over the training rows at most.
        batch_size: Rows per step.
        patience: Checks without improvement after which a replica is settled, which ends its
            training unless the objective has more for it; None never stops early.
        improvement: What a loss must fall by to count as improved.
        slowing: Factor on the learning rates of a replica that is settled and goes on.
        check_every: Epochs between checks.
        betas: Decay of the optimiser's moments.
        checkpoint: Folder to save the state in, with ``checkpoint_every`` epochs between.
    """

    max_epochs: int
    batch_size: int
    patience: int | None = 10
    improvement: float = 0.0
    slowing: float = 1.0
    check_every: int = 2
    betas: tuple[float, float] = ADAM
    checkpoint: Path | None = None
    checkpoint_every: int = 10


class Epoch(NamedTuple):
    """What callbacks see after each epoch; values are (r,) tensors."""

    number: int
    of: int
    values: Mapping[str, Tensor]


class Outcome(NamedTuple):
    """The end of a run; the objective's parameters hold each replica's best state."""

    validation: Tensor  # (r,) loss of that state
    history: list[dict[str, Tensor]]
    epochs: int
    settled: Tensor  # (r,) whether training ended by itself, and not because it diverged
    diverged: Tensor  # (r,)

    def take(self, which: slice) -> Outcome:
        """That of some of the replicas, on the CPU."""
        history = [{name: v[which].cpu() for name, v in row.items()} for row in self.history]
        ends = {name: getattr(self, name)[which].cpu() for name in ("settled", "diverged")}
        return self._replace(validation=self.validation[which].cpu(), history=history, **ends)

    def rows(self) -> list[dict[str, Any]]:
        """The history as a table: one row per epoch and replica."""
        found = []
        for number, values in enumerate(self.history, start=1):
            table = {name: value.tolist() for name, value in values.items()}
            for replica in range(len(self.validation)):
                row = {name: column[replica] for name, column in table.items()}
                found.append({"epoch": number, "replica": replica, **row})
        return found


def train(
    objective: Objective,
    data: Data,
    *,
    rates: Mapping[str, float | Tensor],
    schedule: Schedule,
    generators: list[Generator],
    callbacks: Sequence[Callable[[Epoch], None]] = (),
    resume_from: Path | None = None,
) -> Outcome:
    """Minimise an objective for all replicas at once, each as if it were alone.

    Arguments:
        objective: Trained in place.
        data: Training and validation rows.
        rates: Learning rate, a number or (r,), for every named parameter.
        schedule: When to stop and to save.
        generators: One random stream per replica: data order and noise.
        callbacks: Called after every epoch; a ``KeyboardInterrupt`` anywhere ends the training
            with the best state so far.
        resume_from: Checkpoint folder to continue from, bit for bit.
    """
    parameters: dict[str, Tensor] = dict(objective.named_parameters())
    adam = ReplicaAdam(parameters, rates, betas=schedule.betas)
    state = TrainingState.start(parameters, adam, generators)
    if resume_from is not None:
        state.load(resume_from)
    descent = _Descent(objective, adam)
    with suppress(KeyboardInterrupt):  # what was found until then is kept
        while state.epoch < schedule.max_epochs and not bool(state.stopped.all()):
            _run_epoch(descent, data, state, schedule)
            for callback in callbacks:
                callback(Epoch(state.epoch, schedule.max_epochs, state.history[-1]))
            if schedule.checkpoint is not None and state.epoch % schedule.checkpoint_every == 0:
                state.save(schedule.checkpoint)
    _finish(objective, data, state, early=schedule.patience is not None)
    return Outcome(
        state.best_loss,
        state.history,
        state.epoch,
        settled=state.stopped & ~state.diverged,
        diverged=state.diverged,
    )


class _Descent:
    """One objective and its optimiser, with as few launches as the objective allows."""

    def __init__(self, objective: Objective, adam: ReplicaAdam) -> None:
        self.objective, self.adam = objective, adam
        self.names: list[str] = []
        self._captured = Captured(
            lambda x, noise, *weight: self._descend(x, noise, 0, *weight),
            version=lambda: adam.version,
        )
        self._validation = Captured(objective.validation)

    def step(self, x: Tensor, noise: Any, number: int, *weight: Tensor) -> Tensor:
        """Descend once; the terms of the loss before it, (terms, r)."""
        if self.objective.capturable:
            return self._captured(x, noise[number : number + 1], *weight)
        return self._descend(x, noise, number, *weight)

    def _descend(self, x: Tensor, noise: Any, number: int, *weight: Tensor) -> Tensor:
        terms = self.objective.loss(x, noise, number, *weight)
        self.adam.zero_grad()
        terms["total"].sum().backward()
        self.adam.step()
        self.names = list(terms)
        return torch.stack([value.detach() for value in terms.values()])

    def validation(self, x: Tensor, *weight: Tensor) -> Tensor:  # -> (r,)
        """The loss that early stopping watches."""
        if self.objective.capturable:
            return self._validation(x, *weight)
        return self.objective.validation(x, *weight)


def _run_epoch(descent: _Descent, data: Data, state: TrainingState, schedule: Schedule) -> None:
    x, objective = data.train, descent.objective
    rows = x.shape[-1]
    size = min(schedule.batch_size, rows)
    steps = -(-rows // size)
    order = _shuffles(rows, state.generators, x.device)
    noise = objective.draw_noise(steps, state.generators)
    batches = take_rows(x, order)
    weights = [take_rows(weight, order) for weight in data.train_weight]
    values = []
    for step in range(steps):
        part = slice(step * size, (step + 1) * size)
        weight = (one[..., part] for one in weights)
        values.append(descent.step(batches[..., part], noise, step, *weight))
    means = dict(zip(descent.names, torch.stack(values).mean(0)))
    state.epoch += 1
    broken = ~means["total"].isfinite() & ~state.stopped
    if bool(broken.any()):
        _explain(broken, state.epoch)
        state.diverged = state.diverged | broken
        state.stop(broken)
    validation = torch.full_like(means["total"], torch.nan)
    if state.epoch % schedule.check_every == 0:
        validation = descent.validation(data.validation, *data.validation_weight)
        state.keep_best(
            validation, early=schedule.patience is not None, improvement=schedule.improvement
        )
        if schedule.patience is not None:
            settled = (state.stale >= schedule.patience) & ~state.stopped
            state.restore(settled)
            done = objective.advance(settled)
            state.stop(done)
            state.begin_anew(settled & ~done, slowing=schedule.slowing)
    state.history.append({**means, "validation": validation, **objective.summary()})


def _finish(objective: Objective, data: Data, state: TrainingState, *, early: bool) -> None:
    """Leave each replica's best state in the parameters; without early stopping, the last one."""
    loss = objective.validation(data.validation, *data.validation_weight)
    state.keep_best(loss, early=early)
    if not bool(state.best_loss.isfinite().any()):
        raise FloatingPointError(
            "The loss was never finite; lower 'learning_rate' or check the scale of the data."
        )
    with torch.no_grad():
        for name, tensor in state.parameters.items():
            tensor.copy_(state.best[name])


def _shuffles(
    rows: int, generators: Sequence[Generator], device: torch.device
) -> Tensor:  # (r, rows)
    """A random order of the rows for every replica."""
    if device.type == "cpu":
        return torch.stack([torch.randperm(rows, generator=g) for g in generators])
    # One sort of all replicas: of each alone it would cost a GPU many launches.
    keys = torch.empty(len(generators), rows, dtype=torch.int64, device=device)
    for own, generator in zip(keys, generators):
        own.random_(generator=generator)
    return keys.argsort(-1)


def _explain(broken: Tensor, epoch: int) -> None:
    count = int(broken.sum())
    which = "The fit" if len(broken) == 1 else f"{count} of {len(broken)} fits"
    warnings.warn(
        f"{which} stopped in epoch {epoch} with a loss that is not finite; the last good state is "
        "kept. Lower 'learning_rate' if this repeats.",
        RuntimeWarning,
        stacklevel=4,
    )
