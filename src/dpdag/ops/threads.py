"""How many threads work is worth."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_LONG = 30.0  # seconds of work that several threads may share with a gain
_SETTINGS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def threads_for(seconds: float) -> Iterator[None]:
    """One thread for a block of short work, which is many small steps; the usual ones for long.

    Settings of the caller's environment win.
    """
    before = torch.get_num_threads()
    if seconds < _LONG and not any(name in os.environ for name in _SETTINGS):
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
