"""One door to every data set with a name."""

from __future__ import annotations

from collections.abc import Callable

from ..registry import suggest
from .benchmarks import PAPER_BENCHMARKS, benchmark, canonical_name
from .original import original
from .record import Dataset, checked_index
from .sachs import sachs
from .sachs_interventional import sachs_interventional

SOURCES = ("auto", "generated", "original")
NAMED = ("Sachs", "Sachs-interventional", "SynTReN")


def available() -> list[str]:
    """Names of data sets; ER-n-m and SF-n-m go for any other n and m too.

    Example:
        >>> available()[:2], available()[-3:]
        (['ER-10-10', 'ER-10-40'], ['Sachs', 'Sachs-interventional', 'SynTReN'])
    """
    return [*PAPER_BENCHMARKS, *NAMED]


def is_name(name: str) -> bool:
    """Whether :func:`load` knows a data set of this name.

    Example:
        >>> is_name("ER-30-60"), is_name("Sachs-interventional"), is_name("Sacks")
        (True, True, False)
    """
    return name.lower() in map(str.lower, NAMED) or canonical_name(name) is not None


def load(name: str, index: int = 0, *, source: str = "auto") -> Dataset:
    r"""Load or draw a data set by name.

    Arguments:
        name: "ER-n-m" or "SF-n-m" for any n nodes and m edges, "Sachs",
            "Sachs-interventional" (nine conditions, with the mask of what was set), or "SynTReN".
        index: Number of the data set. For generated ones any number from 0, which together with
            the name is the seed; the original GP sets and SynTReN have ten, others have one.
        source: "generated", "original" (the benchmark's own files, read from the folder in
            ``DPDAG_DATA`` or downloaded), or "auto": generated for ER and SF, the package's copy
            for Sachs, original for the others.

    Example:
        >>> load("ER-50-200", index=7)
        Dataset('ER-50-200', rows=1000, nodes=50, edges=206, source='generated')
        >>> load("Sacks")
        Traceback (most recent call last):
        ValueError: Unknown data set 'Sacks'. Did you mean 'Sachs'? Known: Sachs,
        Sachs-interventional, SynTReN, and ER-n-m or SF-n-m for n nodes and m edges, such as
        'ER-50-200'.
    """
    if source not in SOURCES:
        hint = suggest(source, list(SOURCES))
        raise ValueError(f"Unknown source {source!r}.{hint} Known: {', '.join(SOURCES)}.")
    index = checked_index(index)
    named = {other.lower(): other for other in NAMED}.get(str(name).lower())
    setting = named or canonical_name(str(name))
    if setting is None:
        hint = suggest(name, available())
        raise ValueError(
            f"Unknown data set {name!r}.{hint} Known: {', '.join(NAMED)}, and ER-n-m or SF-n-m "
            "for n nodes and m edges, such as 'ER-50-200'."
        )
    if named and source == "generated":
        raise ValueError(f"{named} is not generated; use source='original' or leave it out.")
    if setting == "Sachs-interventional":
        return _only(index, setting, sachs_interventional)
    if source == "original" or setting == "SynTReN":
        return original(setting, index)
    if setting == "Sachs":
        return _only(index, setting, sachs)
    return benchmark(setting, index)


def _only(index: int, name: str, read: Callable[[], Dataset]) -> Dataset:
    if index != 0:
        raise ValueError(f"'index' must be 0 for {name}, which is one data set; got {index}.")
    return read()
