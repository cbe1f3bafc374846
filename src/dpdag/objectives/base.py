"""What the training loop asks of an objective."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Generator, Tensor, nn


class Objective(nn.Module, ABC):
    """A loss over replicas, with trainable parameters that have a leading replica axis."""

    @property
    def capturable(self) -> bool:
        """Whether a step can be recorded as a graph.

        It then reads nothing but tensors that stay in place and never asks for a value; noise is a
        tensor, with one entry per step.
        """
        return False

    def draw_noise(self, steps: int, generators: Sequence[Generator]) -> Any:
        """Everything random in ``steps`` evaluations, each replica from its own stream."""

    @abstractmethod
    def loss(
        self,
        x: Tensor,  # (r, n, b)
        noise: Any,
        step: int,
        weight: Tensor | None = None,  # (r, n, b) what every value counts as an effect
    ) -> Mapping[str, Tensor]:
        """Named (r,) values of one evaluation; ``"total"`` is minimised."""

    @abstractmethod
    def validation(
        self,
        x: Tensor,  # (r or 1, n, rows)
        weight: Tensor | None = None,
    ) -> Tensor:  # (r,)
        """The loss that early stopping watches."""

    def summary(self) -> Mapping[str, Tensor]:
        """Further (r,) values to record after an epoch."""
        return {}

    def advance(self, settled: Tensor) -> Tensor:  # (r,) bool -> (r,) bool
        """Told which replicas improve no more, says which are done.

        The others find their problem changed and train on.
        """
        return settled


class KnownGradient(torch.autograd.Function):
    """A value (*) of an argument (*, …) whose gradient is known with it."""

    @staticmethod
    def forward(ctx: Any, argument: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
        ctx.save_for_backward(gradient)
        return value

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        inner = [1] * (gradient.ndim - grads[0].ndim)
        return grads[0].reshape(*grads[0].shape, *inner) * gradient, None, None


def streams(like: Tensor, steps: int, generators: Sequence[Generator]) -> Tensor:
    """Uniform draws (steps, r, …) in the shape of ``like`` (r, …), one stream per replica."""
    noise = torch.empty(len(generators), steps, *like.shape[1:], device=like.device)
    for own, generator in zip(noise, generators):
        own.uniform_(generator=generator)
    return noise.transpose(0, 1)
