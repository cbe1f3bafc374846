"""How much memory there is, asked before it is needed."""

from __future__ import annotations

import os

import torch

__all__ = ["available_bytes", "require_memory"]


def available_bytes(device: torch.device | str = "cpu") -> int | None:
    """Free memory of a device, or None where the system does not tell."""
    if torch.device(device).type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError, OSError):
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
