"""Experiments made of fakes."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from dpdag.experiments import Experiment, Method, Metric, Source, Table
from dpdag.experiments.measures import structure


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of fakes, under a name that other processes can import."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return import_module("fakes")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where fakes write down every fit."""
    return tmp_path / "fits.log"


@pytest.fixture
def experiment(fakes: ModuleType, log: Path) -> Callable[..., Experiment]:
    """An experiment of two data sets with one method for every way to end that is given."""

    def make(*ends: str, **settings: object) -> Experiment:
        return Experiment(
            name="tiny",
            summary="Guesses",
            sources=(Source("noise", fakes.tiny),),
            methods=tuple(
                Method(end or "guess", fakes.Guess, {"log": str(log), "end": end, **settings})
                for end in ends or [""]
            ),
            measures=(structure,),
            views=(
                Table(
                    (Metric("Dir-AUC-PR", scale=100), Metric("SHD", better="lower")),
                ),
            ),
            sets=2,
        )

    return make
