"""How much memory there is, asked before it is needed."""

from __future__ import annotations

import os
from pathlib import Path

import torch

_CGROUP = Path("/sys/fs/cgroup")


def available_bytes(device: torch.device | str = "cpu") -> int | None:
    """Memory of a device that can still be had, or None where the system does not tell."""
    if torch.device(device).type == "cuda":
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0]) + kept
    known = [bytes_ for bytes_ in (_of_the_system(), _of_the_container()) if bytes_ is not None]
    return min(known, default=None)


def _of_the_system() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * int(next(line for line in lines if "MemAvailable" in line).split()[1])
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _of_the_container() -> int | None:
    try:
        limit, used = ((_CGROUP / f"memory.{name}").read_text() for name in ("max", "current"))
        return int(limit) - int(used)
    except (OSError, ValueError):  # no container, or none with a limit
        return None


def require_memory(needed: float, *, what: str, way_out: str, device: str = "cpu") -> None:
    """Refuse, before starting, what would not fit.

    Example:
        >>> require_memory(1e18, what="A fit of 10 nodes", way_out="use fewer restarts")
        Traceback (most recent call last):
        MemoryError: A fit of 10 nodes needs about 931322574.6 GiB of memory, ...
    """
    free = available_bytes(device)
    if free is not None and needed > free:
        raise MemoryError(
            f"{what} needs about {needed / 2**30:.1f} GiB of memory, "
            f"{free / 2**30:.1f} GiB are free on {device}; {way_out}."
        )
