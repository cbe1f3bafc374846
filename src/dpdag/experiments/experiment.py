"""Experiment = data sets × methods × measures × seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..datasets import Dataset
from ..registry import Registry
from .measures import Measure
from .views import Figure, Table


@dataclass(frozen=True)
class Source:
    """Data sets of one kind.

    Attributes:
        name: As tables show it.
        load: Makes data set number k of that name.
        first: Number of the first set.
        count: How many there are; None where there is no end.
    """

    name: str
    load: Callable[[str, int], Dataset]
    first: int = 0
    count: int | None = None

    def __call__(self, index: int) -> Dataset:
        """Data set number ``index``; numbers beyond the last begin again."""
        return self.load(self.name, index if self.count is None else index % self.count)


@dataclass(frozen=True)
class Method:
    """A learner with its settings.

    Attributes:
        name: As tables show it.
        make: A class with ``fit``, or a function that makes an object of one.
        settings: Arguments of ``make``.
    """

    name: str
    make: Callable[..., Any]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def build(self, **given: Any) -> Any:
        """An unfitted learner, with those of the ``given`` parameters that it has.

        Example:
            >>> from dpdag import CAM
            >>> Method("CAM", CAM, {"penalty": 2.0}).build(random_state=1, device="cpu")
            CAM(penalty=2.0, random_state=1)
        """
        learner = self.make(**self.settings)
        if hasattr(learner, "get_params"):
            own = learner.get_params(deep=False)
            learner.set_params(**{name: value for name, value in given.items() if name in own})
        return learner


@dataclass(frozen=True)
class Experiment:
    """Every method on every data set.

    Attributes:
        name: On the command line.
        summary: What it shows, in a line.
        sources: Of the data sets.
        methods: In the order of the tables.
        measures: What is asked of every fitted learner.
        views: Tables and figures.
        sets: How many data sets of every source.
        held_out: Learn from nine tenths of the rows, with a split of its own for every set; the
            rest is for measures of prediction.
        alone: Fits train by themselves, never as a batch: for times.
        group: "paper" for what the paper shows, "own" for what the documentation claims.
    """

    name: str
    summary: str
    sources: tuple[Source, ...]
    methods: tuple[Method, ...]
    measures: tuple[Measure, ...]
    views: tuple[Table | Figure, ...]
    sets: int = 10
    held_out: bool = False
    alone: bool = False
    group: str = "paper"


EXPERIMENTS = Registry[Experiment]("experiment")


def list_experiment(name: str, summary: str, **facts: Any) -> None:
    """Put an experiment on the list, by its name."""
    EXPERIMENTS.register(name)(Experiment(name, summary, **facts))
