"""Rows to learn from and rows to judge by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..seeding import derive_seed

__all__ = ["Data", "split_rows"]


class Data(NamedTuple):
    """Standardised values (r or 1, n, rows): one data set for all replicas or one for each."""

    train: Tensor
    validation: Tensor


def split_rows(
    x: Tensor,  # (r or 1, rows, n)
    seeds: Sequence[int],
    fraction: float,
    device: torch.device | str,
) -> Data:
    """Training and validation rows, ``fraction`` of them, drawn by each replica's seed."""
    rows = x.shape[-2]
    held = min(max(1, round(fraction * rows)), rows - 1)
    values = x.to(device, torch.float32).mT
    if len(set(seeds)) == 1:
        order = _shuffled(rows, seeds[0])
        return Data(values[..., order[held:]].contiguous(), values[..., order[:held]].contiguous())
    order = torch.stack([_shuffled(rows, seed) for seed in seeds]).to(device)
    index = order.unsqueeze(1).expand(-1, x.shape[-1], -1)
    values = values.expand(len(seeds), -1, -1).gather(-1, index)
    return Data(values[..., held:].contiguous(), values[..., :held].contiguous())


def _shuffled(rows: int, seed: int) -> Tensor:
    generator = np.random.default_rng(derive_seed(seed, "split"))
    return torch.from_numpy(generator.permutation(rows))
