"""Rows to learn from and rows to judge by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ..seeding import numpy_generator


class Data(NamedTuple):
    """Standardised values (r or 1, n, rows): one data set for all replicas or one for each.

    Attributes:
        train_weight, validation_weight: The one tensor of weights, in the same shape: 0 where a
            value was set from outside, else 1. Empty where none was.
    """

    train: Tensor
    validation: Tensor
    train_weight: tuple[Tensor, ...] = ()
    validation_weight: tuple[Tensor, ...] = ()


def split_rows(
    x: Tensor,  # (r or 1, rows, n)
    seeds: Sequence[int],
    fraction: float,
    device: torch.device | str,
    was_set: Tensor | None = None,  # (r or 1, rows, n) bool
) -> Data:
    """Training and validation rows, ``fraction`` of them, drawn by each replica's seed."""
    train, validation = _split(x, seeds, fraction, device)
    if was_set is None or not bool(was_set.any()):
        return Data(train, validation)
    weights = _split(~was_set, seeds, fraction, device)
    return Data(train, validation, weights[:1], weights[1:])


def _split(
    x: Tensor, seeds: Sequence[int], fraction: float, device: torch.device | str
) -> tuple[Tensor, Tensor]:  # (r or 1, rows, n) -> (r or 1, n, rows) twice
    rows = x.shape[-2]
    held = min(max(1, round(fraction * rows)), rows - 1)
    values = x.to(device, torch.float32).mT
    if len(set(seeds)) == 1:
        order = _shuffled(rows, seeds[0])
        return values[..., order[held:]].contiguous(), values[..., order[:held]].contiguous()
    order = torch.stack([_shuffled(rows, seed) for seed in seeds]).to(device)
    values = take_rows(values, order)
    return values[..., held:].contiguous(), values[..., :held].contiguous()


def take_rows(x: Tensor, rows: Tensor) -> Tensor:  # (r or 1, n, rows), (r, b) -> (r, n, b)
    """Every replica's own rows."""
    index = rows.unsqueeze(1).expand(-1, x.shape[1], -1)
    return x.expand(len(rows), -1, -1).gather(-1, index)


def _shuffled(rows: int, seed: int) -> Tensor:
    return torch.from_numpy(numpy_generator(seed, "split").permutation(rows))
