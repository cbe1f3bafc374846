"""A cell of an experiment: one method on one data set with one seed."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from .experiment import Experiment, Method, Source
from .measures import Measure

# Given by the cell, not by the method.
PASSED = ("random_state", "device", "verbose", "adjacency", "types")


@dataclass(frozen=True)
class Cell:
    """What is fitted, on what, and what is asked of it.

    Attributes:
        source, index: The data set.
        method: The learner.
        seed: Its ``random_state``.
        measures: What is asked of it.
        held_out: Whether a tenth of the rows is held out.
        device: Its ``device``.
    """

    source: Source
    index: int
    method: Method
    seed: int = 0
    measures: tuple[Measure, ...] = ()
    held_out: bool = False
    device: str = "cpu"

    @property
    def text(self) -> str:
        """The cell for people."""
        return f"{self.method.name} × {self.source.name}[{self.index}] × seed {self.seed}"

    @cached_property
    def learner(self) -> dict[str, Any]:
        """Class and every parameter of the method, defaults included; of a user's, the code too."""
        built = self.method.build()
        own = built.get_params(deep=False) if hasattr(built, "get_params") else self.method.settings
        settings = {name: told(value) for name, value in own.items() if name not in PASSED}
        return {"class": told(type(built)), "settings": settings, **_code(type(built))}

    @cached_property
    def identity(self) -> str:
        """A hash of data, method, parameters, seed, measures and version."""
        from .. import __version__

        facts = {
            "data": [self.source.name, told(self.source.load), self.index],
            "learner": self.learner,
            "seed": self.seed,
            "measures": told(self.measures),
            "held_out": self.held_out,
            "device": self.device,
            "version": __version__,
        }
        text = json.dumps(facts, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def plan(
    experiment: Experiment,
    *,
    sets: int | None = None,
    seeds: int | None = None,
    device: str = "cpu",
) -> list[Cell]:
    """All cells of an experiment, one data set after the other.

    Where rows are held out, a source of few sets gives as many as asked for by other splits.
    """
    wanted = experiment.sets if sets is None else sets
    cells = []
    for source in experiment.sources:
        most = wanted if experiment.held_out or source.count is None else source.count
        for index in range(source.first, source.first + min(wanted, most)):
            asked = experiment.measures, experiment.held_out, device
            cells += [
                Cell(source, index, method, seed, *asked)
                for method in experiment.methods
                for seed in range(seeds or 1)
            ]
    return cells


def _code(kind: type) -> dict[str, str]:
    """A hash of the file of a class that is not ours: changed code is another method."""
    if kind.__module__.partition(".")[0] == __package__.partition(".")[0]:
        return {}
    try:
        source = inspect.getsource(inspect.getmodule(kind) or kind)
    except (OSError, TypeError):
        return {}
    return {"code": hashlib.sha256(source.encode()).hexdigest()[:16]}


def told(part: Any) -> Any:
    """A part as JSON, the same in every process; code is told by its name.

    Example:
        >>> told(partial(sorted, key=len)), told((1, np.float64(0.5)))
        ({'call': 'builtins:sorted', 'with': {'key': 'builtins:len'}}, [1, 0.5])
    """
    if isinstance(part, (np.ndarray, np.generic)):
        part = part.tolist()
    if part is None or isinstance(part, (bool, int, float, str)):
        return part
    if isinstance(part, partial):
        return {
            "call": told(part.func),
            "with": told({**dict(enumerate(part.args)), **part.keywords}),
        }
    if isinstance(part, Mapping):
        return {str(key): told(value) for key, value in part.items()}
    if isinstance(part, Sequence):
        return [told(value) for value in part]
    if hasattr(part, "__qualname__"):
        return f"{part.__module__}:{part.__qualname__}"
    return repr(part)
