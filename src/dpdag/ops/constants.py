"""Numbers that are needed again and again on a device."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor


def constants(values: Sequence[float], like: Tensor) -> Tensor:  # -> (k,), not to be written to
    """A vector with the type and the place of another tensor; a GPU waits for it only once.

    Example:
        >>> constants((1.0, 2.0), torch.zeros(3, dtype=torch.float64))
        tensor([1., 2.], dtype=torch.float64)
    """
    return _constants(tuple(values), like.dtype, like.device)


@lru_cache(maxsize=64)
def _constants(values: tuple[float, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.tensor(values, dtype=dtype, device=device)
