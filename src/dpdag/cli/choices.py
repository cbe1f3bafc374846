"""From words on the command line to experiments, methods and data sets."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from .. import datasets
from ..experiments import EXPERIMENTS, Experiment, Method, Source
from ..experiments.sources import named, own_table
from ..registry import suggest
from .options import learner_class, settings
from .table import FILE_ENDINGS

WORD = re.compile(r"(?P<name>[^\[\]]+)(\[(?P<settings>.*)\])?")


def chosen_experiments(words: Sequence[str]) -> list[Experiment]:
    """Experiments by name; "paper" and "own" stand for all of a kind."""
    found: dict[str, Experiment] = {}
    for word in words:
        group = [name for name in EXPERIMENTS if EXPERIMENTS[name].group == word]
        found |= {name: EXPERIMENTS[name] for name in group or [word]}
    return list(found.values())


def narrowed(
    experiments: Sequence[Experiment],
    *,
    learners: Sequence[str] = (),
    data: Sequence[str] = (),
    truth: Path | None = None,
) -> list[Experiment]:
    """The experiments with only the methods and data sets that are named.

    What none of them has joins them all; one of which nothing is left is left out.
    """
    found = list(experiments)
    if learners:
        all_methods = [one for experiment in found for one in experiment.methods]
        methods = [one for word in learners for one in method(word, all_methods)]
        found = [replace(one, methods=_left(one.methods, methods, all_methods)) for one in found]
    if data:
        all_sources = [one for experiment in found for one in experiment.sources]
        sources = [one for word in data for one in source(word, all_sources, truth)]
        found = [replace(one, sources=_left(one.sources, sources, all_sources)) for one in found]
    return [one for one in found if one.methods and one.sources]


def _left(own: Sequence[Any], wanted: Sequence[Any], known: Sequence[Any]) -> tuple[Any, ...]:
    """Of what is wanted, what an experiment has itself and what none has; by name once."""
    kept = [one for one in wanted if one in own or one not in known]
    return tuple({one.name: one for one in kept}.values())


def method(word: str, known: Sequence[Method] = ()) -> list[Method]:
    """The methods that a word means: of an experiment, any learner, or a class of one's own.

    Example:
        >>> [one.name for one in method("CAM[penalty=2.0]")]
        ['CAM[penalty=2.0]']
    """
    parts = WORD.fullmatch(word)
    if parts is None:
        raise ValueError(f"--learners takes names such as CAM or CAM[penalty=2.0]; got {word!r}.")
    name, more = parts["name"], settings(parts["settings"].split(",") if parts["settings"] else ())
    found = [one for one in known if name.lower() in (one.name.lower(), _class(one).lower())]
    if not found and ":" in name:
        found = [Method(name.partition(":")[2], _own_class(name))]
    elif not found:
        kind = learner_class(name, " (--learners)", ", or package.module:Class")
        found = [Method(kind.__name__, kind)]
    if not more:
        return found
    changed = [
        replace(one, name=f"{one.name}[{parts['settings']}]", settings={**one.settings, **more})
        for one in found
    ]
    try:
        for one in changed:
            one.build()
    except TypeError as error:
        raise ValueError(f"--learners {word}: {error}.") from None
    return changed


def source(word: str, known: Sequence[Source] = (), truth: Path | None = None) -> list[Source]:
    """The data sets that a word means: of experiments, of a name, or a file with its truth."""
    if own := [one for one in known if one.name.lower() == word.lower()]:
        return own
    if word.lower().endswith(FILE_ENDINGS):
        if truth is None:
            raise ValueError(f"{word} needs its true graph: add --truth EDGES.csv.")
        return [own_table(word, truth)]
    names = [*(one.name for one in known), *datasets.available()]
    found = named({name.lower(): name for name in names}.get(word.lower(), word))
    if datasets.is_name(found.name):
        return [found]
    hint = suggest(word, names)
    raise ValueError(f"Unknown data set {word!r} (--datasets).{hint} See 'dpdag list datasets'.")


def _own_class(word: str) -> Any:
    """A class by "package.module:Class", also from the folder one is in."""
    module, _, name = word.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(import_module(module), name)
    except ImportError as error:
        raise ValueError(f"--learners {word}: {error}.") from None
    except AttributeError:
        raise ValueError(f"--learners {word}: {module} has no {name!r}.") from None
    except Exception as error:  # whatever is wrong with code of one's own
        raise ValueError(f"--learners {word}: {type(error).__name__}: {error}.") from None
    if not callable(getattr(found, "fit", None)):
        raise ValueError(f"--learners {word}: {name} must be a class with a method 'fit'.")
    return found


def _class(one: Method) -> str:
    return str(one.make.__qualname__).partition(".")[0]
