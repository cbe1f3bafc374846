"""How many rows a search with Gaussian processes can afford."""

from __future__ import annotations

import math

import torch

from ...ops.memory import available_bytes

TIME_BUDGET = 120.0  # seconds of a search
_PER_COLUMN = 1.0  # seconds at a thousand rows on one CPU core; from half to twice that was seen
_POWER = 2.5  # of the rows
_ON_GPU = 8.0  # times as fast, with processes and without
_FEWEST = 1000  # rows that are read however long it takes


def search_seconds(columns: float, rows: int, device: torch.device | str = "cpu") -> float:
    """What a search takes, roughly, by what others took.

    Example:
        >>> search_seconds(50, 1000)
        50.0
    """
    return _PER_COLUMN * columns * (rows / 1000) ** _POWER / device_speed(device)


def device_speed(device: torch.device | str) -> float:
    """How many times as fast as on one CPU core a search is there."""
    return 1.0 if torch.device(device).type == "cpu" else _ON_GPU


def affordable_rows(
    columns: float, *, seconds: float = TIME_BUDGET, device: torch.device | str = "cpu"
) -> int:
    """Rows at which a search takes ``seconds`` and its matrices half of the free memory, at most.

    The time is not measured, so that the same data give the same rows on every machine that has
    memory enough; a thousand rows are read however long it takes.

    Example:
        >>> [affordable_rows(n) for n in (10, 100, 500)]
        [2701, 1075, 1000]
    """
    within = 1000 * (seconds / search_seconds(columns, 1000, device)) ** (1 / _POWER)
    rows, free = max(float(_FEWEST), within), available_bytes(device)
    if free is not None:
        rows = min(rows, math.sqrt(free / 2 / set_bytes(1)))
    return max(1, int(rows))


def set_bytes(rows: int, itemsize: int = 4) -> float:
    """What evaluating a parent set needs: six matrices."""
    return 6.0 * itemsize * rows**2


def affordable_sets(rows: int, most: int, device: torch.device | str = "cpu") -> int:
    """Parent sets that can be evaluated at once, at most, in half of the free memory."""
    free = available_bytes(device)
    return most if free is None else max(1, min(most, int(free / 2 / set_bytes(rows))))
