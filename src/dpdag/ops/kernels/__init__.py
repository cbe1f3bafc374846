"""Fused kernels in Triton, and the one place that decides whether they run."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor


def has_kernels(x: Tensor) -> bool:
    """Whether the kernels take a tensor: single precision on a GPU, or in Triton's interpreter."""
    return x.dtype == torch.float32 and _runs_on(x.device.type)


@cache
def _runs_on(device: str) -> bool:
    if find_spec("triton") is None:
        return False
    if os.environ.get("TRITON_INTERPRET") == "1":
        return device == "cpu"
    # Triton compiles for NVIDIA's chips since Volta.
    known = device == "cuda" and torch.version.cuda is not None
    return known and torch.cuda.get_device_capability() >= (7, 0)
